//! What moderators of a board do about an article as a whole: pin it on top of the board, lock it against new comments.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use madang_article::{Article, ArticleError};
use madang_article_read::ReadArticle;
use madang_board::ArticleId;
use madang_board::rules::{About, Action};
use madang_kernel::Timestamp;
use maud::{Markup, html};

use crate::error::{OrRefuse as _, Refused, WebError};
use crate::flash::Flash;
use crate::form::Problems;
use crate::layout::{token_field, unlisted};
use crate::posted::Posted;
use crate::reply;
use crate::state::{Shared, Web};
use crate::visit::Visit;

/// For how many days an article may be pinned; without a number until somebody takes the pin away.
const DAYS: [i64; 3] = [1, 7, 30];
const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// The buttons among the actions of an article.
pub(super) fn actions(visit: &Visit, read: &ReadArticle) -> Markup {
    let (t, head) = (visit.texts(), &read.text.head);
    let (id, about) = (head.article_id, About::on(head.board_id, false));
    html! {
        @if visit.may(Action::PinArticle, about) {
            @if read.pinned {
                form.inline method="post" action={ "/articles/" (id) "/pin" } {
                    (token_field(visit))
                    input type="hidden" name="pin" value="no";
                    button.link { (t.unpin) }
                }
            } @else {
                a href={ "/articles/" (id) "/pin" } rel="nofollow" { (t.pin) }
            }
        }
        @if visit.may(Action::LockArticle, about) {
            form.inline method="post" action={ "/articles/" (id) "/lock" } {
                (token_field(visit))
                input type="hidden" name="lock" value=(if read.locked { "no" } else { "yes" });
                button.link { (if read.locked { t.unlock } else { t.lock }) }
            }
        }
    }
}

/// Asks for how long to pin an article.
pub(crate) async fn pin_form(
    State(web): State<Shared>,
    visit: Visit,
    Path(id): Path<String>,
) -> Result<Response, Refused> {
    let found = pinnable(&web, &visit, &id).await.or_refuse(&web, &visit)?;
    Ok(ask(&web, &visit, &found, StatusCode::OK, &Problems::default()))
}

/// Pins an article, or takes the pin away.
pub(crate) async fn pin(
    State(web): State<Shared>,
    Path(id): Path<String>,
    posted: Posted,
) -> Result<Response, Refused> {
    let visit = &posted.visit;
    let actor = &posted.session().or_refuse(&web, visit)?.actor;
    let found = pinnable(&web, visit, &id).await.or_refuse(&web, visit)?;
    let there = reply::see_other(&format!("/articles/{}", found.article_id));
    if posted.fields.text("pin") == "no" {
        web.site.articles.unpin(actor, found.article_id).await.or_refuse(&web, visit)?;
        return Ok(Flash::ArticleUnpinned.leave(there, visit.cookies_secure));
    }
    let until = until(&web, posted.fields.text("days")).or_refuse(&web, visit)?;
    match web.site.articles.pin(actor, found.article_id, until).await {
        Ok(_) => Ok(Flash::ArticlePinned.leave(there, visit.cookies_secure)),
        Err(ArticleError::TooManyPins) => {
            Ok(ask(&web, visit, &found, StatusCode::CONFLICT, &Problems::of(visit.texts().pins_full)))
        }
        Err(error) => Err(error).or_refuse(&web, visit),
    }
}

/// Locks an article, or unlocks it.
pub(crate) async fn lock(
    State(web): State<Shared>,
    Path(id): Path<String>,
    posted: Posted,
) -> Result<Response, Refused> {
    let visit = &posted.visit;
    let (id, locked) = set_lock(&web, &posted, &id).await.or_refuse(&web, visit)?;
    let there = reply::see_other(&format!("/articles/{id}"));
    let done = if locked { Flash::ArticleLocked } else { Flash::ArticleUnlocked };
    Ok(done.leave(there, visit.cookies_secure))
}

async fn set_lock(web: &Web, posted: &Posted, id: &str) -> Result<(ArticleId, bool), WebError> {
    let id: ArticleId = id.parse().map_err(|_| WebError::NotFound)?;
    let locked = posted.fields.text("lock") != "no";
    web.site.comments.set_lock(&posted.session()?.actor, id, locked).await?;
    Ok((id, locked))
}

/// The article as its owner has it, if the reader may pin it.
async fn pinnable(web: &Web, visit: &Visit, id: &str) -> Result<Article, WebError> {
    let id: ArticleId = id.parse().map_err(|_| WebError::NotFound)?;
    let found = web.site.articles.get(id).await?;
    if visit.session.is_none() {
        return Err(WebError::NotSignedIn);
    }
    let may = visit.may(Action::PinArticle, About::on(found.board_id, false));
    if may { Ok(found) } else { Err(WebError::forbidden(visit)) }
}

fn until(web: &Web, days: &str) -> Result<Option<Timestamp>, WebError> {
    if days.is_empty() {
        return Ok(None);
    }
    let days = DAYS.into_iter().find(|found| found.to_string() == days).ok_or(WebError::NotUnderstood)?;
    Ok(Some(Timestamp::from_millis(web.site.clock.now().as_millis() + days * DAY_MS)))
}

fn ask(web: &Web, visit: &Visit, found: &Article, status: StatusCode, problems: &Problems) -> Response {
    let (t, path) = (visit.texts(), format!("/articles/{}", found.article_id));
    let main = html! {
        h1 { (t.pin_article) }
        blockquote { bdi { (found.title) } }
        p.quiet { (t.pin_text) }
        form.write.narrow method="post" action={ (path) "/pin" } {
            (problems.summary(visit))
            (token_field(visit))
            div.field {
                label for="f-days" { (t.pin_for) }
                select #f-days name="days" {
                    option value="" { (t.pin_forever) }
                    @for (days, name) in DAYS.into_iter().zip([t.day_1, t.day_7, t.day_30]) {
                        option value=(days) { (name) }
                    }
                }
            }
            p.buttons {
                button.button.strong { (t.pin) }
                a href=(path) { (t.cancel) }
            }
        }
    };
    unlisted(web, visit, status, t.pin_article, main)
}
