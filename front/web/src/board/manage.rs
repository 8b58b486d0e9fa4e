//! What administrators do about a board: change it, archive it, delete it, and say who looks after it.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use madang_article::{ArticleError, BoardEdit, BoardWithCount, DESCRIPTION_MAX_CHARS, TITLE_MAX_CHARS};
use madang_board::MemberId;
use madang_member::{Member, MemberError, NAME_MAX_CHARS};
use maud::{Markup, html};

use crate::admin::require_admin;
use crate::error::{OrRefuse as _, Refused, WebError};
use crate::flash::Flash;
use crate::form::{Area, Line, Problems, tick};
use crate::layout::{NavEntry, Page, token_field, whole};
use crate::posted::Posted;
use crate::reply;
use crate::state::{Shared, Web};
use crate::visit::Visit;

/// Digits of the greatest position.
const POSITION_CHARS_MAX: usize = 7;

/// The form as it is shown.
struct BoardForm {
    title: String,
    description: String,
    position: String,
    archived: bool,
    problems: Problems,
}

impl BoardForm {
    fn of(found: &BoardWithCount) -> Self {
        Self {
            title: found.board.title.clone(),
            description: found.board.description.clone(),
            position: found.board.position.to_string(),
            archived: found.archived,
            problems: Problems::default(),
        }
    }
}

/// The page.
pub(crate) async fn manage(
    State(web): State<Shared>,
    visit: Visit,
    Path(slug): Path<String>,
) -> Result<Response, Refused> {
    let board = board(&web, &visit, &slug).await.or_refuse(&web, &visit)?;
    let form = BoardForm::of(&board);
    show(&web, &visit, StatusCode::OK, &board, &form, &Problems::default()).await.or_refuse(&web, &visit)
}

/// Changes the board.
pub(crate) async fn edit(
    State(web): State<Shared>,
    Path(slug): Path<String>,
    posted: Posted,
) -> Result<Response, Refused> {
    let visit = &posted.visit;
    let found = board(&web, visit, &slug).await.or_refuse(&web, visit)?;
    let actor = &posted.session().or_refuse(&web, visit)?.actor;
    let fields = &posted.fields;
    let form = BoardForm {
        title: fields.text("title").to_owned(),
        description: fields.lines("description"),
        position: fields.text("position").trim().to_owned(),
        archived: fields.text("archived") == "yes",
        problems: Problems::default(),
    };
    let edit = BoardEdit {
        title: form.title.clone(),
        description: form.description.clone(),
        // What is no number is out of range, and told as that.
        position: form.position.parse().unwrap_or(-1),
        archived: form.archived,
    };
    match web.site.articles.edit_board(actor, found.board.board_id, edit).await {
        Ok(_) => {
            web.boards.forget();
            let there = reply::see_other(&format!("/b/{slug}/manage"));
            Ok(Flash::BoardSaved.leave(there, visit.cookies_secure))
        }
        Err(ArticleError::Invalid(invalid)) => {
            let form = BoardForm { problems: Problems::invalid(visit.preferences.lang, &invalid), ..form };
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            show(&web, visit, status, &found, &form, &Problems::default()).await.or_refuse(&web, visit)
        }
        Err(other) => Err(other).or_refuse(&web, visit),
    }
}

/// Deletes the board, if nothing is on it.
pub(crate) async fn delete(
    State(web): State<Shared>,
    Path(slug): Path<String>,
    posted: Posted,
) -> Result<Response, Refused> {
    let visit = &posted.visit;
    let found = board(&web, visit, &slug).await.or_refuse(&web, visit)?;
    let actor = &posted.session().or_refuse(&web, visit)?.actor;
    match web.site.articles.delete_board(actor, found.board.board_id).await {
        Ok(()) => {
            web.boards.forget();
            Ok(Flash::BoardDeleted.leave(reply::see_other("/admin"), visit.cookies_secure))
        }
        Err(ArticleError::HasArticles) => {
            let mut form = BoardForm::of(&found);
            form.problems = Problems::of(visit.texts().board_has_articles);
            let status = StatusCode::CONFLICT;
            show(&web, visit, status, &found, &form, &Problems::default()).await.or_refuse(&web, visit)
        }
        Err(other) => Err(other).or_refuse(&web, visit),
    }
}

/// Makes somebody moderator of the board by their name, or takes it from them.
pub(crate) async fn moderators(
    State(web): State<Shared>,
    Path(slug): Path<String>,
    posted: Posted,
) -> Result<Response, Refused> {
    let visit = &posted.visit;
    let found = board(&web, visit, &slug).await.or_refuse(&web, visit)?;
    match change_moderators(&web, &posted, &found).await {
        Ok(()) => Ok(reply::see_other(&format!("/b/{slug}/manage#moderators"))),
        Err(Ok(problems)) => {
            let (status, form) = (StatusCode::UNPROCESSABLE_ENTITY, BoardForm::of(&found));
            show(&web, visit, status, &found, &form, &problems).await.or_refuse(&web, visit)
        }
        Err(Err(error)) => Err(error.refuse(&web, visit)),
    }
}

async fn change_moderators(
    web: &Web,
    posted: &Posted,
    found: &BoardWithCount,
) -> Result<(), Result<Problems, WebError>> {
    let t = posted.visit.texts();
    let actor = &posted.session().map_err(|reason| Err(reason.into()))?.actor;
    let (board, moderation) = (found.board.board_id, &web.site.moderation);
    let away = |error: MemberError| Err(WebError::from(error));
    let changed = match posted.fields.text("dismiss") {
        "" => {
            let member = web.site.members.find_by_name(posted.fields.text("name")).await.map_err(away)?;
            let member = member.ok_or_else(|| Ok(Problems::field("name", t.no_such_member)))?;
            moderation.appoint(actor, board, member.member_id).await
        }
        member => {
            let member: MemberId = member.parse().map_err(|_| Err(WebError::NotUnderstood))?;
            moderation.dismiss(actor, board, member).await
        }
    };
    match changed {
        Ok(Some(_)) => Ok(()),
        Ok(None) => Err(Err(WebError::NotFound)),
        Err(MemberError::TooManyBoards) => Err(Ok(Problems::field("name", t.too_many_boards))),
        Err(error) => Err(Err(error.into())),
    }
}

/// The board as it is at this moment, for an administrator.
async fn board(web: &Web, visit: &Visit, slug: &str) -> Result<BoardWithCount, WebError> {
    require_admin(visit)?;
    let found = web.boards.by_slug(slug).await?.ok_or(WebError::NotFound)?;
    Ok(web.site.articles.board(found.board.board_id).await?)
}

async fn show(
    web: &Web,
    visit: &Visit,
    status: StatusCode,
    found: &BoardWithCount,
    form: &BoardForm,
    about_moderators: &Problems,
) -> Result<Response, WebError> {
    let t = visit.texts();
    let board = found.board.board_id;
    let moderators = web.site.moderation.moderators(board).await?.ok_or(WebError::NotFound)?;
    let slug = &found.board.slug;
    let main = html! {
        p.crumb { a href={ "/b/" (slug) } { bdi { (found.board.title) } } }
        h1 { (t.manage_board_title) }
        (board_form(visit, slug, form))
        section #moderators aria-labelledby="moderators-title" {
            h2 #moderators-title { (t.moderators) }
            (moderator_list(visit, slug, &moderators))
            (appoint_form(visit, slug, about_moderators))
        }
        section aria-labelledby="delete-title" {
            h2 #delete-title { (t.delete_board) }
            @if found.article_count > 0 { p.quiet { (t.board_has_articles) } }
            @else {
                p.quiet { (t.delete_board_text) }
                form method="post" action={ "/b/" (slug) "/delete" } {
                    (token_field(visit))
                    button.button.danger { (t.delete_board) }
                }
            }
        }
        p.more { a href="/admin" { "« " (t.administration) } }
    };
    let page = Page { title: t.manage_board_title, main, is_listed: false, nav: NavEntry::Admin, ..Page::default() };
    Ok(reply::page(visit, status, whole(web, visit, &page)))
}

fn board_form(visit: &Visit, slug: &str, form: &BoardForm) -> Markup {
    let t = visit.texts();
    let title =
        Line { name: "title", label: t.title, value: &form.title, max_chars: TITLE_MAX_CHARS, ..Line::default() };
    let description = Area {
        name: "description",
        label: t.description,
        value: &form.description,
        rows: 3,
        max_chars: DESCRIPTION_MAX_CHARS,
        hint: Some(t.description_hint),
        is_required: false,
    };
    let position = Line {
        name: "position",
        label: t.position,
        hint: Some(t.position_hint),
        value: &form.position,
        max_chars: POSITION_CHARS_MAX,
        ..Line::default()
    };
    html! {
        form.write.narrow method="post" action={ "/b/" (slug) "/manage" } {
            (form.problems.summary(visit))
            (token_field(visit))
            (title.show(&form.problems))
            (description.show(&form.problems))
            (position.show(&form.problems))
            (tick("archived", t.archive, form.archived))
            p.buttons { button.button.strong { (t.save) } }
        }
    }
}

fn moderator_list(visit: &Visit, slug: &str, moderators: &[Member]) -> Markup {
    let t = visit.texts();
    html! {
        @if moderators.is_empty() { p.empty { (t.no_moderators) } }
        ul.boards {
            @for member in moderators {
                li {
                    a href={ "/members/" (member.member_id) } { bdi { (member.name) } }
                    form method="post" action={ "/b/" (slug) "/moderators" } {
                        (token_field(visit))
                        button.link name="dismiss" value=(member.member_id) aria-label={ (t.dismiss) ": " (member.name) } {
                            (t.dismiss)
                        }
                    }
                }
            }
        }
    }
}

fn appoint_form(visit: &Visit, slug: &str, problems: &Problems) -> Markup {
    let t = visit.texts();
    let name = Line { name: "name", label: t.name, max_chars: NAME_MAX_CHARS, ..Line::default() };
    html! {
        form.write.narrow method="post" action={ "/b/" (slug) "/moderators" } {
            (problems.summary(visit))
            (token_field(visit))
            (name.show(problems))
            p.buttons { button.button { (t.appoint) } }
        }
    }
}
