//! The page of a member, where administrators give roles.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use madang_kernel::{MemberId, Role};
use madang_member::Member;
use maud::{Markup, html};

use crate::error::{Refused, WebError};
use crate::layout::{Page, token_field, whole};
use crate::posted::Posted;
use crate::reply;
use crate::state::{Shared, Web};
use crate::texts::Texts;
use crate::visit::Visit;

/// A member.
pub(crate) async fn member(
    State(web): State<Shared>,
    visit: Visit,
    Path(id): Path<String>,
) -> Result<Response, Refused> {
    let member = find(&web, &id).await.map_err(|error| error.refuse(&web, &visit))?;
    let page = Page {
        title: &member.name,
        main: view(&web, &visit, &member),
        canonical: Some(format!("/members/{}", member.member_id)),
        ..Page::default()
    };
    Ok(reply::page(&visit, StatusCode::OK, whole(&web, &visit, &page)))
}

/// Gives a member a role.
pub(crate) async fn set_role(
    State(web): State<Shared>,
    Path(id): Path<String>,
    posted: Posted,
) -> Result<Response, Refused> {
    match change(&web, &posted, &id).await {
        Ok(member) => Ok(reply::see_other(&format!("/members/{member}"))),
        Err(error) => Err(error.refuse(&web, &posted.visit)),
    }
}

async fn change(web: &Web, posted: &Posted, id: &str) -> Result<MemberId, WebError> {
    let id: MemberId = id.parse().map_err(|_| WebError::NotFound)?;
    let session = posted.session()?;
    let role = match posted.fields.text("role") {
        "member" => Role::Member,
        "moderator" => Role::Moderator,
        "admin" => Role::Admin,
        _ => return Err(WebError::NotUnderstood),
    };
    web.site.members.set_role(&session.actor, id, role).await?;
    Ok(id)
}

async fn find(web: &Web, id: &str) -> Result<Member, WebError> {
    let id: MemberId = id.parse().map_err(|_| WebError::NotFound)?;
    Ok(web.site.members.get(id).await?)
}

fn view(web: &Web, visit: &Visit, member: &Member) -> Markup {
    let t = visit.texts();
    html! {
        h1 { bdi { (member.name) } }
        dl.facts-list {
            dt { (t.role) } dd { (role_name(t, member.role)) }
            dt { (t.member_since) } dd { (web.time.whole(member.created_at)) }
        }
        @if visit.has(Role::Admin) { (role_form(visit, member)) }
    }
}

fn role_form(visit: &Visit, member: &Member) -> Markup {
    let t = visit.texts();
    html! {
        section aria-labelledby="role-title" {
            h2 #role-title { (t.change_role) }
            @if visit.is(member.member_id) { p.quiet { (t.own_role) } }
            @else {
                form.write.narrow method="post" action={ "/members/" (member.member_id) "/role" } {
                    (token_field(visit))
                    div.field {
                        label for="f-role" { (t.role) }
                        select #f-role name="role" {
                            @for (code, role) in [("member", Role::Member), ("moderator", Role::Moderator), ("admin", Role::Admin)] {
                                option value=(code) selected[member.role == role] { (role_name(t, role)) }
                            }
                        }
                    }
                    p.buttons { button.button { (t.change_role) } }
                }
            }
        }
    }
}

fn role_name(t: &Texts, role: Role) -> &'static str {
    match role {
        Role::Member => t.role_member,
        Role::Moderator => t.role_moderator,
        Role::Admin => t.role_admin,
    }
}
