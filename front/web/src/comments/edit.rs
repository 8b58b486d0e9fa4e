//! Correcting a comment: a form of its own, as that of an article, with or without a script.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use madang_board::CommentId;
use madang_board::rules::Action;
use madang_comment::{CONTENT_MAX_CHARS, Comment, CommentError};
use maud::html;

use super::change::{changeable, page_of};
use crate::error::{OrRefuse as _, Refused, WebError};
use crate::form::Problems;
use crate::posted::Posted;
use crate::reply;
use crate::state::{Shared, Web};
use crate::visit::Visit;
use crate::write::{TextForm, not_yet, show};

/// The form with the comment in it.
pub(crate) async fn edit_form(
    State(web): State<Shared>,
    visit: Visit,
    Path(id): Path<String>,
) -> Result<Response, Refused> {
    let found = changeable(&web, &visit, &id, Action::EditComment).await.or_refuse(&web, &visit)?;
    let content = found.content.as_deref().unwrap_or_default();
    let html = page(&web, &visit, &found, content, &Problems::default());
    Ok(reply::page(&visit, StatusCode::OK, html))
}

/// Takes the change. If somebody else was faster, the form comes back and says so.
pub(crate) async fn submit_edit(
    State(web): State<Shared>,
    Path(id): Path<String>,
    posted: Posted,
) -> Result<Response, Refused> {
    let visit = &posted.visit;
    let id: CommentId = id.parse().map_err(|_| WebError::NotFound).or_refuse(&web, visit)?;
    let content = posted.fields.lines("content");
    let (status, problems) = match change(&web, &posted, id, &content).await {
        Ok(edited) => {
            let there = page_of(&web, &edited).await.or_refuse(&web, visit)?;
            return Ok(reply::see_other(&there));
        }
        Err(Ok(problem)) => problem,
        Err(Err(error)) => return Err(posted.refuse(&web, error)),
    };
    let present = web.site.comments.get(id).await.or_refuse(&web, visit)?;
    Ok(reply::page(visit, status, page(&web, visit, &present, &content, &problems)))
}

async fn change(
    web: &Web,
    posted: &Posted,
    id: CommentId,
    content: &str,
) -> Result<Comment, Result<(StatusCode, Problems), WebError>> {
    let (visit, wrong) = (&posted.visit, StatusCode::UNPROCESSABLE_ENTITY);
    let session = posted.session().map_err(|reason| Ok((wrong, not_yet(visit, reason))))?;
    let version = posted.fields.text("version").parse().ok();
    web.site.comments.edit(&session.actor, id, content.to_owned(), version).await.map_err(|error| match error {
        CommentError::Invalid(invalid) => Ok((wrong, Problems::invalid(visit.preferences.lang, &invalid))),
        CommentError::Changed => Ok((StatusCode::CONFLICT, Problems::of(visit.texts().comment_changed_meanwhile))),
        other => Err(other.into()),
    })
}

fn page(web: &Web, visit: &Visit, present: &Comment, content: &str, problems: &Problems) -> String {
    let (t, article, id) = (visit.texts(), present.article_id, present.comment_id);
    let there = format!("/articles/{article}?thread={id}#c{id}");
    let changed = problems.whole.as_deref() == Some(t.comment_changed_meanwhile);
    let aside = changed.then(|| html! { p.notice { a href=(there) target="_blank" { (t.see_their_comment) } } });
    let form = TextForm {
        id: "comment-edit",
        heading: t.edit_comment,
        action: format!("/comments/{id}/edit"),
        back: there,
        title: None,
        content,
        content_max_chars: CONTENT_MAX_CHARS,
        rows: 8,
        version: Some(present.version),
        send: t.save,
        problems,
        aside,
    };
    show(web, visit, &form)
}
