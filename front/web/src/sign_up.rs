//! Becoming a member, and being signed in right away.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use madang_member::{MemberError, NAME_MAX_CHARS, PASSWORD_MAX_CHARS, SignedIn};
use maud::{Markup, html};

use crate::error::{OrRefuse as _, Refused, WebError};
use crate::form::{Line, Problems};
use crate::layout::{Page, encoded, whole};
use crate::posted::{Posted, local_path};
use crate::query::LenientQuery;
use crate::reply;
use crate::sign_in::{SignInQuery, welcome};
use crate::state::{Shared, Web};
use crate::visit::Visit;

/// The form.
pub(crate) async fn form(
    State(web): State<Shared>,
    visit: Visit,
    LenientQuery(back): LenientQuery<SignInQuery>,
) -> Response {
    reply::page(&visit, StatusCode::OK, page(&web, &visit, "", local_path(&back.r#return), &Problems::default()))
}

/// Registers.
pub(crate) async fn submit(State(web): State<Shared>, posted: Posted) -> Result<Response, Refused> {
    let (visit, back) = (&posted.visit, posted.fields.local_path("return"));
    let (name, password) = (posted.fields.text("name"), posted.fields.text("password"));
    let registered = match web.site.members.check_registration(name, password) {
        Ok(()) => {
            if let Err(error) = posted.admit_sign_up(&web).await {
                return Ok(error.beside(&web, visit, |problems| page(&web, visit, name, back, problems)));
            }
            register(&web, visit, name, password).await
        }
        Err(error) => Err(error),
    };
    let (status, problems) = match registered {
        Ok(signed_in) => return Ok(welcome(&web, &signed_in, back)),
        Err(error) => refused(visit, error).or_refuse(&web, visit)?,
    };
    Ok(reply::page(visit, status, page(&web, visit, name, back, &problems)))
}

async fn register(web: &Web, visit: &Visit, name: &str, password: &str) -> Result<SignedIn, MemberError> {
    web.site.members.register(name, password).await?;
    web.site.members.sign_in(name, password, visit.client(None)).await
}

/// What a form for a new member is told.
pub(crate) fn refused(visit: &Visit, error: MemberError) -> Result<(StatusCode, Problems), WebError> {
    match error {
        MemberError::Invalid(invalid) => {
            Ok((StatusCode::UNPROCESSABLE_ENTITY, Problems::invalid(visit.preferences.lang, &invalid)))
        }
        MemberError::NameTaken => Ok((StatusCode::CONFLICT, Problems::field("name", visit.texts().name_taken))),
        other => Err(other.into()),
    }
}

/// Name and password of somebody new.
pub(crate) fn fields(visit: &Visit, name: &str, problems: &Problems) -> Markup {
    let t = visit.texts();
    let name = Line {
        name: "name",
        label: t.name,
        hint: Some(t.name_hint),
        value: name,
        autocomplete: "username",
        max_chars: NAME_MAX_CHARS,
        ..Line::default()
    };
    let password = Line {
        name: "password",
        label: t.password,
        hint: Some(t.password_hint),
        kind: "password",
        autocomplete: "new-password",
        max_chars: PASSWORD_MAX_CHARS,
        ..Line::default()
    };
    html! { (name.show(problems)) (password.show(problems)) }
}

fn page(web: &Web, visit: &Visit, name: &str, back: &str, problems: &Problems) -> String {
    let t = visit.texts();
    let main = html! {
        h1 { (t.sign_up) }
        form.write.narrow method="post" action="/sign-up" {
            (problems.summary(visit))
            input type="hidden" name="return" value=(back);
            (fields(visit, name, problems))
            p.buttons { button.button.strong { (t.sign_up) } }
        }
        p { (t.have_account) " " a href={ "/sign-in?return=" (encoded(back)) } { (t.sign_in) } }
    };
    whole(web, visit, &Page { title: t.sign_up, main, is_listed: false, ..Page::default() })
}
