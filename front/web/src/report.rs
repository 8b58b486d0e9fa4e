//! Reporting an article or a comment to the moderators.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use madang_board::{ArticleId, CommentId, REASON_MAX_CHARS, Reported};
use madang_member::MemberError;
use maud::{Markup, html};

use crate::error::{OrRefuse as _, Refused, WebError};
use crate::form::{Problems, area};
use crate::layout::{token_field, unlisted};
use crate::posted::Posted;
use crate::state::{Shared, Web};
use crate::visit::Visit;
use crate::write::not_yet;

/// What is reported, as the form shows it.
struct Subject {
    reported: Reported,
    /// Where it is.
    path: String,
    /// Its title, or its text.
    quoted: Markup,
}

/// The form for an article.
pub(crate) async fn article_form(
    State(web): State<Shared>,
    visit: Visit,
    Path(id): Path<String>,
) -> Result<Response, Refused> {
    form(&web, &visit, of_article(&web, &id).await).or_refuse(&web, &visit)
}

/// The form for a comment.
pub(crate) async fn comment_form(
    State(web): State<Shared>,
    visit: Visit,
    Path(id): Path<String>,
) -> Result<Response, Refused> {
    form(&web, &visit, of_comment(&web, &id).await).or_refuse(&web, &visit)
}

/// Reports an article.
pub(crate) async fn article(
    State(web): State<Shared>,
    Path(id): Path<String>,
    posted: Posted,
) -> Result<Response, Refused> {
    submit(&web, &posted, of_article(&web, &id).await).await
}

/// Reports a comment.
pub(crate) async fn comment(
    State(web): State<Shared>,
    Path(id): Path<String>,
    posted: Posted,
) -> Result<Response, Refused> {
    submit(&web, &posted, of_comment(&web, &id).await).await
}

async fn of_article(web: &Web, id: &str) -> Result<Subject, WebError> {
    let id: ArticleId = id.parse().map_err(|_| WebError::NotFound)?;
    let found = web.site.read.article(id).await?.ok_or(WebError::NotFound)?;
    let quoted = html! { blockquote { bdi { (found.text.head.title) } } };
    Ok(Subject { reported: Reported::Article(id), path: format!("/articles/{id}"), quoted })
}

async fn of_comment(web: &Web, id: &str) -> Result<Subject, WebError> {
    let id: CommentId = id.parse().map_err(|_| WebError::NotFound)?;
    let found = web.site.comments.get(id).await?;
    let content = found.content.ok_or(WebError::NotFound)?;
    let quoted = html! { blockquote { bdi { (content) } } };
    Ok(Subject { reported: Reported::Comment(id), path: format!("/comments/{id}"), quoted })
}

fn form(web: &Web, visit: &Visit, subject: Result<Subject, WebError>) -> Result<Response, WebError> {
    visit.require_writer()?;
    let subject = subject?;
    Ok(ask(web, visit, StatusCode::OK, &subject, "", &Problems::default()))
}

async fn submit(web: &Web, posted: &Posted, subject: Result<Subject, WebError>) -> Result<Response, Refused> {
    let visit = &posted.visit;
    let subject = subject.or_refuse(web, visit)?;
    let reason = posted.fields.lines("reason");
    let session = match posted.session() {
        Ok(session) => session,
        Err(error) => {
            let problems = not_yet(visit, error);
            return Ok(ask(web, visit, StatusCode::UNPROCESSABLE_ENTITY, &subject, &reason, &problems));
        }
    };
    match web.site.moderation.report(&session.actor, subject.reported, &reason).await {
        Ok(Some(_)) => Ok(thank(web, visit, &subject)),
        Ok(None) => Err(WebError::NotFound.refuse(web, visit)),
        Err(MemberError::Invalid(invalid)) => {
            let problems = Problems::invalid(visit.preferences.lang, &invalid);
            Ok(ask(web, visit, StatusCode::UNPROCESSABLE_ENTITY, &subject, &reason, &problems))
        }
        Err(error) => Err(error).or_refuse(web, visit),
    }
}

fn ask(web: &Web, visit: &Visit, status: StatusCode, subject: &Subject, reason: &str, problems: &Problems) -> Response {
    let t = visit.texts();
    let rest = html! {
        p.lead { (t.report_text) }
        form.write method="post" action={ (subject.path) "/report" } {
            (problems.summary(visit))
            (token_field(visit))
            (area("reason", t.report_hint, reason, 3, REASON_MAX_CHARS, problems))
            p.buttons { button.button.strong { (t.report) } " " a href=(subject.path) { (t.cancel) } }
        }
    };
    show(web, visit, status, subject, &rest)
}

fn thank(web: &Web, visit: &Visit, subject: &Subject) -> Response {
    let t = visit.texts();
    let rest = html! {
        p.notice role="status" { (t.reported) }
        p { a href=(subject.path) { (t.back_to_reported) } }
    };
    show(web, visit, StatusCode::CREATED, subject, &rest)
}

fn show(web: &Web, visit: &Visit, status: StatusCode, subject: &Subject, rest: &Markup) -> Response {
    let t = visit.texts();
    let title = match subject.reported {
        Reported::Article(_) => t.report_article,
        Reported::Comment(_) => t.report_comment,
    };
    let main = html! { h1 { (title) } (subject.quoted) (rest) };
    unlisted(web, visit, status, title, main)
}
