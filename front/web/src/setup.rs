//! The one-time set-up: whoever has the token printed at the first start becomes the administrator, once.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use madang_board::Role;
use maud::html;
use tokio::sync::Mutex;

use crate::error::{OrRefuse as _, Refused};
use crate::flash::Flash;
use crate::form::{Line, Problems};
use crate::layout::unlisted;
use crate::posted::Posted;
use crate::sign_in::welcome;
use crate::sign_up::{fields, refused};
use crate::state::{Shared, Web};
use crate::visit::Visit;

/// One set-up at a time: two that both find no administrator would both become one. Holds whether the token was used: it
/// opens the set-up once in the life of the process, whatever becomes of that administrator.
#[derive(Clone, Default)]
pub(crate) struct SetupTurn(Arc<Mutex<bool>>);

/// The longest token that is looked at.
const TOKEN_CHARS_MAX: usize = 128;

/// Shows the form. The token is not in its address, which browsers remember and proxies log, but typed into it.
pub(crate) async fn form(
    State(web): State<Shared>,
    Extension(turn): Extension<SetupTurn>,
    mut visit: Visit,
) -> Result<Response, Refused> {
    // An address of somebody else's making is not carried on.
    visit.here = "/setup".to_owned();
    let was_used = *turn.0.lock().await;
    match closed(&web, &visit, was_used).await? {
        Some(closed) => Ok(closed),
        None => Ok(show(&web, &visit, StatusCode::OK, "", &Problems::default())),
    }
}

/// Registers the administrator.
pub(crate) async fn submit(
    State(web): State<Shared>,
    Extension(turn): Extension<SetupTurn>,
    posted: Posted,
) -> Result<Response, Refused> {
    let (visit, t) = (&posted.visit, posted.visit.texts());
    let (name, password) = (posted.fields.text("name"), posted.fields.text("password"));
    let mut was_used = turn.0.lock().await;
    if let Some(closed) = closed(&web, visit, *was_used).await? {
        return Ok(closed);
    }
    let given = posted.fields.text("token").trim();
    if !web.site.setup_token.as_deref().is_some_and(|expected| is_same_secret(expected, given)) {
        let problems = Problems::field("token", t.wrong_set_up_token);
        return Ok(show(&web, visit, StatusCode::FORBIDDEN, name, &problems));
    }
    match web.site.members.register_with_role(name, password, Role::Admin).await {
        Ok(_) => {
            *was_used = true;
            let signed_in =
                web.site.members.sign_in(name, password, visit.client(None)).await.or_refuse(&web, visit)?;
            Ok(Flash::SetUp.leave(welcome(&web, &signed_in, "/admin"), visit.cookies_secure))
        }
        Err(error) => {
            let (status, problems) = refused(visit, error).or_refuse(&web, visit)?;
            Ok(show(&web, visit, status, name, &problems))
        }
    }
}

/// Why there is no set-up, if there is none.
async fn closed(web: &Web, visit: &Visit, was_used: bool) -> Result<Option<Response>, Refused> {
    let t = visit.texts();
    if web.site.setup_token.is_none() {
        return Ok(Some(notice(web, visit, StatusCode::NOT_FOUND, t.not_found, t.no_set_up)));
    }
    match web.site.members.has_admin().await {
        Ok(has_admin) if has_admin || was_used => {
            Ok(Some(notice(web, visit, StatusCode::GONE, t.already_set_up, t.set_up_over)))
        }
        Ok(_) => Ok(None),
        Err(error) => Err(error).or_refuse(web, visit),
    }
}

fn show(web: &Web, visit: &Visit, status: StatusCode, name: &str, problems: &Problems) -> Response {
    let t = visit.texts();
    let token = Line { name: "token", label: t.set_up_token, max_chars: TOKEN_CHARS_MAX, ..Line::default() };
    let main = html! {
        h1 { (t.set_up) }
        p.lead { (t.set_up_text) }
        form.write.narrow method="post" action="/setup" {
            (problems.summary(visit))
            (token.show(problems))
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

/// What is about the set-up, or a link to a new password, must not travel on, nor stay behind.
pub(crate) fn secret(mut response: Response) -> Response {
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
