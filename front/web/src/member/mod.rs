//! The page of a member: who they are, what they wrote, and what moderators may do about it.

mod supervise;
mod written;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use madang_board::{MemberId, Role};
use madang_kernel::PageSize;
use madang_member::{Member, Suspension};
use maud::{Markup, html};
use serde::Deserialize;

use supervise::Wrong;
pub(crate) use supervise::{reset_password, set_role, suspend};

use crate::error::{OrRefuse as _, Refused, WebError};
use crate::layout::{Page, SITE_NAME, unlisted, whole};
use crate::plain_text::{DESCRIPTION_CHARS_MAX, plain};
use crate::query::{LenientQuery, cursor};
use crate::state::{Shared, Web};
use crate::visit::Visit;
use crate::{reply, texts};

/// Of each kind, on the page itself.
const SHOWN_FIRST: u32 = 10;

/// Where in a list of theirs.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct WrittenQuery {
    before: Option<String>,
}

/// A member.
pub(crate) async fn member(
    State(web): State<Shared>,
    visit: Visit,
    Path(id): Path<String>,
) -> Result<Response, Refused> {
    let id: MemberId = id.parse().map_err(|_| WebError::NotFound).or_refuse(&web, &visit)?;
    page(&web, &visit, id, StatusCode::OK, None, None).await.or_refuse(&web, &visit)
}

/// All their articles.
pub(crate) async fn articles(
    State(web): State<Shared>,
    visit: Visit,
    Path(id): Path<String>,
    LenientQuery(query): LenientQuery<WrittenQuery>,
) -> Result<Response, Refused> {
    let made = async {
        let (member, before) = (find(&web, &id).await?, cursor(query.before.as_deref())?);
        let found = web.site.articles.by_writer(member.member_id, before, PageSize::DEFAULT).await?;
        Ok((written::all_articles(&web, &visit, &member, &found).await?, member))
    };
    list(&web, &visit, made.await).or_refuse(&web, &visit)
}

/// All their comments.
pub(crate) async fn comments(
    State(web): State<Shared>,
    visit: Visit,
    Path(id): Path<String>,
    LenientQuery(query): LenientQuery<WrittenQuery>,
) -> Result<Response, Refused> {
    let made = async {
        let (member, before) = (find(&web, &id).await?, cursor(query.before.as_deref())?);
        let found = web.site.comments.by_writer(member.member_id, before, PageSize::DEFAULT).await?;
        Ok((written::all_comments(&web, &visit, &member, &found), member))
    };
    list(&web, &visit, made.await).or_refuse(&web, &visit)
}

/// The page, with what is wrong with a form on it, or a word that something is done.
async fn page(
    web: &Web,
    visit: &Visit,
    id: MemberId,
    status: StatusCode,
    wrong: Option<Wrong>,
    done: Option<&str>,
) -> Result<Response, WebError> {
    let size = PageSize::new("limit", i64::from(SHOWN_FIRST)).unwrap_or(PageSize::DEFAULT);
    let (members, articles, comments) = (&web.site.members, &web.site.articles, &web.site.comments);
    let (member, articles, comments) =
        tokio::join!(members.get(id), articles.by_writer(id, None, size), comments.by_writer(id, None, size));
    let (member, articles, comments) = (member?, articles?, comments?);
    let articles = written::articles(web, visit, &member, &articles).await?;
    let main = html! {
        (facts(web, visit, &member))
        @if let Some(done) = done { p.notice role="status" { (done) } }
        (articles)
        (written::comments(web, visit, &member, &comments))
        (supervise::supervision(web, visit, &member, wrong))
    };
    let canonical = Some(format!("/members/{id}"));
    let description = texts::member_description(visit.preferences.lang, SITE_NAME, &member.name);
    let description = Some(plain(&description, DESCRIPTION_CHARS_MAX));
    let page = Page { title: &member.name, main, canonical, description, ..Page::default() };
    Ok(reply::page(visit, status, whole(web, visit, &page)))
}

/// What tells those who run the site from those who took a name like theirs; nothing for everybody else.
pub(crate) fn badge(web: &Web, visit: &Visit, member: MemberId) -> Markup {
    let role = web.site.members.shown_role(member);
    html! { @if role > Role::Member { span.badge { (supervise::role_name(visit.texts(), role)) } } }
}

fn facts(web: &Web, visit: &Visit, member: &Member) -> Markup {
    let t = visit.texts();
    html! {
        h1 { bdi { (member.name) } }
        p.facts {
            @if member.role > Role::Member { (badge(web, visit, member.member_id)) }
            @else { span { (supervise::role_name(t, member.role)) } }
            span { (t.member_since) " " (web.time.day(member.created_at)) }
            a href={ "/search?sort=newest&writer_id=" (member.member_id) } rel="nofollow" {
                (texts::SearchTexts::in_language(visit.preferences.lang).their_posts)
            }
            @if visit.is(member.member_id) {
                a href="/password" { (t.change_password) }
                a href="/sessions" { (t.sessions) }
            }
        }
        (suspension(web, visit, member))
    }
}

/// A suspension, for whom it concerns: the member, and those who may lift it.
fn suspension(web: &Web, visit: &Visit, member: &Member) -> Markup {
    let concerns = visit.is(member.member_id) || visit.moderates();
    let found = web.site.members.suspension(member.member_id).filter(|_| concerns);
    html! {
        @if let Some(Suspension { until, reason }) = found {
            p.notice {
                strong { (visit.texts().suspended_mark) " " (web.time.whole(until)) }
                @if !reason.is_empty() { br; bdi { (reason) } }
            }
        }
    }
}

fn list(web: &Web, visit: &Visit, made: Result<(Markup, Member), WebError>) -> Result<Response, WebError> {
    let (main, member) = made?;
    Ok(unlisted(web, visit, StatusCode::OK, &member.name, main))
}

async fn find(web: &Web, id: &str) -> Result<Member, WebError> {
    let id: MemberId = id.parse().map_err(|_| WebError::NotFound)?;
    Ok(web.site.members.get(id).await?)
}
