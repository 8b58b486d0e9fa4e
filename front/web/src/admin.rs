//! Administration: the boards, and the health of the parts.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use madang_article::{ArticleError, BoardDraft, BoardWithCount, SLUG_MAX_CHARS, TITLE_MAX_CHARS};
use madang_board::{CommentMode, Role};
use maud::{Markup, html};

use crate::error::{OrRefuse as _, Refused, WebError};
use crate::form::{Line, Problems};
use crate::idempotency::{idempotency, idempotency_field};
use crate::layout::{NavEntry, Page, token_field, whole};
use crate::posted::Posted;
use crate::state::{Shared, Web};
use crate::texts::HealthTexts;
use crate::visit::Visit;
use crate::{health, reply, texts, write};

/// A board form as it is shown.
#[derive(Default)]
struct BoardForm {
    slug: String,
    title: String,
    is_tree: bool,
    problems: Problems,
}

/// The page.
pub(crate) async fn admin(State(web): State<Shared>, visit: Visit) -> Result<Response, Refused> {
    require_admin(&visit).or_refuse(&web, &visit)?;
    show(&web, &visit, StatusCode::OK, &BoardForm::default()).await
}

/// Creates a board.
pub(crate) async fn create_board(State(web): State<Shared>, posted: Posted) -> Result<Response, Refused> {
    let visit = &posted.visit;
    require_admin(visit).or_refuse(&web, visit)?;
    let is_tree = posted.fields.text("comment_mode") == "tree";
    let (slug, title) = (posted.fields.text("slug").to_owned(), posted.fields.text("title").to_owned());
    let problems = match create(&web, &posted, &slug, &title, is_tree).await {
        Ok(()) => return Ok(reply::see_other(&format!("/b/{slug}"))),
        Err(Ok(problems)) => problems,
        Err(Err(error)) => return Err(error.refuse(&web, visit)),
    };
    let form = BoardForm { slug, title, is_tree, problems };
    show(&web, visit, StatusCode::UNPROCESSABLE_ENTITY, &form).await
}

async fn create(
    web: &Web,
    posted: &Posted,
    slug: &str,
    title: &str,
    is_tree: bool,
) -> Result<(), Result<Problems, WebError>> {
    let (visit, t) = (&posted.visit, posted.visit.texts());
    let session = posted.session().map_err(|reason| Ok(write::not_yet(visit, reason)))?;
    let comment_mode = if is_tree { CommentMode::Tree } else { CommentMode::TwoLevel };
    let idempotency =
        idempotency(&session.actor, "POST /admin/boards", posted, &[slug, title, if is_tree { "tree" } else { "" }]);
    let draft = BoardDraft { slug: slug.to_owned(), title: title.to_owned(), comment_mode };
    match web.site.articles.create_board(&session.actor, draft, idempotency).await {
        Ok(_) => {
            web.boards.forget();
            Ok(())
        }
        Err(ArticleError::Invalid(invalid)) => Err(Ok(Problems::invalid(visit.preferences.lang, &invalid))),
        Err(ArticleError::SlugTaken) => Err(Ok(Problems::field("slug", t.slug_taken))),
        Err(ArticleError::KeyReused) => Err(Ok(Problems::of(t.sent_before))),
        Err(other) => Err(Err(other.into())),
    }
}

pub(crate) fn require_admin(visit: &Visit) -> Result<(), WebError> {
    match visit.actor() {
        None => Err(WebError::NotSignedIn),
        Some(actor) if actor.role < Role::Admin => Err(WebError::Forbidden),
        Some(_) => Ok(()),
    }
}

async fn show(web: &Web, visit: &Visit, status: StatusCode, form: &BoardForm) -> Result<Response, Refused> {
    let boards = web.boards.all().await.or_refuse(web, visit)?;
    let parts = web.site.readiness.parts().await;
    let t = visit.texts();
    let main = html! {
        h1 { (t.administration) }
        div.columns {
            section aria-labelledby="boards-title" {
                h2 #boards-title { (t.boards) }
                (board_table(visit, &boards))
                h3 { (t.new_board) }
                (board_form(visit, form))
                p.quiet { (t.roles_hint) }
            }
            section aria-labelledby="health-title" {
                h2 #health-title { (t.health) }
                (health::part_table(visit, &parts))
                p.more { a href=(health::ADDRESS) { (HealthTexts::in_language(visit.preferences.lang).last_day) } }
                p.more { a href="/admin/dead-letters" { (t.dead_letters) } }
            }
        }
    };
    let page = Page { title: t.administration, main, is_listed: false, nav: NavEntry::Admin, ..Page::default() };
    Ok(reply::page(visit, status, whole(web, visit, &page)))
}

fn board_table(visit: &Visit, boards: &[BoardWithCount]) -> Markup {
    let t = visit.texts();
    html! {
        ul.boards {
            @for BoardWithCount { board, article_count, archived, .. } in boards {
                li {
                    a href={ "/b/" (board.slug) } { bdi { (board.title) } }
                    a.plain href={ "/b/" (board.slug) "/manage" } aria-label={ (t.manage_board) ": " (board.title) } { (t.manage_board) }
                    span.quiet {
                        @if *archived { (t.archived) " · " }
                        "/b/" (board.slug) " · " (texts::articles(visit.preferences.lang, *article_count)) " · "
                        (match board.comment_mode { CommentMode::TwoLevel => t.two_levels, CommentMode::Tree => t.tree })
                    }
                }
            }
        }
    }
}

fn board_form(visit: &Visit, form: &BoardForm) -> Markup {
    let t = visit.texts();
    let slug = Line {
        name: "slug",
        label: t.slug,
        hint: Some(t.slug_hint),
        value: &form.slug,
        max_chars: SLUG_MAX_CHARS,
        ..Line::default()
    };
    let title =
        Line { name: "title", label: t.title, value: &form.title, max_chars: TITLE_MAX_CHARS, ..Line::default() };
    html! {
        form.write.narrow method="post" action="/admin/boards" {
            (form.problems.summary(visit))
            (token_field(visit))
            (idempotency_field())
            (slug.show(&form.problems))
            (title.show(&form.problems))
            div.field {
                label for="f-mode" { (t.comment_mode) }
                select #f-mode name="comment_mode" {
                    option value="two_level" selected[!form.is_tree] { (t.two_levels) }
                    option value="tree" selected[form.is_tree] { (t.tree) }
                }
            }
            p.buttons { button.button.strong { (t.create_board) } }
        }
    }
}
