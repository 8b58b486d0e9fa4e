//! The front page: what is new or active on the whole site, which boards there are, and what is hot.

use axum::extract::State;
use axum::response::Response;
use madang_article::BoardWithCount;
use madang_article_read::{Rank, ReadSummary, Sort};
use madang_board::ArticleId;
use madang_kernel::{PageSize, Timestamp};
use maud::{Markup, html};
use serde::Deserialize;

use crate::error::{OrRefuse as _, Refused, WebError};
use crate::hot::{HotDay, ranked};
use crate::layout::{Page, SITE_NAME, whole};
use crate::plain_text::{DESCRIPTION_CHARS_MAX, plain};
use crate::preferences::Order;
use crate::query::LenientQuery;
use crate::ranks::{order_tabs, parse_rank, rank_cursor};
use crate::state::{Shared, Web};
use crate::visit::Visit;
use crate::{hot, reply, texts};

/// What of the site.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct HomeQuery {
    sort: Option<String>,
    before: Option<String>,
}

/// The part of the list that is shown.
struct Part {
    order: Order,
    before: Option<Rank>,
}

/// What the page shows.
struct Content {
    boards: Vec<BoardWithCount>,
    items: Vec<ReadSummary>,
    next: Option<String>,
    hot: Option<HotDay>,
}

/// The front page.
pub(crate) async fn home(
    State(web): State<Shared>,
    mut visit: Visit,
    LenientQuery(query): LenientQuery<HomeQuery>,
) -> Result<Response, Refused> {
    let part = part(&query, visit.preferences.order).or_refuse(&web, &visit)?;
    visit.here = part.address(visit.preferences.order);
    let miss = match web.pages.find(&visit, web.site.read.generation()) {
        Ok(page) => return Ok(reply::cached(&visit, &page).await),
        Err(miss) => miss,
    };
    let content = content(&web, &part).await.or_refuse(&web, &visit)?;
    let titles: Vec<_> = content.boards.iter().map(|found| found.board.title.as_str()).collect();
    let description = texts::home_description(visit.preferences.lang, SITE_NAME, &titles.join(", "));
    let page = Page {
        title: SITE_NAME,
        main: view(&web, &visit, &part, &content),
        canonical: Some("/".to_owned()),
        description: Some(plain(&description, DESCRIPTION_CHARS_MAX)),
        feed: Some("/hot/feed.atom".to_owned()),
        ..Page::default()
    };
    let html = whole(&web, &visit, &page);
    Ok(reply::shared(&web, &visit, miss, html).await)
}

fn part(query: &HomeQuery, preferred: Order) -> Result<Part, WebError> {
    if let Some(before) = &query.before {
        if let Some(rank) = parse_rank(before) {
            return Ok(Part { order: Order::Active, before: Some(rank) });
        }
        // By creation only the article counts.
        let article_id: ArticleId = before.parse().map_err(|_| WebError::NotFound)?;
        return Ok(Part { order: Order::Newest, before: Some(Rank { at: Timestamp::from_millis(0), article_id }) });
    }
    let order = query.sort.as_deref().and_then(Order::named).unwrap_or(preferred);
    Ok(Part { order, before: None })
}

impl Part {
    fn address(&self, preferred: Order) -> String {
        match self.before {
            Some(before) => format!("/?before={}", self.cursor(before)),
            None if self.order == preferred => "/".to_owned(),
            None => format!("/?sort={}", self.order.code()),
        }
    }

    fn cursor(&self, rank: Rank) -> String {
        match self.order {
            Order::Newest => rank.article_id.to_string(),
            Order::Active => rank_cursor(rank),
        }
    }
}

async fn content(web: &Web, part: &Part) -> Result<Content, WebError> {
    let boards = web.site.articles.boards().await?;
    let sort = match part.order {
        Order::Newest => Sort::Newest,
        Order::Active => Sort::Active,
    };
    let found = web.site.read.site(sort, part.before, PageSize::DEFAULT).await?;
    let next = found.next.map(|next| part.cursor(next));
    Ok(Content { boards, items: found.items, next, hot: hot::lately(web).await? })
}

fn view(web: &Web, visit: &Visit, part: &Part, content: &Content) -> Markup {
    let t = visit.texts();
    html! {
        h1.vh { (SITE_NAME) }
        div.front {
            section.articles aria-labelledby="articles-title" {
                div.heading {
                    h2.vh #articles-title { (t.articles) }
                    (order_tabs(visit, part.order, "/"))
                }
                @if part.before.is_some() { p.more { a href="/" { "« " (t.first_page) } } }
                @if content.items.is_empty() {
                    p.empty { (if part.before.is_some() { t.nothing_older } else if content.boards.is_empty() { t.no_boards } else { t.no_articles_yet }) }
                }
                ul.stream { @for item in &content.items { (row(web, visit, &content.boards, item)) } }
                @if let Some(next) = &content.next {
                    p.more { a.button rel="next" href={ "/?before=" (next) } { (t.older_articles) } }
                }
            }
            section.boards-column aria-labelledby="boards" {
                h2 #boards { (t.boards) }
                @if content.boards.is_empty() { p.empty { (t.no_boards) } }
                ul.boards { @for found in &content.boards { (board(web, visit, found)) } }
            }
            section.hot-column aria-labelledby="hot-today" {
                @match &content.hot {
                    Some(day) => {
                        h2 #hot-today { (t.hot_articles) " " span.quiet { time datetime=(day.date) { (day.date) } } }
                        (ranked(visit, day))
                    }
                    None => {
                        h2 #hot-today { (t.hot_today) }
                        p.empty { (t.hot_empty_today) }
                    }
                }
                p.more { a href="/hot" { (t.hot_all) } }
            }
        }
    }
}

fn board(web: &Web, visit: &Visit, found: &BoardWithCount) -> Markup {
    let (t, lang) = (visit.texts(), visit.preferences.lang);
    let BoardWithCount { board, article_count, archived, last_activity_at } = found;
    html! {
        li {
            a href={ "/b/" (board.slug) } { bdi { (board.title) } }
            span.quiet {
                (texts::articles(lang, *article_count))
                @if let Some(last) = last_activity_at { " · " (web.time.ago(lang, *last)) }
                @if *archived { " · " (t.archived) }
            }
            @if !board.description.is_empty() { p.about { bdi { (board.description) } } }
        }
    }
}

/// An article of the site: its title, then a quiet line of facts.
fn row(web: &Web, visit: &Visit, boards: &[BoardWithCount], item: &ReadSummary) -> Markup {
    let (t, lang, head) = (visit.texts(), visit.preferences.lang, item.head());
    let board = boards.iter().find(|found| found.board.board_id == head.board_id);
    html! {
        li {
            span.name {
                a href={ "/articles/" (head.article_id) } {
                    bdi { (head.title) }
                    @if item.comment_count > 0 {
                        " " span.count {
                            span aria-hidden="true" { "[" (item.comment_count) "]" }
                            span.vh { (texts::comments(lang, item.comment_count)) }
                        }
                    }
                }
                @if item.locked { " " span.flag.quiet { (t.locked) } }
                @if web.time.is_new(head.created_at) { " " span.new { (t.new_mark) } }
            }
            span.facts {
                @if let Some(found) = board { a href={ "/b/" (found.board.slug) } { bdi { (found.board.title) } } }
                a href={ "/members/" (head.writer.member_id) } { bdi { (head.writer.name) } }
                (web.time.ago(lang, head.created_at))
                @for (words, count) in [(texts::LIKES, item.like_count), (texts::VIEWS, item.view_count)] {
                    @if count > 0 { span { (words.say(lang, count)) } }
                }
                @if let Some(last) = &item.last {
                    a.last href={ "/comments/" (last.comment_id) } rel="nofollow" {
                        (t.last_reply) ": " bdi { (last.writer.name) } ", " (web.time.ago(lang, last.created_at))
                    }
                }
            }
        }
    }
}
