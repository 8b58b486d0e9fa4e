//! What moderators and administrators do about a member: suspensions and roles.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use madang_board::rules::{About, Action};
use madang_board::{MemberId, REASON_MAX_CHARS, Role};
use madang_kernel::Timestamp;
use madang_member::{Member, MemberError, PASSWORD_MAX_CHARS, Proof};
use maud::{Markup, html};

use super::page;
use crate::error::{OrRefuse as _, Refused, WebError};
use crate::flash::Flash;
use crate::form::{Line, Problems};
use crate::layout::{token_field, unlisted};
use crate::posted::Posted;
use crate::reply;
use crate::setup::secret;
use crate::state::{Shared, Web};
use crate::texts::Texts;
use crate::visit::Visit;

/// For how many days somebody may be suspended.
const DAYS: [i64; 4] = [1, 7, 30, 3_650];
const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// What is wrong with one of the forms on the page of a member, to be said in that one.
pub(super) enum Wrong {
    Suspension(Problems),
    Role(Problems),
    Reset(Problems),
}

/// Gives a member a role.
pub(crate) async fn set_role(
    State(web): State<Shared>,
    Path(id): Path<String>,
    posted: Posted,
) -> Result<Response, Refused> {
    let visit = &posted.visit;
    let session = posted.session().or_refuse(&web, visit)?;
    let (id, role) = role_asked(&posted, &id).or_refuse(&web, visit)?;
    if !visit.may(Action::GiveRole, About::NOTHING) {
        return Err(WebError::Forbidden.refuse(&web, visit));
    }
    posted.admit_own_password(&web, session).await?;
    let is_own = web.site.members.is_own_password(session, posted.fields.text("own_password")).await;
    if !is_own.or_refuse(&web, visit)? {
        let wrong = Some(Wrong::Role(Problems::field("own_password", visit.texts().own_password_wrong)));
        return page(&web, visit, id, StatusCode::UNPROCESSABLE_ENTITY, wrong, None).await.or_refuse(&web, visit);
    }
    match web.site.members.set_role(&session.actor, id, role).await {
        Ok(_) => {
            let there = reply::see_other(&format!("/members/{id}"));
            Ok(Flash::RoleChanged.leave(there, visit.cookies_secure))
        }
        Err(MemberError::LastAdmin | MemberError::Suspended) => {
            let wrong = Some(Wrong::Role(Problems::of(visit.texts().role_refused)));
            page(&web, visit, id, StatusCode::CONFLICT, wrong, None).await.or_refuse(&web, visit)
        }
        Err(error) => Err(error).or_refuse(&web, visit),
    }
}

/// Suspends a member for some days, or lifts it.
pub(crate) async fn suspend(
    State(web): State<Shared>,
    Path(id): Path<String>,
    posted: Posted,
) -> Result<Response, Refused> {
    let visit = &posted.visit;
    let id: MemberId = id.parse().map_err(|_| WebError::NotFound).or_refuse(&web, visit)?;
    let actor = &posted.session().or_refuse(&web, visit)?.actor;
    let (members, t) = (&web.site.members, visit.texts());
    let lifts = posted.fields.text("days").is_empty();
    let changed = match posted.fields.text("days") {
        "" => members.lift_suspension(actor, id).await,
        days => {
            let days = DAYS.into_iter().find(|found| found.to_string() == days);
            let days = days.ok_or(WebError::NotUnderstood).or_refuse(&web, visit)?;
            let until = Timestamp::from_millis(web.site.clock.now().as_millis() + days * DAY_MS);
            members.suspend(actor, id, until, posted.fields.text("reason")).await
        }
    };
    let (status, wrong, done) = match changed {
        Ok(_) => (StatusCode::OK, None, Some(if lifts { t.suspension_lifted } else { t.member_suspended })),
        Err(MemberError::Invalid(invalid)) => {
            let problems = Problems::invalid(visit.preferences.lang, &invalid);
            (StatusCode::UNPROCESSABLE_ENTITY, Some(Wrong::Suspension(problems)), None)
        }
        Err(error) => return Err(error).or_refuse(&web, visit),
    };
    page(&web, visit, id, status, wrong, done).await.or_refuse(&web, visit)
}

/// Makes a link by which the member chooses a new password, and shows it once.
pub(crate) async fn reset_password(
    State(web): State<Shared>,
    Path(id): Path<String>,
    posted: Posted,
) -> Result<Response, Refused> {
    let visit = &posted.visit;
    let session = posted.session().or_refuse(&web, visit)?;
    let id: MemberId = id.parse().map_err(|_| WebError::NotFound).or_refuse(&web, visit)?;
    if !visit.may(Action::ResetPassword, About::NOTHING) {
        return Err(WebError::Forbidden.refuse(&web, visit));
    }
    posted.admit_own_password(&web, session).await?;
    let is_own = web.site.members.is_own_password(session, posted.fields.text("reset_own_password")).await;
    if !is_own.or_refuse(&web, visit)? {
        let wrong = Some(Wrong::Reset(Problems::field("reset_own_password", visit.texts().own_password_wrong)));
        return page(&web, visit, id, StatusCode::UNPROCESSABLE_ENTITY, wrong, None).await.or_refuse(&web, visit);
    }
    let link = web.site.members.issue_reset(&session.actor, id, Proof::Password).await.or_refuse(&web, visit)?;
    let (t, url) = (visit.texts(), format!("{}{}", visit.base, link.path()));
    let main = html! {
        p.crumb { a href={ "/members/" (id) } { bdi { (link.member.name) } } }
        h1 { (t.reset_password) }
        p.notice role="status" { (t.reset_link_made) }
        div.field {
            label for="reset-link" { (t.reset_link) }
            input #reset-link readonly value=(url);
            p.hint { (t.valid_until) " " (web.time.whole(link.expires_at)) }
        }
        p.quiet { (t.reset_password_text) }
    };
    Ok(secret(unlisted(&web, visit, StatusCode::OK, t.reset_password, main)))
}

fn role_asked(posted: &Posted, id: &str) -> Result<(MemberId, Role), WebError> {
    let id: MemberId = id.parse().map_err(|_| WebError::NotFound)?;
    let role = Role::named(posted.fields.text("role")).ok_or(WebError::NotUnderstood)?;
    Ok((id, role))
}

/// What a moderator or an administrator may do about a member.
pub(super) fn supervision(web: &Web, visit: &Visit, member: &Member, wrong: Option<Wrong>) -> Markup {
    let is_suspended = web.site.members.suspension(member.member_id).is_some();
    let none = Problems::default;
    let (suspension, role, reset) = match wrong {
        None => (none(), none(), none()),
        Some(Wrong::Suspension(problems)) => (problems, none(), none()),
        Some(Wrong::Role(problems)) => (none(), problems, none()),
        Some(Wrong::Reset(problems)) => (none(), none(), problems),
    };
    html! {
        @if !visit.is(member.member_id) && visit.may(Action::Suspend(member.role), About::NOTHING) {
            (suspension_form(visit, member, is_suspended, &suspension))
        }
        @if visit.has(Role::Admin) { (role_form(visit, member, &role)) (reset_form(visit, member, &reset)) }
    }
}

fn suspension_form(visit: &Visit, member: &Member, is_suspended: bool, problems: &Problems) -> Markup {
    let t = visit.texts();
    let action = format!("/members/{}/suspension", member.member_id);
    let reason = Line {
        name: "reason",
        label: t.reason,
        hint: Some(t.suspend_reason_hint),
        max_chars: REASON_MAX_CHARS,
        ..Line::default()
    };
    html! {
        section aria-labelledby="suspend-title" {
            h2 #suspend-title { (t.suspend) }
            p.quiet { (t.suspend_text) }
            form.write.narrow method="post" action=(action) {
                (problems.summary(visit))
                (token_field(visit))
                div.field {
                    label for="f-days" { (t.suspend_for) }
                    select #f-days name="days" {
                        @for (days, name) in DAYS.into_iter().zip([t.day_1, t.day_7, t.day_30, t.day_3650]) {
                            option value=(days) { (name) }
                        }
                    }
                }
                (reason.show(problems))
                p.buttons { button.button.danger { (t.suspend) } }
            }
            @if is_suspended {
                form.lift method="post" action=(action) {
                    (token_field(visit))
                    button.button { (t.lift_suspension) }
                }
            }
        }
    }
}

fn role_form(visit: &Visit, member: &Member, problems: &Problems) -> Markup {
    let t = visit.texts();
    let password = Line {
        name: "own_password",
        label: t.own_password,
        hint: Some(t.own_password_hint),
        kind: "password",
        autocomplete: "current-password",
        max_chars: PASSWORD_MAX_CHARS,
        ..Line::default()
    };
    html! {
        section aria-labelledby="role-title" {
            h2 #role-title { (t.change_role) }
            @if visit.is(member.member_id) { p.quiet { (t.own_role) } }
            @else {
                form.write.narrow method="post" action={ "/members/" (member.member_id) "/role" } {
                    (problems.summary(visit))
                    (token_field(visit))
                    div.field {
                        label for="f-role" { (t.role) }
                        select #f-role name="role" {
                            @for role in Role::ALL.iter().copied() {
                                option value=(role.name()) selected[member.role == role] { (role_name(t, role)) }
                            }
                        }
                    }
                    (password.show(problems))
                    p.buttons { button.button { (t.change_role) } }
                }
            }
        }
    }
}

fn reset_form(visit: &Visit, member: &Member, problems: &Problems) -> Markup {
    let t = visit.texts();
    let password = Line {
        name: "reset_own_password",
        label: t.own_password,
        hint: Some(t.own_password_hint),
        kind: "password",
        autocomplete: "current-password",
        max_chars: PASSWORD_MAX_CHARS,
        ..Line::default()
    };
    html! {
        section aria-labelledby="reset-title" {
            h2 #reset-title { (t.reset_password) }
            p.quiet { (t.reset_password_text) }
            form.write.narrow method="post" action={ "/members/" (member.member_id) "/password-reset" } {
                (problems.summary(visit))
                (token_field(visit))
                (password.show(problems))
                p.buttons { button.button { (t.make_reset_link) } }
            }
        }
    }
}

/// A role in words.
pub(super) fn role_name(t: &Texts, role: Role) -> &'static str {
    match role {
        Role::Member => t.role_member,
        Role::Moderator => t.role_moderator,
        Role::Admin => t.role_admin,
    }
}
