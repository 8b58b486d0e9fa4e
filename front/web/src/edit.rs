//! Changing and deleting an article, and the page that asks before anything is deleted.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use madang_article::{Article, ArticleDraft, ArticleError, CONTENT_MAX_CHARS};
use madang_board::rules::{About, Action};
use madang_board::{ArticleId, REASON_MAX_CHARS, Reason};
use maud::{Markup, html};

use crate::error::{OrRefuse as _, Refused, WebError};
use crate::flash::Flash;
use crate::form::{Line, Problems};
use crate::layout::{token_field, unlisted};
use crate::posted::Posted;
use crate::reply;
use crate::state::{Shared, Web};
use crate::visit::Visit;
use crate::write::{ARTICLE_ROWS, TextForm, not_yet, show};

/// The form with the article in it.
pub(crate) async fn form(State(web): State<Shared>, visit: Visit, Path(id): Path<String>) -> Result<Response, Refused> {
    let found = changeable(&web, &visit, &id).await.or_refuse(&web, &visit)?;
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
    let id: ArticleId = id.parse().map_err(|_| WebError::NotFound).or_refuse(&web, visit)?;
    let (title, content) = (posted.fields.text("title"), posted.fields.lines("content"));
    let (status, problems) = match change(&web, &posted, id, title, &content).await {
        Ok(()) => return Ok(reply::see_other(&format!("/articles/{id}"))),
        Err(Ok(problem)) => problem,
        Err(Err(error)) => return Err(posted.refuse(&web, error)),
    };
    let present = web.site.articles.get(id).await.or_refuse(&web, visit)?;
    Ok(reply::page(visit, status, page(&web, visit, &present, title, &content, &problems)))
}

/// Asks before an article is deleted.
pub(crate) async fn delete_form(
    State(web): State<Shared>,
    visit: Visit,
    Path(id): Path<String>,
) -> Result<Response, Refused> {
    let found = changeable(&web, &visit, &id).await.or_refuse(&web, &visit)?;
    Ok(deletion(&visit, &found).ask(&web, &visit, StatusCode::OK, "", &Problems::default()))
}

/// Deletes an article.
pub(crate) async fn delete(
    State(web): State<Shared>,
    Path(id): Path<String>,
    posted: Posted,
) -> Result<Response, Refused> {
    let visit = &posted.visit;
    let session = posted.session().or_refuse(&web, visit)?;
    let found = changeable(&web, visit, &id).await.or_refuse(&web, visit)?;
    let reason = deletion(visit, &found).reason(&web, &posted)?;
    web.site.articles.delete(&session.actor, found.article_id, reason, None).await.or_refuse(&web, visit)?;
    let board = web.boards.by_id(found.board_id).await.ok().flatten();
    let there = reply::see_other(&board.map_or("/".to_owned(), |board| format!("/b/{}", board.board.slug)));
    Ok(Flash::ArticleDeleted.leave(there, visit.cookies_secure))
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
    let form = TextForm {
        id: "article-form",
        heading: t.edit_article,
        action: format!("{path}/edit"),
        back: path.clone(),
        title: Some(title),
        content,
        content_max_chars: CONTENT_MAX_CHARS,
        rows: ARTICLE_ROWS,
        version: Some(present.version),
        send: t.save,
        problems,
        aside: changed.then(|| html! { p.notice { a href=(path) target="_blank" { (t.see_theirs) } } }),
    };
    show(web, visit, &form)
}

fn deletion<'a>(visit: &'a Visit, found: &Article) -> Deletion<'a> {
    let (t, path) = (visit.texts(), format!("/articles/{}", found.article_id));
    Deletion {
        heading: t.delete_article,
        text: t.delete_article_text,
        quoted: html! { blockquote { bdi { (found.title) } } },
        action: format!("{path}/delete"),
        back: path,
        is_own: visit.is(found.writer.member_id),
    }
}

/// What is about to be deleted, as the page says that asks before.
pub(crate) struct Deletion<'a> {
    pub(crate) heading: &'a str,
    pub(crate) text: &'a str,
    pub(crate) quoted: Markup,
    pub(crate) action: String,
    pub(crate) back: String,
    pub(crate) is_own: bool,
}

impl Deletion<'_> {
    /// The page; with a reason where somebody else wrote it.
    pub(crate) fn ask(
        &self,
        web: &Web,
        visit: &Visit,
        status: StatusCode,
        reason: &str,
        problems: &Problems,
    ) -> Response {
        let t = visit.texts();
        let reason = Line {
            name: "reason",
            label: t.reason,
            hint: Some(t.reason_hint),
            value: reason,
            max_chars: REASON_MAX_CHARS,
            ..Line::default()
        };
        let main = html! {
            h1 { (self.heading) }
            (self.quoted)
            p { (self.text) }
            form.write.narrow method="post" action=(self.action) {
                (problems.summary(visit))
                (token_field(visit))
                @if !self.is_own { (reason.show(problems)) }
                p.buttons { button.button.danger { (t.delete) } " " a href=(self.back) { (t.cancel) } }
            }
        };
        unlisted(web, visit, status, self.heading, main)
    }

    /// The reason that a moderator gives, or the page again; people need none for what is theirs.
    pub(crate) fn reason(&self, web: &Web, posted: &Posted) -> Result<Reason, Refused> {
        let (visit, typed) = (&posted.visit, posted.fields.text("reason"));
        let given = if !self.is_own && typed.trim().is_empty() {
            Err(Problems::field("reason", visit.texts().reason_missing))
        } else {
            let reason = Reason::optional(Some(typed.trim()));
            reason.map_err(|invalid| Problems::invalid(visit.preferences.lang, &invalid))
        };
        given.map_err(|problems| self.ask(web, visit, StatusCode::UNPROCESSABLE_ENTITY, typed, &problems).into())
    }
}
