//! A board: its articles as numbered pages, or as one list that goes on, as the reader chose.

mod manage;
mod pager;
mod view;

use axum::extract::{Path, State};
use axum::response::Response;
use madang_article::BoardWithCount;
use madang_article_read::{Rank, ReadSummary};
use madang_board::ArticleId;
use madang_kernel::{PageNumber, PageSize};
use maud::Markup;
use serde::Deserialize;

use crate::error::{OrRefuse as _, Refused, WebError};
use crate::layout::{NavEntry, Page, SITE_NAME, whole};
use crate::plain_text::{DESCRIPTION_CHARS_MAX, plain};
use crate::preferences::{ListStyle, Order, Preferences};
use crate::query::LenientQuery;
use crate::ranks::{parse_rank, rank_cursor};
use crate::state::{Shared, Web};
use crate::visit::Visit;
use crate::{reply, texts};

pub(crate) use manage::{delete, edit, manage, moderators};
pub(crate) use pager::Pager;

/// Titles that a description names.
const DESCRIBED: usize = 3;

/// Where in the board.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct BoardQuery {
    sort: Option<String>,
    page: Option<String>,
    before: Option<String>,
}

/// The part of the board that is shown.
enum Part {
    Page(PageNumber),
    Before(Option<ArticleId>),
    /// By activity.
    Active(Option<Rank>),
}

/// One board.
pub(crate) async fn board(
    State(web): State<Shared>,
    mut visit: Visit,
    Path(slug): Path<String>,
    LenientQuery(query): LenientQuery<BoardQuery>,
) -> Result<Response, Refused> {
    let part = part(&query, &visit.preferences).or_refuse(&web, &visit)?;
    visit.here = part.address(&slug, visit.preferences.order);
    let miss = match web.pages.find(&visit, web.site.read.generation()) {
        Ok(page) => return Ok(reply::cached(&visit, &page).await),
        Err(miss) => miss,
    };
    let (board, newest, main) = content(&web, &visit, &slug, &part).await.or_refuse(&web, &visit)?;
    let description = texts::board_description(visit.preferences.lang, SITE_NAME, &board.board.title, &newest);
    let page = Page {
        title: &board.board.title,
        main,
        canonical: Some(part.canonical(&slug)),
        description: Some(plain(&description, DESCRIPTION_CHARS_MAX)),
        feed: Some(format!("/b/{slug}/feed.atom")),
        is_listed: !newest.is_empty() || board.article_count == 0,
        nav: NavEntry::Board(&slug),
        ..Page::default()
    };
    let html = whole(&web, &visit, &page);
    Ok(reply::shared(&web, &visit, miss, html).await)
}

async fn content(
    web: &Web,
    visit: &Visit,
    slug: &str,
    part: &Part,
) -> Result<(BoardWithCount, String, Markup), WebError> {
    let found = web.boards.by_slug(slug).await?.ok_or(WebError::NotFound)?;
    // Asked for again, because its count is of this moment: whoever wrote an article finds it counted.
    let board = web.site.articles.board(found.board.board_id).await?;
    let (id, size) = (board.board.board_id, PageSize::DEFAULT);
    let is_top = matches!(part, Part::Page(PageNumber::FIRST) | Part::Before(None) | Part::Active(None));
    let pinned = if is_top { web.site.read.pinned(id).await? } else { Vec::new() };
    let (newest, main) = match part {
        Part::Page(page) => {
            let found = web.site.read.page(id, *page, size).await?.ok_or(WebError::NotFound)?;
            let pager = Pager::new(*page, size, found.known_count);
            (titles(&found.items), view::paged(web, visit, &board, &pinned, &found.items, &pager))
        }
        Part::Before(before) => {
            let found = web.site.read.scroll(id, *before, size).await?.ok_or(WebError::NotFound)?;
            let (items, next) = (&found.items, found.next.map(|next| next.to_string()));
            let step = view::Step { items, next, is_top: before.is_none(), order: Order::Newest };
            (titles(items), view::scrolled(web, visit, &board, &pinned, &step))
        }
        Part::Active(before) => {
            let found = web.site.read.active(id, *before, size).await?.ok_or(WebError::NotFound)?;
            let (items, next) = (&found.items, found.next.map(rank_cursor));
            let step = view::Step { items, next, is_top: before.is_none(), order: Order::Active };
            (titles(items), view::scrolled(web, visit, &board, &pinned, &step))
        }
    };
    Ok((board, newest, main))
}

/// What the board is about, by what is written there.
fn titles(items: &[ReadSummary]) -> String {
    let titles: Vec<_> = items.iter().take(DESCRIBED).map(|item| item.head().title.as_str()).collect();
    titles.join(" · ")
}

fn part(query: &BoardQuery, preferences: &Preferences) -> Result<Part, WebError> {
    if let Some(before) = &query.before {
        if let Some(rank) = parse_rank(before) {
            return Ok(Part::Active(Some(rank)));
        }
        return before.parse().map(|before| Part::Before(Some(before))).map_err(|_| WebError::NotFound);
    }
    // A number names a page of the newest, whatever the reader prefers.
    let order = query.sort.as_deref().and_then(Order::named).unwrap_or(preferences.order);
    if query.page.is_none() && order == Order::Active {
        return Ok(Part::Active(None));
    }
    match (&query.page, preferences.list) {
        (None, ListStyle::Scroll) => Ok(Part::Before(None)),
        (None, ListStyle::Pages) => Ok(Part::Page(PageNumber::FIRST)),
        (Some(page), _) => {
            let page = page.parse().ok().and_then(|page| PageNumber::new("page", page).ok());
            page.map(Part::Page).ok_or(WebError::NotFound)
        }
    }
}

impl Part {
    /// The address of what is shown to this reader.
    fn address(&self, slug: &str, preferred: Order) -> String {
        match self {
            Self::Page(PageNumber::FIRST) | Self::Before(None) if preferred == Order::Newest => format!("/b/{slug}"),
            Self::Page(PageNumber::FIRST) | Self::Before(None) => format!("/b/{slug}?sort=newest"),
            Self::Active(None) if preferred == Order::Active => format!("/b/{slug}"),
            Self::Active(None) => format!("/b/{slug}?sort=active"),
            Self::Active(Some(before)) => format!("/b/{slug}?before={}", rank_cursor(*before)),
            Self::Page(_) | Self::Before(Some(_)) => self.canonical(slug),
        }
    }

    /// The one address for search engines: orders of the same articles are one list.
    fn canonical(&self, slug: &str) -> String {
        match self {
            Self::Page(PageNumber::FIRST) | Self::Before(None) | Self::Active(_) => format!("/b/{slug}"),
            Self::Page(page) => format!("/b/{slug}?page={}", page.get()),
            Self::Before(Some(before)) => format!("/b/{slug}?before={before}"),
        }
    }
}
