//! Changing one's own password, which ends every other session.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use madang_member::{MemberError, PASSWORD_MAX_CHARS};
use maud::html;

use crate::error::{OrRefuse as _, Refused, WebError};
use crate::form::{Line, Problems};
use crate::layout::{token_field, unlisted};
use crate::posted::AccountForm;
use crate::state::{Shared, Web};
use crate::visit::Visit;

/// The form.
pub(crate) async fn form(State(web): State<Shared>, visit: Visit) -> Result<Response, Refused> {
    if visit.session.is_none() {
        return Err(WebError::NotSignedIn.refuse(&web, &visit));
    }
    Ok(show(&web, &visit, StatusCode::OK, &Problems::default(), false))
}

/// Changes it.
pub(crate) async fn submit(State(web): State<Shared>, AccountForm(posted): AccountForm) -> Result<Response, Refused> {
    let visit = &posted.visit;
    let session = posted.session().or_refuse(&web, visit)?;
    let (current, new) = (posted.fields.text("current"), posted.fields.text("new"));
    posted.admit_own_password(&web, session).await?;
    match web.site.members.change_password(session, current, new).await {
        Ok(()) => Ok(show(&web, visit, StatusCode::OK, &Problems::default(), true)),
        Err(MemberError::Invalid(invalid)) => {
            let problems = Problems::invalid(visit.preferences.lang, &invalid);
            Ok(show(&web, visit, StatusCode::UNPROCESSABLE_ENTITY, &problems, false))
        }
        Err(error) => Err(error).or_refuse(&web, visit),
    }
}

fn show(web: &Web, visit: &Visit, status: StatusCode, problems: &Problems, is_done: bool) -> Response {
    let t = visit.texts();
    let line = |name, label, autocomplete, hint| Line {
        name,
        label,
        hint,
        kind: "password",
        autocomplete,
        max_chars: PASSWORD_MAX_CHARS,
        ..Line::default()
    };
    let main = html! {
        h1 { (t.change_password) }
        @if is_done { p.notice role="status" { (t.password_changed) } }
        form.write.narrow method="post" action="/password" {
            (problems.summary(visit))
            (token_field(visit))
            (line("current", t.current_password, "current-password", None).show(problems))
            (line("new", t.new_password, "new-password", Some(t.password_hint)).show(problems))
            p.buttons { button.button.strong { (t.change_password) } }
        }
    };
    unlisted(web, visit, status, t.change_password, main)
}
