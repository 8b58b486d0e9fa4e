//! Answers of the owner of articles.

use std::sync::Arc;

use axum::Router;
use madang_article_read::{ArticleOwner, ArticleText, LIST_MAX};
use madang_kernel::{PageNumber, PageSize};

use super::InternalArticles;
use super::reply::{Refusal, at_most, on};
use crate::wire::{
    FactsAnswer, FactsOf, NewestAnswer, NewestOf, PageAnswer, PageOf, ScrollAnswer, ScrollOf, TEXTS_BYTES_MAX,
    TEXTS_MAX, TextsAnswer, TextsOf,
};

pub(super) fn routes(router: Router, articles: InternalArticles) -> Router {
    let InternalArticles { lookup, owner } = articles;
    let router = on(router, move |question: FactsOf| {
        let lookup = Arc::clone(&lookup);
        async move { Ok(FactsAnswer { facts: lookup.facts(question.article_id).await?.map(Into::into) }) }
    });
    let router = with_owner(router, &owner, texts);
    let router = with_owner(router, &owner, newest);
    let router = with_owner(router, &owner, page);
    with_owner(router, &owner, scroll)
}

fn with_owner<Q, A>(
    router: Router,
    owner: &Arc<dyn ArticleOwner>,
    answer: impl Fn(Arc<dyn ArticleOwner>, Q) -> A + Clone + Send + Sync + 'static,
) -> Router
where
    Q: crate::wire::Question,
    A: Future<Output = Result<Q::Answer, Refusal>> + Send + 'static,
{
    let owner = Arc::clone(owner);
    on(router, move |question: Q| answer(Arc::clone(&owner), question))
}

async fn texts(owner: Arc<dyn ArticleOwner>, question: TextsOf) -> Result<TextsAnswer, Refusal> {
    at_most("articles", question.articles.len(), TEXTS_MAX)?;
    let mut found = owner.articles(&question.articles).await?;
    found.truncate(fitting(&found));
    Ok(TextsAnswer { articles: found.into_iter().map(|text| text.map(Into::into)).collect() })
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
    Ok(NewestAnswer { newest: owner.newest(question.board_id, limit).await?.map(Into::into) })
}

async fn page(owner: Arc<dyn ArticleOwner>, question: PageOf) -> Result<PageAnswer, Refusal> {
    let page = PageNumber::new("page", question.page.into())?;
    let size = PageSize::new("page_size", question.page_size.into())?;
    Ok(PageAnswer { page: owner.page(question.board_id, page, size).await?.map(Into::into) })
}

async fn scroll(owner: Arc<dyn ArticleOwner>, question: ScrollOf) -> Result<ScrollAnswer, Refusal> {
    let size = PageSize::new("limit", question.limit.into())?;
    Ok(ScrollAnswer { step: owner.scroll(question.board_id, question.before, size).await?.map(Into::into) })
}
