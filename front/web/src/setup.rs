//! The one-time set-up: whoever holds the link printed at the first start becomes the administrator, once.

use std::sync::Arc;

use axum::extract::rejection::{FormRejection, QueryRejection};
use axum::extract::{Form, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use madang_kernel::Role;
use madang_member::{MemberError, MemberService};
use serde::Deserialize;
use tokio::sync::Mutex;

use crate::WebState;
use crate::page::{Escaped, notice, page, unavailable};

/// What the set-up works with.
#[derive(Clone)]
pub(crate) struct SetupState {
    members: Arc<MemberService>,
    token: Option<Arc<str>>,
    /// One set-up at a time: two that both find no administrator would both become one.
    turn: Arc<Mutex<()>>,
}

impl SetupState {
    /// The set-up of a site.
    pub(crate) fn new(web: &WebState) -> Self {
        Self { members: web.members.clone(), token: web.setup_token.clone(), turn: Arc::default() }
    }

    /// Why the set-up is closed to this token, if it is.
    async fn closed_to(&self, token: &str) -> Option<Response> {
        let known = self.token.as_deref().is_some_and(|expected| is_same_secret(expected, token));
        if !known {
            return Some(notice(
                StatusCode::NOT_FOUND,
                "Not found",
                "There is no set-up under this address. The right link is printed when the server starts.",
            ));
        }
        match self.members.has_admin().await {
            Ok(false) => None,
            Ok(true) => Some(notice(
                StatusCode::GONE,
                "Already set up",
                "This site has its administrator. Roles are given by administrators from now on.",
            )),
            Err(error) => Some(failed(&error)),
        }
    }
}

/// The link.
#[derive(Deserialize)]
pub(crate) struct Link {
    #[serde(default)]
    token: String,
}

/// The form.
#[derive(Deserialize)]
pub(crate) struct Submission {
    token: String,
    name: String,
    password: String,
}

/// Shows the form.
pub(crate) async fn form(State(setup): State<SetupState>, link: Result<Query<Link>, QueryRejection>) -> Response {
    let token = link.map(|Query(link)| link.token).unwrap_or_default();
    match setup.closed_to(&token).await {
        Some(closed) => closed,
        None => show(StatusCode::OK, &token, "", None),
    }
}

/// Registers the administrator.
pub(crate) async fn submit(State(setup): State<SetupState>, form: Result<Form<Submission>, FormRejection>) -> Response {
    let Submission { token, name, password } = match form {
        Ok(Form(form)) => form,
        Err(rejection) => return notice(rejection.status(), "Not understood", "Please fill in the form again."),
    };
    let _turn = setup.turn.lock().await;
    if let Some(closed) = setup.closed_to(&token).await {
        return closed;
    }
    let again = |status, message: &str| show(status, &token, &name, Some(message));
    match setup.members.register_with_role(&name, &password, Role::Admin).await {
        Ok(member) => {
            let text = format!("{} is the administrator of this site. Sign in through the API.", member.name);
            notice(StatusCode::CREATED, "Set up", &text)
        }
        Err(MemberError::Invalid(invalid)) => again(StatusCode::UNPROCESSABLE_ENTITY, &invalid.to_string()),
        Err(error @ MemberError::NameTaken) => again(StatusCode::CONFLICT, &error.to_string()),
        Err(error) => failed(&error),
    }
}

fn show(status: StatusCode, token: &str, name: &str, problem: Option<&str>) -> Response {
    let problem = problem.map(|text| format!("<p role=\"alert\">{}</p>\n", Escaped(text))).unwrap_or_default();
    let (token, name) = (Escaped(token), Escaped(name));
    let main = format!(
        "<p>Choose the name and the password of this site's first administrator.</p>\n{problem}\
         <form method=\"post\" action=\"/setup\">\n<input type=\"hidden\" name=\"token\" value=\"{token}\">\n\
         <label>Name <input name=\"name\" value=\"{name}\" required minlength=\"2\" maxlength=\"32\" \
         autocomplete=\"username\"></label>\n\
         <label>Password <input name=\"password\" type=\"password\" required minlength=\"8\" maxlength=\"128\" \
         autocomplete=\"new-password\"></label>\n<button>Become administrator</button>\n</form>"
    );
    page(status, "Set up", &main)
}

fn failed(error: &MemberError) -> Response {
    tracing::error!("the set-up failed: {error}");
    unavailable()
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
