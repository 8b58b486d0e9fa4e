//! Atom feeds: the newest of a board, and today's hot articles. Readers of feeds come every few minutes and take the whole
//! of it, so a feed has a budget: what does not fit is told by its first words.

use std::collections::HashSet;

use axum::extract::{Path, State};
use axum::response::Response;
use madang_article_read::ReadArticle;
use madang_board::ArticleId;
use madang_kernel::{PageSize, Timestamp};
use madang_server::{LARGE_BYTES, run_large};
use maud::{PreEscaped, html};

use crate::error::{OrRefuse as _, Refused, WebError};
use crate::layout::SITE_NAME;
use crate::plain_text::{excerpt, title};
use crate::state::{Shared, Web};
use crate::visit::Visit;
use crate::{hot, reply};

const ATOM: &str = "application/atom+xml; charset=utf-8";
/// Whole texts of one feed together, as they stand in it; entries past it tell how they begin.
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
    text: Text,
}

/// What a feed tells of an article's text.
#[derive(Debug, PartialEq, Eq)]
enum Text {
    /// The HTML.
    Whole(String),
    /// The first words, because the whole does not fit.
    Summary(String),
}

impl Entry {
    /// An article, with its whole text where that fits what is left of the feed's budget.
    fn of(read: &ReadArticle, left_bytes: &mut usize) -> Self {
        let head = &read.text.head;
        Self {
            id: head.article_id,
            title: head.title.clone(),
            writer: head.writer.name.clone(),
            created_at: head.created_at,
            modified_at: head.modified_at,
            text: fitting(read, left_bytes),
        }
    }
}

/// A feed.
struct Feed {
    title: String,
    /// The page that it follows.
    path: String,
    /// Scheme and host of the site.
    base: String,
    language: &'static str,
    updated: Timestamp,
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
        Ok(feed) => return Ok(reply::cached(&visit, &feed).await),
        Err(miss) => miss,
    };
    let feed = of_board(&web, &visit, &slug).await.or_refuse(&web, &visit)?;
    let text = written(feed).await.or_refuse(&web, &visit)?;
    Ok(reply::shared_document(&web, &visit, miss, ATOM, text).await)
}

/// Today's hot articles.
pub(crate) async fn hot(State(web): State<Shared>, mut visit: Visit) -> Result<Response, Refused> {
    visit.here = "/hot/feed.atom".to_owned();
    let miss = match web.pages.find(&visit, web.site.read.generation()) {
        Ok(feed) => return Ok(reply::cached(&visit, &feed).await),
        Err(miss) => miss,
    };
    let feed = of_hot(&web, &visit).await.or_refuse(&web, &visit)?;
    let text = written(feed).await.or_refuse(&web, &visit)?;
    Ok(reply::shared_document(&web, &visit, miss, ATOM, text).await)
}

async fn of_board(web: &Web, visit: &Visit, slug: &str) -> Result<Feed, WebError> {
    let board = web.boards.by_slug(slug).await?.ok_or(WebError::NotFound)?.board;
    let step = web.site.read.scroll(board.board_id, None, PageSize::DEFAULT).await?.ok_or(WebError::NotFound)?;
    let ids: Vec<_> = step.items.iter().map(|item| item.head().article_id).collect();
    let read = web.site.read.articles(&ids).await?;
    let mut left_bytes = TEXTS_BYTES_MAX;
    let entries = read.iter().flatten().map(|read| Entry::of(read, &mut left_bytes));
    Ok(Feed::new(web, visit, board.title, format!("/b/{slug}"), entries.collect()))
}

/// The whole text where it fits what is left of the budget, otherwise its first words.
fn fitting(read: &ReadArticle, left_bytes: &mut usize) -> Text {
    match left_bytes.checked_sub(escaped_bytes(&read.text.content_html)) {
        Some(left) => {
            *left_bytes = left;
            Text::Whole(read.text.content_html.clone())
        }
        None => Text::Summary(excerpt(&read.text.content_html, SUMMARY_CHARS_MAX)),
    }
}

/// How long a text is once it stands in XML.
fn escaped_bytes(text: &str) -> usize {
    let escaped = |byte| match byte {
        b'"' => "&quot;".len(),
        b'&' => "&amp;".len(),
        b'<' | b'>' => "&lt;".len(),
        _ => 1,
    };
    text.bytes().map(escaped).sum()
}

async fn of_hot(web: &Web, visit: &Visit) -> Result<Feed, WebError> {
    // A feed names an article once, whatever becomes of the days.
    let mut named = HashSet::new();
    let items = hot::days(web).await?.into_iter().flat_map(|day| day.items);
    let mut left_bytes = TEXTS_BYTES_MAX;
    let items = items.filter(|hot| named.insert(hot.item.article_id));
    let entries = items.map(|hot| Entry::of(&hot.read, &mut left_bytes));
    Ok(Feed::new(web, visit, visit.texts().hot_articles.to_owned(), "/hot".into(), entries.collect()))
}

impl Feed {
    fn new(web: &Web, visit: &Visit, title: String, path: String, entries: Vec<Entry>) -> Self {
        let updated = entries.iter().map(|entry| entry.modified_at).max().unwrap_or(web.site.clock.now());
        let (base, language) = (visit.base.clone(), visit.preferences.lang.code());
        Self { title, path, base, language, updated, entries }
    }

    fn bytes(&self) -> usize {
        let text = |entry: &Entry| match &entry.text {
            Text::Whole(text) | Text::Summary(text) => text.len(),
        };
        self.entries.iter().map(text).sum()
    }
}

/// The feed as XML; a large one is written elsewhere.
async fn written(feed: Feed) -> Result<String, WebError> {
    if feed.bytes() < LARGE_BYTES {
        return Ok(atom(&feed));
    }
    run_large(move || atom(&feed)).await.ok_or(WebError::Internal)
}

fn atom(feed: &Feed) -> String {
    let base = &feed.base;
    let markup = html! {
        (PreEscaped("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"))
        feed xmlns="http://www.w3.org/2005/Atom" xml:lang=(feed.language) {
            title { (title(&feed.title)) " · " (SITE_NAME) }
            id { (base) (feed.path) }
            (link("self", &format!("{base}{}/feed.atom", feed.path)))
            (link("alternate", &format!("{base}{}", feed.path)))
            updated { (feed.updated) }
            @for entry in &feed.entries {
                entry {
                    title { (title(&entry.title)) }
                    id { (base) "/articles/" (entry.id) }
                    (link("alternate", &format!("{base}/articles/{}", entry.id)))
                    published { (entry.created_at) }
                    updated { (entry.modified_at) }
                    author { name { (title(&entry.writer)) } }
                    @match &entry.text {
                        Text::Whole(html) => content type="html" { (html) },
                        Text::Summary(text) => summary { (text) },
                    }
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
