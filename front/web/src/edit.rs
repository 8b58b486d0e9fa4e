//! Changing and deleting an article, and the page that asks before anything is deleted.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use madang_article::{Article, ArticleDraft, ArticleError};
use madang_board::rules::{About, Action};
use madang_board::{ArticleId, REASON_MAX_CHARS, Reason};
use maud::{Markup, html};

use crate::error::{Refused, WebError};
use crate::form::{Line, Problems};
use crate::layout::{Page, token_field, whole};
use crate::posted::Posted;
use crate::reply;
use crate::state::{Shared, Web};
use crate::visit::Visit;
use crate::write::{ArticleForm, not_yet, show};

/// The form with the article in it.
pub(crate) async fn form(State(web): State<Shared>, visit: Visit, Path(id): Path<String>) -> Result<Response, Refused> {
    let found = changeable(&web, &visit, &id).await.map_err(|error| error.refuse(&web, &visit))?;
    let html = page(&web, &visit, &found, &found.title, &found.content, &Problems::default());
    Ok(reply::page(&visit, StatusCode::OK, html))
}

/// Takes the change. If somebody else was faster, the form comes back and says so.
pub(crate) async fn submit(
    State(web): State<Shared>,
    Path(id): Path<String>,
    posted: Posted,
) -> Result<Response, Refused> {
    let visit = &posted.visit;
    let refuse = |error: WebError| error.refuse(&web, visit);
    let id: ArticleId = id.parse().map_err(|_| refuse(WebError::NotFound))?;
    let (title, content) = (posted.fields.text("title"), posted.fields.lines("content"));
    let (status, problems) = match change(&web, &posted, id, title, &content).await {
        Ok(()) => return Ok(reply::see_other(&format!("/articles/{id}"))),
        Err(Ok(problem)) => problem,
        Err(Err(error)) => return Err(refuse(error)),
    };
    let present = web.site.articles.get(id).await.map_err(|error| refuse(error.into()))?;
    Ok(reply::page(visit, status, page(&web, visit, &present, title, &content, &problems)))
}

/// LenientQuery before an article is deleted.
pub(crate) async fn delete_form(
    State(web): State<Shared>,
    visit: Visit,
    Path(id): Path<String>,
) -> Result<Response, Refused> {
    let found = changeable(&web, &visit, &id).await.map_err(|error| error.refuse(&web, &visit))?;
    Ok(show_delete(&web, &visit, &found, StatusCode::OK, "", &Problems::default()))
}

/// Deletes an article.
pub(crate) async fn delete(
    State(web): State<Shared>,
    Path(id): Path<String>,
    posted: Posted,
) -> Result<Response, Refused> {
    let visit = &posted.visit;
    let refuse = |error: WebError| error.refuse(&web, visit);
    let session = posted.session().map_err(|not_yet| refuse(not_yet.into()))?;
    let found = changeable(&web, visit, &id).await.map_err(refuse)?;
    let is_own = visit.is(found.writer.member_id);
    let reason = match given_reason(&posted, is_own) {
        Ok(reason) => reason,
        Err(problems) => {
            let typed = posted.fields.text("reason");
            return Ok(show_delete(&web, visit, &found, StatusCode::UNPROCESSABLE_ENTITY, typed, &problems));
        }
    };
    let deleted = web.site.articles.delete(&session.actor, found.article_id, reason).await;
    deleted.map_err(|error| refuse(error.into()))?;
    let board = web.boards.by_id(found.board_id).await.ok().flatten();
    Ok(reply::see_other(&board.map_or("/".to_owned(), |board| format!("/b/{}", board.board.slug))))
}

async fn change(
    web: &Web,
    posted: &Posted,
    id: ArticleId,
    title: &str,
    content: &str,
) -> Result<(), Result<(StatusCode, Problems), WebError>> {
    let (visit, wrong) = (&posted.visit, StatusCode::UNPROCESSABLE_ENTITY);
    let session = posted.session().map_err(|reason| Ok((wrong, not_yet(visit, reason))))?;
    let version = posted.fields.text("version").parse().ok();
    let draft = ArticleDraft { title: title.to_owned(), content: content.to_owned() };
    match web.site.articles.edit(&session.actor, id, draft, version).await {
        Ok(_) => Ok(()),
        Err(ArticleError::Invalid(invalid)) => Err(Ok((wrong, Problems::invalid(visit.preferences.lang, &invalid)))),
        Err(ArticleError::Changed) => Err(Ok((StatusCode::CONFLICT, Problems::of(visit.texts().changed_meanwhile)))),
        Err(other) => Err(Err(other.into())),
    }
}

/// The article as its owner has it, if the reader may change it.
async fn changeable(web: &Web, visit: &Visit, id: &str) -> Result<Article, WebError> {
    let id: ArticleId = id.parse().map_err(|_| WebError::NotFound)?;
    let found = web.site.articles.get(id).await?;
    let actor = visit.actor().ok_or(WebError::NotSignedIn)?;
    let about = About::on(found.board_id, found.writer.member_id == actor.member_id);
    if visit.may(Action::EditArticle, about) { Ok(found) } else { Err(WebError::forbidden(visit)) }
}

fn page(web: &Web, visit: &Visit, present: &Article, title: &str, content: &str, problems: &Problems) -> String {
    let t = visit.texts();
    let path = format!("/articles/{}", present.article_id);
    let changed = problems.whole.as_deref() == Some(t.changed_meanwhile);
    let form = ArticleForm {
        heading: t.edit_article,
        action: format!("{path}/edit"),
        back: path.clone(),
        title,
        content,
        version: Some(present.version),
        send: t.save,
        problems,
        aside: changed.then(|| html! { p.notice { a href=(path) target="_blank" { (t.see_theirs) } } }),
    };
    show(web, visit, &form)
}

fn show_delete(
    web: &Web,
    visit: &Visit,
    found: &Article,
    status: StatusCode,
    reason: &str,
    problems: &Problems,
) -> Response {
    let t = visit.texts();
    let is_own = visit.is(found.writer.member_id);
    let quoted = html! { blockquote { bdi { (found.title) } } };
    let path = format!("/articles/{}", found.article_id);
    let texts = (t.delete_article, t.delete_article_text);
    let asked = (!is_own).then_some(reason);
    reply::page(
        visit,
        status,
        delete_page(web, visit, texts, &quoted, &format!("{path}/delete"), &path, asked, problems),
    )
}

/// The reason that a moderator gives; people need none for what is theirs.
pub(crate) fn given_reason(posted: &Posted, is_own: bool) -> Result<Reason, Problems> {
    let (t, reason) = (posted.visit.texts(), posted.fields.text("reason").trim());
    if !is_own && reason.is_empty() {
        return Err(Problems::field("reason", t.reason_missing));
    }
    Reason::optional(Some(reason)).map_err(|invalid| Problems::invalid(posted.visit.preferences.lang, &invalid))
}

/// The page that asks before something is deleted; with a reason where somebody else wrote it.
#[expect(clippy::too_many_arguments, reason = "one page with everything that differs between its two uses")]
pub(crate) fn delete_page(
    web: &Web,
    visit: &Visit,
    (heading, text): (&str, &str),
    quoted: &Markup,
    action: &str,
    back: &str,
    reason: Option<&str>,
    problems: &Problems,
) -> String {
    let t = visit.texts();
    let main = html! {
        h1 { (heading) }
        (quoted)
        p { (text) }
        form.write.narrow method="post" action=(action) {
            (problems.summary(visit))
            (token_field(visit))
            @if let Some(value) = reason {
                (Line { name: "reason", label: t.reason, hint: Some(t.reason_hint), value, max_chars: REASON_MAX_CHARS,
                    ..Line::default() }.show(problems))
            }
            p.buttons { button.button.danger { (t.delete) } " " a href=(back) { (t.cancel) } }
        }
    };
    whole(web, visit, &Page { title: heading, main, is_listed: false, ..Page::default() })
}
