//! One's own sessions: where one is signed in, and ending it.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use madang_board::SessionId;
use madang_member::OwnSession;
use madang_server::forget_session;
use maud::{Markup, html};

use crate::error::{OrRefuse as _, Refused, WebError};
use crate::flash::Flash;
use crate::layout::{token_field, unlisted};
use crate::posted::AccountForm;
use crate::reply;
use crate::state::{Shared, Web};
use crate::visit::Visit;

/// The list.
pub(crate) async fn list(State(web): State<Shared>, visit: Visit) -> Result<Response, Refused> {
    let session = visit.session.as_ref().ok_or(WebError::NotSignedIn).or_refuse(&web, &visit)?;
    let sessions = web.site.members.own_sessions(session).await.or_refuse(&web, &visit)?;
    let t = visit.texts();
    let main = html! {
        h1 { (t.sessions) }
        p.lead { (t.sessions_text) }
        ul.sessions { @for own in &sessions { (item(&web, &visit, own)) } }
        @if sessions.len() > 1 {
            form method="post" action="/sessions/others" {
                (token_field(&visit))
                p.buttons { button.button.danger { (t.end_other_sessions) } }
            }
        }
        p { a href="/password" { (t.change_password) } }
    };
    Ok(unlisted(&web, &visit, StatusCode::OK, t.sessions, main))
}

/// Ends one of them, or all others.
pub(crate) async fn end(
    State(web): State<Shared>,
    Path(which): Path<String>,
    AccountForm(posted): AccountForm,
) -> Result<Response, Refused> {
    let visit = &posted.visit;
    let session = posted.session().or_refuse(&web, visit)?;
    if which == "others" {
        web.site.members.end_other_sessions(session).await.or_refuse(&web, visit)?;
        return Ok(reply::see_other("/sessions"));
    }
    let ends: SessionId = which.parse().map_err(|_| WebError::NotFound).or_refuse(&web, visit)?;
    web.site.members.end_own_session(session, ends).await.or_refuse(&web, visit)?;
    if ends != session.session_id {
        return Ok(reply::see_other("/sessions"));
    }
    let mut response = reply::see_other("/");
    forget_session(response.headers_mut(), web.site.policy.cookies_secure);
    Ok(Flash::SignedOut.leave(response, visit.cookies_secure))
}

fn item(web: &Web, visit: &Visit, own: &OwnSession) -> Markup {
    let t = visit.texts();
    html! {
        li {
            p.facts {
                bdi { (own.agent.as_deref().unwrap_or(t.unknown_agent)) }
                @if own.is_current { span.badge { (t.this_session) } }
                span { (t.signed_in_at) " " (web.time.whole(own.created_at)) }
                span { (t.last_seen_at) " " (web.time.whole(own.last_seen_at)) }
            }
            form method="post" action={ "/sessions/" (own.session_id) } {
                (token_field(visit))
                button.button { @if own.is_current { (t.sign_out) } @else { (t.end_session) } }
            }
        }
    }
}
