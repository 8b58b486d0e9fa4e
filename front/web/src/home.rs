//! The front page: which boards there are, and what is hot today.

use axum::extract::State;
use axum::response::Response;
use madang_article::BoardWithCount;
use maud::{Markup, html};

use crate::error::{OrRefuse as _, Refused, WebError};
use crate::hot::{HotDay, ranked};
use crate::layout::{Page, SITE_NAME, whole};
use crate::plain_text::{DESCRIPTION_CHARS_MAX, plain};
use crate::state::{Shared, Web};
use crate::visit::Visit;
use crate::{hot, reply, texts};

/// The front page.
pub(crate) async fn home(State(web): State<Shared>, mut visit: Visit) -> Result<Response, Refused> {
    visit.here = "/".to_owned();
    let miss = match web.pages.find(&visit, web.site.read.generation()) {
        Ok(page) => return Ok(reply::cached(&visit, &page).await),
        Err(miss) => miss,
    };
    let boards = web.site.articles.boards().await.or_refuse(&web, &visit)?;
    let main = content(&web, &visit, &boards).await.or_refuse(&web, &visit)?;
    let titles: Vec<_> = boards.iter().map(|found| found.board.title.as_str()).collect();
    let description = texts::home_description(visit.preferences.lang, SITE_NAME, &titles.join(", "));
    let page = Page {
        title: SITE_NAME,
        main,
        canonical: Some("/".to_owned()),
        description: Some(plain(&description, DESCRIPTION_CHARS_MAX)),
        feed: Some("/hot/feed.atom".to_owned()),
        ..Page::default()
    };
    let html = whole(&web, &visit, &page);
    Ok(reply::shared(&web, &visit, miss, html).await)
}

async fn content(web: &Web, visit: &Visit, boards: &[BoardWithCount]) -> Result<Markup, WebError> {
    let today = hot::today(web).await?;
    Ok(view(visit, boards, today.as_ref()))
}

fn view(visit: &Visit, boards: &[BoardWithCount], today: Option<&HotDay>) -> Markup {
    let t = visit.texts();
    html! {
        h1.vh { (SITE_NAME) }
        div.columns {
            section aria-labelledby="boards" {
                h2 #boards { (t.boards) }
                @if boards.is_empty() { p.empty { (t.no_boards) } }
                ul.boards {
                    @for BoardWithCount { board, article_count, archived, .. } in boards {
                        li {
                            a href={ "/b/" (board.slug) } { bdi { (board.title) } }
                            span.quiet {
                                (texts::articles(visit.preferences.lang, *article_count))
                                @if *archived { " · " (t.archived) }
                            }
                            @if !board.description.is_empty() { p.about { bdi { (board.description) } } }
                        }
                    }
                }
            }
            section aria-labelledby="hot-today" {
                h2 #hot-today { (t.hot_today) }
                @match today {
                    Some(day) if !day.items.is_empty() => (ranked(visit, day)),
                    _ => p.empty { (t.hot_empty_today) },
                }
                p.more { a href="/hot" { (t.hot_all) } }
            }
        }
    }
}
