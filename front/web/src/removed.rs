//! What moderators removed: its text, who removed it and why, and the button that brings it back. Only moderators of its board
//! see it, for as long as it can be restored.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use madang_board::{ArticleId, CommentId, Removal};
use madang_event::Writer;
use maud::{Markup, PreEscaped, html};

use crate::error::{OrRefuse as _, Refused, WebError};
use crate::flash::Flash;
use crate::layout::{token_field, unlisted};
use crate::posted::Posted;
use crate::reply;
use crate::state::{Shared, Web};
use crate::visit::Visit;

/// What is shown of it.
struct Shown<'a> {
    heading: &'static str,
    /// The title of an article.
    title: Option<&'a str>,
    text: Markup,
    writer: &'a Writer,
    removal: &'a Removal,
    /// Where the button leads.
    action: String,
}

/// A removed article.
pub(crate) async fn article_page(
    State(web): State<Shared>,
    visit: Visit,
    Path(id): Path<String>,
) -> Result<Response, Refused> {
    show_article(&web, &visit, &id).await.or_refuse(&web, &visit)
}

/// Brings an article back.
pub(crate) async fn restore_article(
    State(web): State<Shared>,
    Path(id): Path<String>,
    posted: Posted,
) -> Result<Response, Refused> {
    let visit = &posted.visit;
    let restored = article_back(&web, &posted, &id).await.or_refuse(&web, visit)?;
    let there = reply::see_other(&format!("/articles/{restored}"));
    Ok(Flash::ArticleRestored.leave(there, visit.cookies_secure))
}

/// What was removed of a comment.
pub(crate) async fn comment_page(
    State(web): State<Shared>,
    visit: Visit,
    Path(id): Path<String>,
) -> Result<Response, Refused> {
    show_comment(&web, &visit, &id).await.or_refuse(&web, &visit)
}

/// Brings a comment back.
pub(crate) async fn restore_comment(
    State(web): State<Shared>,
    Path(id): Path<String>,
    posted: Posted,
) -> Result<Response, Refused> {
    let visit = &posted.visit;
    let restored = comment_back(&web, &posted, &id).await.or_refuse(&web, visit)?;
    let there = reply::see_other(&format!("/comments/{restored}"));
    Ok(Flash::CommentRestored.leave(there, visit.cookies_secure))
}

/// Where a moderator finds an article that is not shown, if it can be restored.
pub(crate) async fn path_of_removed(web: &Web, visit: &Visit, article: ArticleId) -> Option<String> {
    let actor = visit.actor().filter(|_| visit.moderates())?;
    let found = web.site.articles.removed(actor, article).await.ok()?;
    Some(format!("/articles/{}/restore", found.article.article_id))
}

async fn show_article(web: &Web, visit: &Visit, id: &str) -> Result<Response, WebError> {
    let id: ArticleId = id.parse().map_err(|_| WebError::NotFound)?;
    let found = web.site.articles.removed(visit.actor().ok_or(WebError::NotSignedIn)?, id).await?;
    let shown = Shown {
        heading: visit.moderating_texts().removed_article,
        title: Some(&found.article.title),
        text: html! { (PreEscaped(&found.article.content_html)) },
        writer: &found.article.writer,
        removal: &found.removal,
        action: format!("/articles/{id}/restore"),
    };
    Ok(page(web, visit, &shown))
}

async fn show_comment(web: &Web, visit: &Visit, id: &str) -> Result<Response, WebError> {
    let id: CommentId = id.parse().map_err(|_| WebError::NotFound)?;
    let found = web.site.comments.removed(visit.actor().ok_or(WebError::NotSignedIn)?, id).await?;
    let shown = Shown {
        heading: visit.moderating_texts().removed_comment,
        title: None,
        // As it was typed: what is shown of a comment is rendered when it is written, and again when it is restored.
        text: html! { p.said { bdi { (found.content) } } },
        writer: &found.writer,
        removal: &found.removal,
        action: format!("/comments/{id}/restore"),
    };
    Ok(page(web, visit, &shown))
}

async fn article_back(web: &Web, posted: &Posted, id: &str) -> Result<ArticleId, WebError> {
    let id: ArticleId = id.parse().map_err(|_| WebError::NotFound)?;
    Ok(web.site.articles.restore(&posted.session()?.actor, id).await?.article_id)
}

async fn comment_back(web: &Web, posted: &Posted, id: &str) -> Result<CommentId, WebError> {
    let id: CommentId = id.parse().map_err(|_| WebError::NotFound)?;
    Ok(web.site.comments.restore(&posted.session()?.actor, id).await?.comment_id)
}

fn page(web: &Web, visit: &Visit, shown: &Shown<'_>) -> Response {
    let (t, m) = (visit.texts(), visit.moderating_texts());
    let Shown { heading, title, text, writer, removal, action } = shown;
    let main = html! {
        h1 { (heading) }
        p.notice { (m.removed_text) }
        p.facts {
            span { (m.removed_by) " " a href={ "/members/" (removal.moderator_id) } { bdi { (removal.moderator_name) } } }
            span { (web.time.whole(removal.removed_at)) }
            span { (m.removed_until) " " (web.time.whole(removal.is_final_at())) }
        }
        @if !removal.reason.is_empty() { p { strong { (m.removed_why) ":" } " " bdi { (removal.reason) } } }
        blockquote.reported {
            p.facts { a href={ "/members/" (writer.member_id) } { bdi { (writer.name) } } }
            @if let Some(title) = title { h2 { bdi { (title) } } }
            div.text { (text) }
        }
        form.write.narrow method="post" action=(action) {
            (token_field(visit))
            p.buttons {
                button.button.strong { (m.restore) }
                a href="/moderation/log" { (t.moderation_log) }
            }
        }
    };
    unlisted(web, visit, StatusCode::OK, heading, main)
}
