//! Writing an article: the form, its live preview, and what becomes of it.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use madang_article::markdown::Markdown;
use madang_article::{ArticleDraft, ArticleError, BoardWithCount, CONTENT_MAX_CHARS, Content, TITLE_MAX_CHARS};
use madang_board::TextRenderer as _;
use maud::{Markup, html};

use crate::error::{OrRefuse as _, Refused, WebError};
use crate::form::{Line, Problems, area};
use crate::idempotency::{idempotency, idempotency_field};
use crate::layout::{Page, draft_name, token_field, whole};
use crate::posted::{FormSessionError, Posted};
use crate::reply;
use crate::state::{Shared, Web};
use crate::visit::Visit;

/// Lines of the field for the text of an article.
pub(crate) const ARTICLE_ROWS: u32 = 14;

/// The form of an article or a comment as it is shown, on a page of its own with a preview.
pub(crate) struct TextForm<'a> {
    pub(crate) id: &'a str,
    pub(crate) heading: &'a str,
    pub(crate) action: String,
    pub(crate) back: String,
    /// The headline of an article; none for a comment.
    pub(crate) title: Option<&'a str>,
    pub(crate) content: &'a str,
    pub(crate) content_max_chars: usize,
    /// Lines of the field that the content is typed into.
    pub(crate) rows: u32,
    /// The version that is edited; none for a new article.
    pub(crate) version: Option<u64>,
    pub(crate) send: &'a str,
    pub(crate) problems: &'a Problems,
    /// Something to say beside the problems.
    pub(crate) aside: Option<Markup>,
}

/// The empty form.
pub(crate) async fn form(
    State(web): State<Shared>,
    visit: Visit,
    Path(slug): Path<String>,
) -> Result<Response, Refused> {
    let board = board(&web, &slug).await.or_refuse(&web, &visit)?;
    visit.require_writer().or_refuse(&web, &visit)?;
    if board.archived {
        return Err(WebError::Archived.refuse(&web, &visit));
    }
    let html = page(&web, &visit, &board, "", "", &Problems::default());
    Ok(reply::page(&visit, StatusCode::OK, html))
}

/// Takes an article. What is wrong with it comes back with what was typed.
pub(crate) async fn submit(
    State(web): State<Shared>,
    Path(slug): Path<String>,
    posted: Posted,
) -> Result<Response, Refused> {
    let visit = &posted.visit;
    let board = board(&web, &slug).await.or_refuse(&web, visit)?;
    let (title, content) = (posted.fields.text("title"), posted.fields.lines("content"));
    let problems = match create(&web, &posted, &board, title, &content).await {
        Ok(path) => return Ok(reply::see_other(&path)),
        Err(Ok(problems)) => problems,
        Err(Err(error)) => return Err(posted.refuse(&web, error)),
    };
    let html = page(&web, visit, &board, title, &content, &problems);
    Ok(reply::page(visit, StatusCode::UNPROCESSABLE_ENTITY, html))
}

/// What a text will look like, for our script.
pub(crate) async fn preview(State(web): State<Shared>, posted: Posted) -> Result<Response, Refused> {
    if let Err(not_yet) = posted.session() {
        return Err(WebError::from(not_yet).refuse(&web, &posted.visit));
    }
    let html = match Content::new(posted.fields.lines("content")) {
        Ok(content) => Markdown.html(content.as_str()).await,
        Err(_) => String::new(),
    };
    Ok(reply::fragment(StatusCode::OK, html))
}

/// What a form that came too early or from elsewhere is told.
pub(crate) fn not_yet(visit: &Visit, not_yet: FormSessionError) -> Problems {
    let t = visit.texts();
    Problems::of(match not_yet {
        FormSessionError::NotSignedIn => t.session_ended,
        FormSessionError::OtherSession => t.other_session,
    })
}

async fn create(
    web: &Web,
    posted: &Posted,
    board: &BoardWithCount,
    title: &str,
    content: &str,
) -> Result<String, Result<Problems, WebError>> {
    let visit = &posted.visit;
    let session = posted.session().map_err(|reason| Ok(not_yet(visit, reason)))?;
    let scope = format!("POST /b/{}/write", board.board.slug);
    let idempotency = idempotency(&session.actor, &scope, posted, &[title, content]);
    let draft = ArticleDraft { title: title.to_owned(), content: content.to_owned() };
    let written = web.site.articles.create(&session.actor, board.board.board_id, draft, idempotency).await;
    written.map(|article| format!("/articles/{}", article.article_id)).map_err(|error| match error {
        ArticleError::Invalid(invalid) => Ok(Problems::invalid(visit.preferences.lang, &invalid)),
        ArticleError::KeyReused => Ok(Problems::of(visit.texts().sent_before)),
        // What was typed comes back: it may be for another board.
        ArticleError::Archived => Ok(Problems::of(visit.texts().archived_text)),
        other => Err(other.into()),
    })
}

async fn board(web: &Web, slug: &str) -> Result<BoardWithCount, WebError> {
    web.boards.by_slug(slug).await?.ok_or(WebError::NotFound)
}

fn page(web: &Web, visit: &Visit, board: &BoardWithCount, title: &str, content: &str, problems: &Problems) -> String {
    let (t, slug) = (visit.texts(), &board.board.slug);
    let form = TextForm {
        id: "article-form",
        heading: t.write_article,
        action: format!("/b/{slug}/write"),
        back: format!("/b/{slug}"),
        title: Some(title),
        content,
        content_max_chars: CONTENT_MAX_CHARS,
        rows: ARTICLE_ROWS,
        version: None,
        send: t.publish,
        problems,
        aside: Some(html! { p.crumb { a href={ "/b/" (slug) } { bdi { (board.board.title) } } } }),
    };
    show(web, visit, &form)
}

/// The page with the form, for writing and for editing.
pub(crate) fn show(web: &Web, visit: &Visit, form: &TextForm<'_>) -> String {
    let t = visit.texts();
    let title = form.title.map(|value| Line {
        name: "title",
        label: t.title,
        value,
        max_chars: TITLE_MAX_CHARS,
        ..Line::default()
    });
    let main = html! {
        @if let Some(aside) = &form.aside { (aside) }
        h1 { (form.heading) }
        form.write #(form.id) method="post" action=(form.action) data-preview="/preview"
            data-draft=[draft_name(visit, &form.action)] {
            (form.problems.summary(visit))
            p.notice #draft-notice hidden { (t.draft_restored) " " button.link type="button" { (t.draft_discard) } }
            (token_field(visit))
            (idempotency_field())
            @if let Some(version) = form.version { input type="hidden" name="version" value=(version); }
            @if let Some(title) = title { (title.show(form.problems)) }
            div.beside {
                (area("content", t.text, form.content, form.rows, form.content_max_chars, form.problems))
                section.preview #preview aria-label=(t.preview) hidden {
                    p.label aria-hidden="true" { (t.preview) }
                    div.text data-empty=(t.preview_empty) {}
                }
            }
            p.hint { (t.markdown_hint) }
            p.buttons { button.button.strong { (form.send) } " " a href=(form.back) { (t.cancel) } }
        }
    };
    whole(web, visit, &Page { title: form.heading, main, is_listed: false, ..Page::default() })
}
