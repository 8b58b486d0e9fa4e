//! Signing in and out.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use madang_member::{MemberError, NAME_MAX_CHARS, PASSWORD_MAX_CHARS, SignedIn};
use madang_server::{forget_session, store_device, store_session};
use maud::html;
use serde::Deserialize;

use crate::error::{OrRefuse as _, Refused, WebError};
use crate::flash::Flash;
use crate::form::{Line, Problems};
use crate::layout::{Page, encoded, whole};
use crate::posted::{AccountForm, Posted, local_path};
use crate::query::LenientQuery;
use crate::reply;
use crate::state::{Shared, Web};
use crate::visit::Visit;

/// Where to go afterwards.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct SignInQuery {
    #[serde(default)]
    pub(crate) r#return: String,
}

/// The form.
pub(crate) async fn form(
    State(web): State<Shared>,
    visit: Visit,
    LenientQuery(back): LenientQuery<SignInQuery>,
) -> Response {
    let back = back.r#return;
    if visit.session.is_some() {
        return reply::see_other(local_path(&back));
    }
    reply::page(&visit, StatusCode::OK, page(&web, &visit, "", local_path(&back), &Problems::default()))
}

/// Signs in.
pub(crate) async fn submit(State(web): State<Shared>, posted: Posted) -> Result<Response, Refused> {
    let (visit, back) = (&posted.visit, posted.fields.local_path("return"));
    let (name, password) = (posted.fields.text("name"), posted.fields.text("password"));
    let client = match posted.admit_sign_in(&web, name).await {
        Ok(client) => client,
        Err(error) => return Ok(error.beside(&web, visit, |problems| page(&web, visit, name, back, problems))),
    };
    match web.site.members.sign_in(name, password, client).await {
        Ok(signed_in) => Ok(welcome(&web, &signed_in, back)),
        Err(MemberError::WrongPassword) => {
            let problems = Problems::of(visit.texts().wrong_password);
            Ok(reply::page(visit, StatusCode::UNAUTHORIZED, page(&web, visit, name, back, &problems)))
        }
        Err(error) => Err(error).or_refuse(&web, visit),
    }
}

/// Signs out, here and at once.
pub(crate) async fn sign_out(State(web): State<Shared>, AccountForm(posted): AccountForm) -> Result<Response, Refused> {
    // Whoever is signed out already is where they wanted to be.
    if posted.visit.session.is_some() {
        let ended = match posted.session() {
            Ok(session) => web.site.members.sign_out(session).await.map_err(WebError::from),
            Err(not_yet) => Err(not_yet.into()),
        };
        ended.or_refuse(&web, &posted.visit)?;
    }
    let mut response = reply::see_other("/");
    forget_session(response.headers_mut(), web.site.policy.cookies_secure);
    Ok(Flash::SignedOut.leave(response, posted.visit.cookies_secure))
}

/// Sends a member who has just signed in on their way.
pub(crate) fn welcome(web: &Web, signed_in: &SignedIn, back: &str) -> Response {
    let mut response = reply::see_other(back);
    let (secure, now) = (web.site.policy.cookies_secure, web.site.clock.now());
    store_session(response.headers_mut(), &signed_in.token, signed_in.expires_at, secure);
    store_device(response.headers_mut(), &signed_in.device_note, now, secure);
    response
}

fn page(web: &Web, visit: &Visit, name: &str, back: &str, problems: &Problems) -> String {
    let t = visit.texts();
    let name = Line {
        name: "name",
        label: t.name,
        value: name,
        autocomplete: "username",
        max_chars: NAME_MAX_CHARS,
        ..Line::default()
    };
    let password = Line {
        name: "password",
        label: t.password,
        kind: "password",
        autocomplete: "current-password",
        max_chars: PASSWORD_MAX_CHARS,
        ..Line::default()
    };
    let main = html! {
        h1 { (t.sign_in) }
        form.write.narrow method="post" action="/sign-in" {
            (problems.summary(visit))
            input type="hidden" name="return" value=(back);
            (name.show(problems))
            (password.show(problems))
            p.buttons { button.button.strong { (t.sign_in) } }
        }
        p.quiet { (t.forgot_password) }
        p { (t.no_account) " " a href={ "/sign-up?return=" (encoded(back)) } { (t.sign_up) } }
    };
    whole(web, visit, &Page { title: t.sign_in, main, is_listed: false, ..Page::default() })
}
