//! Writing, answering and deleting a comment, and the address of one.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use madang_article::BoardWithCount;
use madang_board::rules::{About, Action};
use madang_board::{ArticleId, CommentId};
use madang_comment::{Comment, CommentDraft, CommentError};
use maud::html;

use super::comment_list::{CommentList, ShownComment};
use super::view::{comment_form, item};
use super::{CommentForm, Discussed, STEP};
use crate::edit::Deletion;
use crate::error::{OrRefuse as _, Refused, WebError};
use crate::flash::Flash;
use crate::form::Problems;
use crate::idempotency::idempotency;
use crate::layout::{Page, whole};
use crate::posted::Posted;
use crate::state::{Shared, Web};
use crate::visit::Visit;
use crate::write::not_yet;
use crate::{article, reply, rule_texts};

/// The address of a comment: the comment alone for our script, its thread for people.
pub(crate) async fn comment(
    State(web): State<Shared>,
    visit: Visit,
    Path(id): Path<String>,
) -> Result<Response, Refused> {
    let found = find(&web, &id).await.or_refuse(&web, &visit)?;
    if visit.wants_fragment {
        let html = fragment(&web, &visit, found).await.or_refuse(&web, &visit)?;
        return Ok(reply::fragment(StatusCode::OK, html));
    }
    let (article, id) = (found.article_id, found.comment_id);
    Ok(reply::see_other(&format!("/articles/{article}?thread={id}#c{id}")))
}

/// Takes a comment. What is wrong with it comes back with what was typed.
pub(crate) async fn submit(
    State(web): State<Shared>,
    Path(id): Path<String>,
    posted: Posted,
) -> Result<Response, Refused> {
    let visit = &posted.visit;
    let Ok(id) = id.parse::<ArticleId>() else { return Err(WebError::NotFound.refuse(&web, visit)) };
    let (content, parent) = (posted.fields.lines("content"), posted.fields.text("parent").to_owned());
    let problems = match create(&web, &posted, id, &content, &parent).await {
        Ok(comment) => return done(&web, visit, comment).await.or_refuse(&web, visit),
        Err(Ok(problems)) => problems,
        Err(Err(error)) => return Err(posted.refuse(&web, error)),
    };
    let form = CommentForm { content, parent, problems };
    if visit.wants_fragment {
        let mut response = reply::fragment(StatusCode::UNPROCESSABLE_ENTITY, form.problems.line(visit));
        let text = axum::http::HeaderValue::from_static("text/plain; charset=utf-8");
        response.headers_mut().insert(axum::http::header::CONTENT_TYPE, text);
        return Ok(response);
    }
    let page = if form.parent.is_empty() {
        let shown = article::shown(&web, visit, id, None, None).await;
        shown.map(|shown| article::page(&web, visit, &shown, Some(&form)))
    } else {
        reply_page(&web, visit, &form.parent, Some(&form)).await
    };
    let page = page.or_refuse(&web, visit)?;
    Ok(reply::page(visit, StatusCode::UNPROCESSABLE_ENTITY, page))
}

/// The form for a reply on a page of its own, for those without a script.
pub(crate) async fn reply_form(
    State(web): State<Shared>,
    visit: Visit,
    Path(id): Path<String>,
) -> Result<Response, Refused> {
    visit.require_writer().or_refuse(&web, &visit)?;
    if visit.wants_fragment {
        let found = find(&web, &id).await.or_refuse(&web, &visit)?;
        return Ok(reply::fragment(StatusCode::OK, comment_form(&visit, found.article_id, &id, None).into_string()));
    }
    let page = reply_page(&web, &visit, &id, None).await.or_refuse(&web, &visit)?;
    Ok(reply::page(&visit, StatusCode::OK, page))
}

/// Asks before a comment is deleted.
pub(crate) async fn delete_form(
    State(web): State<Shared>,
    visit: Visit,
    Path(id): Path<String>,
) -> Result<Response, Refused> {
    let found = changeable(&web, &visit, &id, Action::DeleteComment).await.or_refuse(&web, &visit)?;
    Ok(deletion(&visit, &found).ask(&web, &visit, StatusCode::OK, "", &Problems::default()))
}

/// Deletes a comment.
pub(crate) async fn delete(
    State(web): State<Shared>,
    Path(id): Path<String>,
    posted: Posted,
) -> Result<Response, Refused> {
    let visit = &posted.visit;
    let session = posted.session().or_refuse(&web, visit)?;
    let found = changeable(&web, visit, &id, Action::DeleteComment).await.or_refuse(&web, visit)?;
    let reason = deletion(visit, &found).reason(&web, &posted)?;
    web.site.comments.delete(&session.actor, found.comment_id, reason, None).await.or_refuse(&web, visit)?;
    let there = reply::see_other(&format!("/articles/{}#comments", found.article_id));
    Ok(Flash::CommentDeleted.leave(there, visit.cookies_secure))
}

/// The comment, or what is wrong with the form, or why there is neither.
async fn create(
    web: &Web,
    posted: &Posted,
    article: ArticleId,
    content: &str,
    parent: &str,
) -> Result<Comment, Result<Problems, WebError>> {
    let (t, lang) = (posted.visit.texts(), posted.visit.preferences.lang);
    let session = posted.session().map_err(|reason| Ok(not_yet(&posted.visit, reason)))?;
    let parent_id = match parent {
        "" => None,
        parent => Some(parent.parse::<CommentId>().map_err(|_| Err(WebError::NotUnderstood))?),
    };
    let idempotency =
        idempotency(&session.actor, &format!("POST /articles/{article}/comments"), posted, &[content, parent]);
    let draft = CommentDraft { content: content.to_owned(), parent_id };
    web.site.comments.create(&session.actor, article, draft, idempotency).await.map_err(|error| match error {
        CommentError::Invalid(invalid) => Ok(Problems::invalid(lang, &invalid)),
        CommentError::TooDeep(refusal) => Ok(Problems::of(rule_texts::rule(lang, &refusal.to_string()))),
        CommentError::LevelFull(full) => Ok(Problems::of(rule_texts::rule(lang, &full.to_string()))),
        CommentError::KeyReused => Ok(Problems::of(t.sent_before)),
        CommentError::Archived => Ok(Problems::of(t.archived_text)),
        CommentError::Locked => Ok(Problems::of(t.locked_text)),
        other => Err(other.into()),
    })
}

/// Shows a comment that was just written: in place for our script, on the page where it stands for others.
async fn done(web: &Web, visit: &Visit, comment: Comment) -> Result<Response, WebError> {
    if visit.wants_fragment {
        return Ok(reply::fragment(StatusCode::CREATED, fragment(web, visit, comment).await?));
    }
    Ok(reply::see_other(&page_of(web, &comment).await?))
}

/// The page on which a comment stands.
pub(super) async fn page_of(web: &Web, comment: &Comment) -> Result<String, WebError> {
    let (article, id) = (comment.article_id, comment.comment_id);
    let rows = web.site.comments.count(article).await?.row_count;
    let is_on_first = rows <= u64::from(STEP.get());
    let place = if is_on_first { String::new() } else { format!("?thread={id}") };
    Ok(format!("/articles/{article}{place}#c{id}"))
}

async fn fragment(web: &Web, visit: &Visit, comment: Comment) -> Result<String, WebError> {
    let (board, locked) = board_of(web, comment.article_id).await?;
    let discussed = Discussed { board: &board, locked };
    let mut listed = CommentList::new(vec![comment], None, false, None);
    let shown = listed.items.pop().map(|shown: ShownComment| item(web, visit, &shown, discussed).into_string());
    Ok(shown.unwrap_or_default())
}

/// The board of an article, and whether the article is locked.
async fn board_of(web: &Web, article: ArticleId) -> Result<(BoardWithCount, bool), WebError> {
    let read = web.site.read.article(article).await?.ok_or(WebError::NotFound)?;
    let board = web.boards.by_id(read.text.head.board_id).await?.ok_or(WebError::NotFound)?;
    Ok((board, read.locked))
}

async fn find(web: &Web, id: &str) -> Result<Comment, WebError> {
    let id: CommentId = id.parse().map_err(|_| WebError::NotFound)?;
    Ok(web.site.comments.get(id).await?)
}

async fn reply_page(web: &Web, visit: &Visit, id: &str, form: Option<&CommentForm>) -> Result<String, WebError> {
    let found = find(web, id).await?;
    let article = found.article_id;
    let (board, locked) = board_of(web, article).await?;
    let discussed = Discussed { board: &board, locked };
    let mut listed = CommentList::new(vec![Comment { depth: 1, ..found }], None, false, None);
    let t = visit.texts();
    let main = html! {
        h1 { (t.reply_to) }
        ol.comments { @for shown in listed.items.drain(..) { (item(web, visit, &shown, discussed)) } }
        (comment_form(visit, article, id, form))
    };
    Ok(whole(web, visit, &Page { title: t.reply_to, main, is_listed: false, ..Page::default() }))
}

/// The comment, if the reader may do this to it.
pub(super) async fn changeable(web: &Web, visit: &Visit, id: &str, action: Action) -> Result<Comment, WebError> {
    let found = find(web, id).await?;
    let actor = visit.actor().ok_or(WebError::NotSignedIn)?;
    let writer = found.writer.as_ref().ok_or(WebError::NotFound)?;
    let board = board_of(web, found.article_id).await?.0.board.board_id;
    let about = About::on(board, writer.member_id == actor.member_id);
    if visit.may(action, about) { Ok(found) } else { Err(WebError::forbidden(visit)) }
}

fn deletion<'a>(visit: &'a Visit, found: &Comment) -> Deletion<'a> {
    let (t, article, id) = (visit.texts(), found.article_id, found.comment_id);
    Deletion {
        heading: t.delete_comment,
        text: t.delete_comment_text,
        quoted: html! { blockquote { bdi { (found.content.as_deref().unwrap_or_default()) } } },
        action: format!("/comments/{id}/delete"),
        back: format!("/articles/{article}#c{id}"),
        is_own: found.writer.as_ref().is_some_and(|writer| visit.is(writer.member_id)),
    }
}
