//! Atom feeds: the newest of a board, and today's hot articles.

use std::collections::HashSet;

use axum::extract::{Path, State};
use axum::response::Response;
use madang_article_read::ReadArticle;
use madang_board::ArticleId;
use madang_kernel::{PageSize, Timestamp};
use maud::{PreEscaped, html};

use crate::error::{OrRefuse as _, Refused, WebError};
use crate::layout::SITE_NAME;
use crate::plain_text::{excerpt, plain};
use crate::state::{Shared, Web};
use crate::visit::Visit;
use crate::{hot, reply};

const ATOM: &str = "application/atom+xml; charset=utf-8";
/// Titles in feeds are not longer.
const TITLE_CHARS_MAX: usize = 120;
/// Whole texts of one feed together; entries past it tell how they begin.
const TEXTS_BYTES_MAX: usize = 256 * 1_024;
/// How much such an entry tells.
const SUMMARY_CHARS_MAX: usize = 500;

/// One article of a feed.
struct Entry {
    id: ArticleId,
    title: String,
    writer: String,
    created_at: Timestamp,
    modified_at: Timestamp,
    /// The text as shown.
    html: String,
}

impl Entry {
    fn of(read: &ReadArticle) -> Self {
        let head = &read.text.head;
        Self {
            id: head.article_id,
            title: head.title.clone(),
            writer: head.writer.name.clone(),
            created_at: head.created_at,
            modified_at: head.modified_at,
            html: read.text.content_html.clone(),
        }
    }
}

/// A feed.
struct Feed {
    title: String,
    /// The page that it follows.
    path: String,
    entries: Vec<Entry>,
}

/// The newest articles of a board.
pub(crate) async fn board(
    State(web): State<Shared>,
    mut visit: Visit,
    Path(slug): Path<String>,
) -> Result<Response, Refused> {
    visit.here = format!("/b/{slug}/feed.atom");
    let miss = match web.pages.find(&visit, web.site.read.generation()) {
        Ok(feed) => return Ok(reply::cached(&visit, &feed)),
        Err(miss) => miss,
    };
    let feed = of_board(&web, &slug).await.or_refuse(&web, &visit)?;
    Ok(reply::shared_document(&web, &visit, miss, ATOM, atom(&web, &visit, &feed)))
}

/// Today's hot articles.
pub(crate) async fn hot(State(web): State<Shared>, mut visit: Visit) -> Result<Response, Refused> {
    visit.here = "/hot/feed.atom".to_owned();
    let miss = match web.pages.find(&visit, web.site.read.generation()) {
        Ok(feed) => return Ok(reply::cached(&visit, &feed)),
        Err(miss) => miss,
    };
    let feed = of_hot(&web, &visit).await.or_refuse(&web, &visit)?;
    Ok(reply::shared_document(&web, &visit, miss, ATOM, atom(&web, &visit, &feed)))
}

async fn of_board(web: &Web, slug: &str) -> Result<Feed, WebError> {
    let board = web.boards.by_slug(slug).await?.ok_or(WebError::NotFound)?.board;
    let step = web.site.read.scroll(board.board_id, None, PageSize::DEFAULT).await?.ok_or(WebError::NotFound)?;
    let ids: Vec<_> = step.items.iter().map(|item| item.head().article_id).collect();
    let read = web.site.read.articles(&ids).await?;
    let entries = read.iter().flatten().map(Entry::of);
    Ok(Feed { title: board.title, path: format!("/b/{slug}"), entries: entries.collect() })
}

async fn of_hot(web: &Web, visit: &Visit) -> Result<Feed, WebError> {
    // A feed names an article once, whatever becomes of the days.
    let mut named = HashSet::new();
    let items = hot::days(web).await?.into_iter().flat_map(|day| day.items);
    let entries = items.filter(|hot| named.insert(hot.item.article_id)).map(|hot| Entry::of(&hot.read));
    Ok(Feed { title: visit.texts().hot_articles.to_owned(), path: "/hot".into(), entries: entries.collect() })
}

fn atom(web: &Web, visit: &Visit, feed: &Feed) -> String {
    let base = &visit.base;
    let mut texts_bytes = 0;
    let mut is_whole = |entry: &Entry| {
        texts_bytes += entry.html.len();
        texts_bytes <= TEXTS_BYTES_MAX
    };
    let updated = feed.entries.iter().map(|entry| entry.modified_at).max().unwrap_or(web.site.clock.now());
    let markup = html! {
        (PreEscaped("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"))
        feed xmlns="http://www.w3.org/2005/Atom" xml:lang=(visit.preferences.lang.code()) {
            title { (xml(&feed.title)) " · " (SITE_NAME) }
            id { (base) (feed.path) }
            (link("self", &format!("{base}{}/feed.atom", feed.path)))
            (link("alternate", &format!("{base}{}", feed.path)))
            updated { (updated) }
            @for entry in &feed.entries {
                entry {
                    title { (xml(&entry.title)) }
                    id { (base) "/articles/" (entry.id) }
                    (link("alternate", &format!("{base}/articles/{}", entry.id)))
                    published { (entry.created_at) }
                    updated { (entry.modified_at) }
                    author { name { (xml(&entry.writer)) } }
                    @if is_whole(entry) { content type="html" { (entry.html) } }
                    @else { summary { (excerpt(&entry.html, SUMMARY_CHARS_MAX)) } }
                }
            }
        }
    };
    markup.into_string()
}

/// In HTML a link has no end, in XML it must: hence by hand, around text that is escaped for both.
fn link(relation: &str, address: &str) -> PreEscaped<String> {
    let address = html! { (address) }.into_string();
    PreEscaped(format!("<link rel=\"{relation}\" href=\"{address}\"/>"))
}

fn xml(text: &str) -> String {
    plain(text, TITLE_CHARS_MAX)
}
