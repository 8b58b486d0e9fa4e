//! Answers of the owner of articles.

use std::sync::Arc;

use axum::Router;
use madang_article_read::{ArticleOwner, ArticleText, LIST_MAX, RANKING_MAX};
use madang_kernel::{PageNumber, PageSize};

use super::InternalArticles;
use super::reply::{Refusal, at_most, with};
use crate::wire::{
    COUNTS_MAX, FactsAnswer, FactsOf, NewestAnswer, NewestOf, PageAnswer, PageOf, PinsAnswer, PinsOf, PlacesAnswer,
    PlacesOf, ScrollAnswer, ScrollOf, SiteNewestAnswer, SiteNewestOf, TEXTS_BYTES_MAX, TEXTS_MAX, TextsAnswer, TextsOf,
};

pub(super) fn routes(router: Router, InternalArticles { lookup, owner }: &InternalArticles) -> Router {
    let router = with(router, lookup, |lookup, question: FactsOf| async move {
        Ok(FactsAnswer { facts: lookup.facts(question.article_id).await? })
    });
    let router = with(router, owner, texts);
    let router = with(router, owner, newest);
    let router = with(router, owner, site_newest);
    let router = with(router, owner, places);
    let router = with(router, owner, page);
    let router = with(router, owner, pins);
    with(router, owner, scroll)
}

async fn texts(owner: Arc<dyn ArticleOwner>, question: TextsOf) -> Result<TextsAnswer, Refusal> {
    at_most("articles", question.articles.len(), TEXTS_MAX)?;
    let mut found = owner.articles(&question.articles).await?;
    found.truncate(fitting(&found));
    Ok(TextsAnswer { articles: found })
}

/// How many of the texts one answer carries: all up to the one that fills it.
fn fitting(found: &[Option<ArticleText>]) -> usize {
    let mut bytes = 0;
    let full = found.iter().position(|text| {
        bytes += text.as_ref().map_or(0, ArticleText::weight_bytes);
        bytes >= TEXTS_BYTES_MAX
    });
    full.map_or(found.len(), |last| last + 1)
}

async fn newest(owner: Arc<dyn ArticleOwner>, question: NewestOf) -> Result<NewestAnswer, Refusal> {
    let limit = usize::try_from(question.limit).unwrap_or(usize::MAX);
    at_most("limit", limit, LIST_MAX)?;
    Ok(NewestAnswer { newest: owner.newest(question.board_id, limit).await? })
}

async fn site_newest(owner: Arc<dyn ArticleOwner>, question: SiteNewestOf) -> Result<SiteNewestAnswer, Refusal> {
    let limit = usize::try_from(question.limit).unwrap_or(usize::MAX);
    at_most("limit", limit, RANKING_MAX)?;
    Ok(SiteNewestAnswer { places: owner.site_newest(question.before, limit).await? })
}

async fn places(owner: Arc<dyn ArticleOwner>, question: PlacesOf) -> Result<PlacesAnswer, Refusal> {
    at_most("articles", question.articles.len(), COUNTS_MAX)?;
    Ok(PlacesAnswer { places: owner.places(&question.articles).await? })
}

async fn page(owner: Arc<dyn ArticleOwner>, question: PageOf) -> Result<PageAnswer, Refusal> {
    let page = PageNumber::new("page", question.page.into())?;
    let size = PageSize::new("page_size", question.page_size.into())?;
    Ok(PageAnswer { page: owner.page(question.board_id, page, size).await? })
}

async fn pins(owner: Arc<dyn ArticleOwner>, question: PinsOf) -> Result<PinsAnswer, Refusal> {
    Ok(PinsAnswer { pins: owner.pins(question.board_id).await?.to_vec() })
}

async fn scroll(owner: Arc<dyn ArticleOwner>, question: ScrollOf) -> Result<ScrollAnswer, Refusal> {
    let size = PageSize::new("limit", question.limit.into())?;
    Ok(ScrollAnswer { step: owner.scroll(question.board_id, question.before, size).await? })
}
