//! Dead letters: messages between the parts that were given up, for an administrator to look at and send again.

use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use madang_messaging::{DeadLetter, DeadLetterId, Moment, Outage, header};
use maud::{Markup, html};

use crate::admin::require_admin;
use crate::error::{OrRefuse as _, Refused, WebError};
use crate::layout::{NavEntry, Page, token_field, whole};
use crate::posted::Posted;
use crate::state::{Shared, Web};
use crate::visit::Visit;
use crate::{reply, texts};

/// Letters on the page; the command line has the rest.
const SHOWN_MAX: usize = 50;
/// A broker that is away must not keep an administrator waiting for the page that says so.
const LIST_TIMEOUT: Duration = Duration::from_secs(4);
/// Reasons are cut here.
const REASON_CHARS_MAX: usize = 300;
/// The field with the id of a letter; absent for all that are shown.
const LETTER: &str = "letter";

/// What is shown.
struct LetterList {
    letters: Vec<DeadLetter>,
    count: u64,
}

/// The page.
pub(crate) async fn list(State(web): State<Shared>, visit: Visit) -> Result<Response, Refused> {
    require_admin(&visit).or_refuse(&web, &visit)?;
    Ok(show(&web, &visit, None).await)
}

/// Sends one letter again, or every one that is shown.
pub(crate) async fn replay(State(web): State<Shared>, posted: Posted) -> Result<Response, Refused> {
    let visit = &posted.visit;
    posted.session().or_refuse(&web, visit)?;
    require_admin(visit).or_refuse(&web, visit)?;
    let ids: Vec<DeadLetterId> = match posted.fields.text(LETTER) {
        "" => match shown(&web).await {
            Ok(shown) => shown.letters.into_iter().map(|letter| letter.id).collect(),
            Err(_) => return Err(WebError::Unavailable.refuse(&web, visit)),
        },
        id => vec![DeadLetterId(id.to_owned())],
    };
    let (mut done, mut failed) = (0, 0);
    for id in &ids {
        // Only the time of day is asked for.
        let now = Moment::new(0, web.site.clock.now());
        let (letters, log) = (web.site.dead_letters.as_ref(), web.site.log.as_ref());
        match madang_messaging::replay(letters, log, &web.site.ladders, id, false, now).await {
            Ok(_) => done += 1,
            Err(error) => {
                failed += 1;
                tracing::warn!(letter = %id, "dead letter {id} could not be sent again: {error}");
            }
        }
    }
    Ok(show(&web, visit, Some(texts::replayed(visit.preferences.lang, done, failed))).await)
}

async fn shown(web: &Web) -> Result<LetterList, Outage> {
    let load = async {
        let letters = web.site.dead_letters.list(None, SHOWN_MAX).await?;
        Ok(LetterList { letters, count: web.site.dead_letters.count().await? })
    };
    tokio::time::timeout(LIST_TIMEOUT, load).await.unwrap_or_else(|_| Err(Outage::new("dead letters", "no answer")))
}

async fn show(web: &Web, visit: &Visit, done: Option<String>) -> Response {
    let t = visit.texts();
    let found = shown(web).await;
    let main = html! {
        p.crumb { a href="/admin" { (t.administration) } }
        h1 { (t.dead_letters) }
        p.lead.narrow { (t.dead_letters_text) }
        @if let Some(done) = done { p.notice role="status" { (done) } }
        @match &found {
            Err(_) => p.problem role="alert" { (t.letters_away) },
            Ok(LetterList { letters, .. }) if letters.is_empty() => p.empty { (t.no_dead_letters) },
            Ok(shown) => (table(web, visit, shown)),
        }
    };
    let page = Page { title: t.dead_letters, main, is_listed: false, nav: NavEntry::Admin, ..Page::default() };
    let status = if found.is_ok() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    reply::page(visit, status, whole(web, visit, &page))
}

fn table(web: &Web, visit: &Visit, LetterList { letters, count }: &LetterList) -> Markup {
    let t = visit.texts();
    html! {
        div.heading {
            p.quiet { (texts::letters_shown(visit.preferences.lang, letters.len(), *count)) }
            form method="post" action="/admin/dead-letters" {
                (token_field(visit))
                button.button { (t.replay_all) }
            }
        }
        div.wide {
            table.plain {
                thead {
                    tr {
                        th scope="col" { (t.message) }
                        th scope="col" { (t.time) }
                        th scope="col" { (t.reason) }
                        th scope="col" { span.vh { (t.replay) } }
                    }
                }
                tbody { @for letter in letters { (row(web, visit, letter)) } }
            }
        }
    }
}

fn row(web: &Web, visit: &Visit, DeadLetter { id, message, died_at }: &DeadLetter) -> Markup {
    let t = visit.texts();
    let reason: String = message.header(header::REASON).unwrap_or("–").chars().take(REASON_CHARS_MAX).collect();
    html! {
        tr {
            th scope="row" {
                bdi { (message.topic) }
                br;
                span.quiet { bdi { (message.key) } " · " bdi { (id) } }
            }
            td.moment { (web.time.whole(*died_at)) }
            td { bdi { (reason) } }
            td {
                form method="post" action="/admin/dead-letters" {
                    (token_field(visit))
                    input type="hidden" name=(LETTER) value=(id);
                    button.button aria-label={ (t.replay) " " (id) } { (t.replay) }
                }
            }
        }
    }
}
