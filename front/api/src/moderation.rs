//! Moderation: members report, moderators settle reports and read what was done, administrators appoint moderators.

mod body;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use madang_board::{ArticleId, BoardId, CommentId, ReportId, Reported};

use self::body::{ActBody, LogBody, ModeratorList, NewReport, ReportBody, ReportList, Settlement};
use crate::ApiError;
use crate::extract::{ActQuery, Json, ModeratorPath, OptionalJson, PathId, Reader, ReportQuery, Signed};
use crate::members::MemberBody;
use crate::openapi::{Conflict, Forbidden, IdText};
use crate::reply::{self, Audience};
use crate::state::{ModerationCalls, Shared};

/// About how long a report or an act is as JSON.
const ITEM_BYTES_HINT: usize = 512;

/// Report an article to the moderators. Doing it again changes nothing.
#[utoipa::path(
    post, path = "/api/v1/articles/{article_id}/reports", operation_id = "report_article", tag = "moderation", request_body = NewReport,
    security(("bearer" = []), ("cookie" = [])),
    params(("article_id" = IdText, Path, description = "The article")),
    responses(
        (status = 201, description = "The report", body = ReportBody, headers(("Location" = String, description = "Where it is settled"))),
    ),
)]
pub(crate) async fn report_article(
    State(api): State<Shared<ModerationCalls>>,
    PathId(article): PathId<ArticleId>,
    Signed(session): Signed,
    body: Json<NewReport>,
) -> Result<Response, ApiError> {
    let report = api.report(&session.actor, Reported::Article(article), &body.value.reason).await?;
    created(report.ok_or(ApiError::NotFound("article"))?)
}

/// Report a comment to the moderators. Doing it again changes nothing.
#[utoipa::path(
    post, path = "/api/v1/comments/{comment_id}/reports", operation_id = "report_comment", tag = "moderation", request_body = NewReport,
    security(("bearer" = []), ("cookie" = [])),
    params(("comment_id" = IdText, Path, description = "The comment")),
    responses(
        (status = 201, description = "The report", body = ReportBody, headers(("Location" = String, description = "Where it is settled"))),
    ),
)]
pub(crate) async fn report_comment(
    State(api): State<Shared<ModerationCalls>>,
    PathId(comment): PathId<CommentId>,
    Signed(session): Signed,
    body: Json<NewReport>,
) -> Result<Response, ApiError> {
    let report = api.report(&session.actor, Reported::Comment(comment), &body.value.reason).await?;
    created(report.ok_or(ApiError::NotFound("comment"))?)
}

fn created(report: madang_board::Report) -> Result<Response, ApiError> {
    let location = format!("/api/v1/reports/{}/resolution", report.report_id);
    reply::created(&location, None, &ReportBody::from(report))
}

/// What was reported, newest first (moderators of the site; with `board_id` also those of the board).
#[utoipa::path(
    get, path = "/api/v1/reports", operation_id = "list_reports", tag = "moderation", security(("bearer" = []), ("cookie" = [])),
    params(
        ("open" = Option<bool>, Query, description = "False for those that are settled; open ones when left out"),
        ("board_id" = Option<IdText>, Query, description = "Only those on this board; moderators of a board must name it"),
        ("before" = Option<IdText>, Query, description = "Only reports before this one: `next` of the step before"),
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 100, description = "Reports in a step; 30 when left out"),
    ),
    responses(
        (status = 200, description = "A step of the list", body = ReportList),
        (status = 403, response = Forbidden),
    ),
)]
pub(crate) async fn reports(
    State(api): State<Shared<ModerationCalls>>,
    Signed(session): Signed,
    ReportQuery { open, board, before, size }: ReportQuery,
    reader: Reader,
) -> Result<Response, ApiError> {
    let found = api.reports(&session.actor, open, board, before, size).await?;
    let items: Vec<_> = found.items.into_iter().map(ReportBody::from).collect();
    let bytes_hint = items.len() * ITEM_BYTES_HINT;
    reply::read(&reader, Audience::Caller, &ReportList { items, next: found.next }, bytes_hint).await
}

/// Settle a report (a moderator of its board, or of the site). One that is settled stays as it is.
#[utoipa::path(
    put, path = "/api/v1/reports/{report_id}/resolution", operation_id = "resolve_report", tag = "moderation", request_body = Option<Settlement>,
    security(("bearer" = []), ("cookie" = [])),
    params(("report_id" = IdText, Path, description = "The report")),
    responses(
        (status = 200, description = "The report", body = ReportBody),
    ),
)]
pub(crate) async fn resolve(
    State(api): State<Shared<ModerationCalls>>,
    PathId(report): PathId<ReportId>,
    Signed(session): Signed,
    OptionalJson(settlement): OptionalJson<Settlement>,
) -> Result<Response, ApiError> {
    let note = settlement.and_then(|settlement| settlement.note);
    let settled = api.resolve(&session.actor, report, note.as_deref()).await?;
    reply::json(StatusCode::OK, &ReportBody::from(settled.ok_or(ApiError::NotFound("report"))?))
}

/// What moderators did, newest first (moderators of the site; with `board_id` also those of the board). No call changes it.
#[utoipa::path(
    get, path = "/api/v1/moderation/log", operation_id = "read_moderation_log", tag = "moderation",
    security(("bearer" = []), ("cookie" = [])),
    params(
        ("board_id" = Option<IdText>, Query, description = "Only those on this board; moderators of a board must name it"),
        ("before" = Option<IdText>, Query, description = "Only acts before this one: `next` of the step before"),
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 100, description = "Acts in a step; 30 when left out"),
    ),
    responses(
        (status = 200, description = "A step of the list", body = LogBody),
        (status = 403, response = Forbidden),
    ),
)]
pub(crate) async fn log(
    State(api): State<Shared<ModerationCalls>>,
    Signed(session): Signed,
    ActQuery { board, before, size }: ActQuery,
    reader: Reader,
) -> Result<Response, ApiError> {
    let found = api.log(&session.actor, board, before, size).await?;
    let items: Vec<_> = found.items.into_iter().map(ActBody::from).collect();
    let bytes_hint = items.len() * ITEM_BYTES_HINT;
    reply::read(&reader, Audience::Caller, &LogBody { items, next: found.next }, bytes_hint).await
}

/// Who moderates a board, beside the moderators of the whole site.
#[utoipa::path(
    get, path = "/api/v1/boards/{board_id}/moderators", operation_id = "list_moderators", tag = "moderation",
    params(("board_id" = IdText, Path, description = "The board")),
    responses(
        (status = 200, description = "Its moderators", body = ModeratorList),
    ),
)]
pub(crate) async fn moderators(
    State(api): State<Shared<ModerationCalls>>,
    PathId(board): PathId<BoardId>,
    reader: Reader,
) -> Result<Response, ApiError> {
    let found = api.moderators(board).await?.ok_or(ApiError::NotFound("board"))?;
    let items = found.into_iter().map(MemberBody::from).collect();
    reply::read(&reader, Audience::Everybody, &ModeratorList { items }, 0).await
}

/// Make a member moderator of a board (administrators).
#[utoipa::path(
    put, path = "/api/v1/boards/{board_id}/moderators/{member_id}", operation_id = "appoint_moderator", tag = "moderation",
    security(("bearer" = []), ("cookie" = [])),
    params(("board_id" = IdText, Path, description = "The board"), ("member_id" = IdText, Path, description = "The member")),
    responses(
        (status = 200, description = "The member, who moderates the board", body = MemberBody),
        (status = 409, response = Conflict),
    ),
)]
pub(crate) async fn appoint(
    State(api): State<Shared<ModerationCalls>>,
    ModeratorPath(board, member): ModeratorPath,
    Signed(session): Signed,
) -> Result<Response, ApiError> {
    let member = api.appoint(&session.actor, board, member).await?.ok_or(ApiError::NotFound("board"))?;
    reply::json(StatusCode::OK, &MemberBody::from(member))
}

/// Take a board from its moderator (administrators).
#[utoipa::path(
    delete, path = "/api/v1/boards/{board_id}/moderators/{member_id}", operation_id = "dismiss_moderator", tag = "moderation",
    security(("bearer" = []), ("cookie" = [])),
    params(("board_id" = IdText, Path, description = "The board"), ("member_id" = IdText, Path, description = "The member")),
    responses(
        (status = 204, description = "They do not moderate the board"),
    ),
)]
pub(crate) async fn dismiss(
    State(api): State<Shared<ModerationCalls>>,
    ModeratorPath(board, member): ModeratorPath,
    Signed(session): Signed,
) -> Result<Response, ApiError> {
    api.dismiss(&session.actor, board, member).await?.ok_or(ApiError::NotFound("board"))?;
    Ok(reply::no_content())
}
