//! Choosing a new password by a link that an administrator gave.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use madang_member::{Member, MemberError, PASSWORD_MAX_CHARS};
use madang_server::store_device;
use maud::html;

use crate::error::{OrRefuse as _, Refused};
use crate::flash::Flash;
use crate::form::{Line, Problems};
use crate::layout::unlisted;
use crate::posted::Posted;
use crate::reply;
use crate::setup::secret;
use crate::state::{Shared, Web};
use crate::visit::Visit;

/// The form, while the link is good.
pub(crate) async fn form(
    State(web): State<Shared>,
    visit: Visit,
    Path(token): Path<String>,
) -> Result<Response, Refused> {
    match web.site.members.member_of_reset(&token).await {
        Ok(member) => Ok(show(&web, &visit, StatusCode::OK, &member, &token, &Problems::default())),
        Err(MemberError::NoSuchReset) => Ok(over(&web, &visit)),
        Err(error) => Err(error).or_refuse(&web, &visit),
    }
}

/// Takes the new password; whoever chose it signs in with it.
pub(crate) async fn submit(
    State(web): State<Shared>,
    Path(token): Path<String>,
    posted: Posted,
) -> Result<Response, Refused> {
    let visit = &posted.visit;
    let invalid = match web.site.members.use_reset(&token, posted.fields.text("password")).await {
        Ok(device_note) => {
            let mut there = reply::see_other("/sign-in");
            store_device(there.headers_mut(), &device_note, web.site.clock.now(), visit.cookies_secure);
            return Ok(Flash::PasswordReset.leave(secret(there), visit.cookies_secure));
        }
        Err(MemberError::NoSuchReset) => return Ok(over(&web, visit)),
        Err(MemberError::Invalid(invalid)) => invalid,
        Err(error) => return Err(error).or_refuse(&web, visit),
    };
    let problems = Problems::invalid(visit.preferences.lang, &invalid);
    match web.site.members.member_of_reset(&token).await {
        Ok(member) => Ok(show(&web, visit, StatusCode::UNPROCESSABLE_ENTITY, &member, &token, &problems)),
        Err(MemberError::NoSuchReset) => Ok(over(&web, visit)),
        Err(error) => Err(error).or_refuse(&web, visit),
    }
}

fn show(web: &Web, visit: &Visit, status: StatusCode, member: &Member, token: &str, problems: &Problems) -> Response {
    let t = visit.texts();
    let password = Line {
        name: "password",
        label: t.new_password,
        hint: Some(t.password_hint),
        kind: "password",
        autocomplete: "new-password",
        max_chars: PASSWORD_MAX_CHARS,
        ..Line::default()
    };
    let main = html! {
        h1 { (t.choose_password) }
        p.lead { bdi { strong { (member.name) } } ": " (t.choose_password_text) }
        form.write.narrow method="post" action={ "/password-reset/" (token) } {
            (problems.summary(visit))
            // For whatever keeps passwords: whose this one is.
            input type="hidden" name="name" autocomplete="username" value=(member.name);
            (password.show(problems))
            p.buttons { button.button.strong { (t.choose_password) } }
        }
    };
    secret(unlisted(web, visit, status, t.choose_password, main))
}

/// The link was used, is too old, or never was one.
fn over(web: &Web, visit: &Visit) -> Response {
    let t = visit.texts();
    let main = html! {
        h1 { (t.reset_over) }
        p.lead { (t.reset_over_text) }
        p.buttons { a.button href="/sign-in" { (t.sign_in) } }
    };
    secret(unlisted(web, visit, StatusCode::NOT_FOUND, t.reset_over, main))
}
