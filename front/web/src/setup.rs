//! The one-time set-up: whoever holds the link printed at the first start becomes the administrator, once.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use madang_board::Role;
use maud::html;
use serde::Deserialize;
use tokio::sync::Mutex;

use crate::error::{OrRefuse as _, Refused};
use crate::flash::Flash;
use crate::form::Problems;
use crate::layout::unlisted;
use crate::posted::Posted;
use crate::query::LenientQuery;
use crate::sign_in::welcome;
use crate::sign_up::{fields, refused};
use crate::state::{Shared, Web};
use crate::visit::Visit;

/// One set-up at a time: two that both find no administrator would both become one.
#[derive(Clone, Default)]
pub(crate) struct SetupTurn(Arc<Mutex<()>>);

/// The link.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct SetupQuery {
    #[serde(default)]
    token: String,
}

/// Shows the form.
pub(crate) async fn form(
    State(web): State<Shared>,
    mut visit: Visit,
    LenientQuery(SetupQuery { token }): LenientQuery<SetupQuery>,
) -> Result<Response, Refused> {
    // The address holds the token, which no form but this one may carry on.
    visit.here = "/".to_owned();
    match closed_to(&web, &visit, &token).await? {
        Some(closed) => Ok(closed),
        None => Ok(show(&web, &visit, StatusCode::OK, &token, "", &Problems::default())),
    }
}

/// Registers the administrator.
pub(crate) async fn submit(
    State(web): State<Shared>,
    Extension(turn): Extension<SetupTurn>,
    posted: Posted,
) -> Result<Response, Refused> {
    let (visit, token) = (&posted.visit, posted.fields.text("token"));
    let (name, password) = (posted.fields.text("name"), posted.fields.text("password"));
    let _turn = turn.0.lock().await;
    if let Some(closed) = closed_to(&web, visit, token).await? {
        return Ok(closed);
    }
    match web.site.members.register_with_role(name, password, Role::Admin).await {
        Ok(_) => {
            let signed_in = web.site.members.sign_in(name, password).await.or_refuse(&web, visit)?;
            Ok(Flash::SetUp.leave(welcome(&web, &signed_in, "/admin"), visit.cookies_secure))
        }
        Err(error) => {
            let (status, problems) = refused(visit, error).or_refuse(&web, visit)?;
            Ok(show(&web, visit, status, token, name, &problems))
        }
    }
}

/// Why the set-up is closed to this token, if it is.
async fn closed_to(web: &Web, visit: &Visit, token: &str) -> Result<Option<Response>, Refused> {
    let t = visit.texts();
    let known = web.site.setup_token.as_deref().is_some_and(|expected| is_same_secret(expected, token));
    if !known {
        return Ok(Some(notice(web, visit, StatusCode::NOT_FOUND, t.not_found, t.no_set_up)));
    }
    match web.site.members.has_admin().await {
        Ok(false) => Ok(None),
        Ok(true) => Ok(Some(notice(web, visit, StatusCode::GONE, t.already_set_up, t.set_up_over))),
        Err(error) => Err(error).or_refuse(web, visit),
    }
}

fn show(web: &Web, visit: &Visit, status: StatusCode, token: &str, name: &str, problems: &Problems) -> Response {
    let t = visit.texts();
    let main = html! {
        h1 { (t.set_up) }
        p.lead { (t.set_up_text) }
        form.write.narrow method="post" action="/setup" {
            (problems.summary(visit))
            input type="hidden" name="token" value=(token);
            (fields(visit, name, problems))
            p.buttons { button.button.strong { (t.become_admin) } }
        }
    };
    secret(unlisted(web, visit, status, t.set_up, main))
}

fn notice(web: &Web, visit: &Visit, status: StatusCode, title: &str, text: &str) -> Response {
    let main = html! {
        h1 { (title) }
        p.lead { (text) }
    };
    secret(unlisted(web, visit, status, title, main))
}

/// The token stands in the address: it must not travel on, nor stay behind.
fn secret(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Compares without telling, by the time it takes, how much of a guess was right.
fn is_same_secret(expected: &str, given: &str) -> bool {
    let differences = expected.bytes().zip(given.bytes()).fold(0, |sum, (a, b)| std::hint::black_box(sum | (a ^ b)));
    !expected.is_empty() && expected.len() == given.len() && differences == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_opens_the_set_up() {
        assert!(is_same_secret("abc", "abc"));
        for guess in ["", "ab", "abcd", "abd", "Abc"] {
            assert!(!is_same_secret("abc", guess), "{guess:?}");
        }
        assert!(!is_same_secret("", ""));
    }
}
