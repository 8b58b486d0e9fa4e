//! Boards: list, create, look up, change, delete, count.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use madang_article::{BoardDraft, BoardEdit, BoardWithCount, CommentMode};
use madang_board::BoardId;
use madang_kernel::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::ApiError;
use crate::extract::{IdempotencyKey, Json, PathId, Reader, Signed};
use crate::openapi::{Conflict, IdText, TimeText};
use crate::reply::{self, Audience};
use crate::state::{ArticleCalls, Shared};

/// About how long a board is as JSON.
const BOARD_BYTES_HINT: usize = 320;

/// How the comments of a board's articles are arranged.
#[derive(ToSchema)]
#[schema(as = CommentMode, rename_all = "snake_case")]
#[expect(dead_code, reason = "the description of a value that is written and read elsewhere")]
pub(crate) enum CommentModeName {
    /// Comments and replies to them, no deeper.
    TwoLevel,
    /// Replies to replies.
    Tree,
}

/// A board to create.
#[derive(Deserialize, ToSchema)]
pub(crate) struct NewBoard {
    /// Its short name in addresses, unique on the site.
    #[schema(example = "general", min_length = 2, max_length = 32, pattern = "^[a-z0-9][a-z0-9-]*$")]
    slug: String,
    /// Its name for people.
    #[schema(
        example = "General talk",
        min_length = 1,
        max_length = 100,
        pattern = r"^\s*[^\u0000-\u001f\u007f-\u009f\u2028\u2029]*[^\s\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0][^\u0000-\u001f\u007f-\u009f\u2028\u2029]*\s*$"
    )]
    title: String,
    #[schema(value_type = CommentModeName)]
    comment_mode: CommentMode,
}

/// A board as it should be.
#[derive(Deserialize, ToSchema)]
pub(crate) struct BoardChange {
    /// Its name for people.
    #[schema(
        example = "General talk",
        min_length = 1,
        max_length = 100,
        pattern = r"^\s*[^\u0000-\u001f\u007f-\u009f\u2028\u2029]*[^\s\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0][^\u0000-\u001f\u007f-\u009f\u2028\u2029]*\s*$"
    )]
    title: String,
    /// What it is about, as plain text; may be empty.
    #[schema(example = "Everything that has no board of its own", max_length = 500, pattern = r"^[^\u0000]*$")]
    description: String,
    /// Where it stands among the boards: by position, of equal ones the older first.
    #[schema(example = 10, minimum = 0, maximum = 1_000_000)]
    position: i64,
    /// Whether it can only be read.
    #[schema(example = false)]
    archived: bool,
}

/// A board.
#[derive(Serialize, ToSchema)]
#[schema(as = Board)]
pub(crate) struct BoardBody {
    #[schema(value_type = IdText)]
    board_id: BoardId,
    /// Its short name in addresses.
    #[schema(example = "general")]
    slug: String,
    /// Its name for people.
    #[schema(example = "General talk")]
    title: String,
    /// What it is about, as plain text; may be empty.
    #[schema(example = "Everything that has no board of its own")]
    description: String,
    /// Where it stands among the boards.
    #[schema(example = 10)]
    position: i32,
    /// It can be read, and nothing on it can be changed.
    #[schema(example = false)]
    archived: bool,
    #[schema(value_type = CommentModeName)]
    comment_mode: CommentMode,
    /// Articles on it now.
    #[schema(example = 1_024)]
    article_count: u64,
    #[schema(value_type = TimeText)]
    created_at: Timestamp,
    /// When the newest article came; null before the first.
    #[schema(value_type = Option<TimeText>, required = true)]
    last_activity_at: Option<Timestamp>,
}

impl From<BoardWithCount> for BoardBody {
    fn from(BoardWithCount { board, article_count, archived, last_activity_at }: BoardWithCount) -> Self {
        Self {
            description: board.description,
            position: board.position,
            archived,
            last_activity_at,
            board_id: board.board_id,
            slug: board.slug,
            title: board.title,
            comment_mode: board.comment_mode,
            article_count,
            created_at: board.created_at,
        }
    }
}

/// Every board.
#[derive(Serialize, ToSchema)]
pub(crate) struct BoardList {
    /// By position, of equal ones the oldest first.
    items: Vec<BoardBody>,
}

/// How many of something there are.
#[derive(Serialize, ToSchema)]
pub(crate) struct ItemCount {
    /// How many.
    #[schema(example = 1_024)]
    pub(crate) count: u64,
}

/// Every board by its position, of equal ones the oldest first.
#[utoipa::path(
    get, path = "/api/v1/boards", operation_id = "list_boards", tag = "boards",
    responses(
        (status = 200, description = "The boards", body = BoardList),
    ),
)]
pub(crate) async fn boards(State(api): State<Shared<ArticleCalls>>, reader: Reader) -> Result<Response, ApiError> {
    let items: Vec<_> = api.articles.boards().await?.into_iter().map(BoardBody::from).collect();
    let bytes_hint = items.len() * BOARD_BYTES_HINT;
    reply::read(&reader, Audience::Everybody, &BoardList { items }, bytes_hint).await
}

/// Create a board (administrators).
#[utoipa::path(
    post, path = "/api/v1/boards", operation_id = "create_board", tag = "boards", request_body = NewBoard,
    security(("bearer" = []), ("cookie" = [])),
    params(("Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 64, pattern = "^[!-~]{1,64}$",
        description = "The same key with the same body within 24 hours has one effect and the same answer")),
    responses(
        (status = 201, description = "The board", body = BoardBody, headers(
            ("Location" = String, description = "Where the board is"),
            ("ETag" = String, description = "Changes with the body"),
        )),
        (status = 409, response = Conflict),
    ),
)]
pub(crate) async fn create(
    State(api): State<Shared<ArticleCalls>>,
    Signed(session): Signed,
    key: IdempotencyKey,
    body: Json<NewBoard>,
) -> Result<Response, ApiError> {
    let idempotency = key.idempotency(&session.actor, || "POST /api/v1/boards".to_owned(), &body.bytes);
    let NewBoard { slug, title, comment_mode } = body.value;
    let draft = BoardDraft { slug, title, comment_mode };
    let board = BoardBody::from(api.articles.create_board(&session.actor, draft, idempotency).await?);
    reply::created(&format!("/api/v1/boards/{}", board.board_id), Some(reply::digest_tag(&board)?), &board)
}

/// One board.
#[utoipa::path(
    get, path = "/api/v1/boards/{board_id}", operation_id = "read_board", tag = "boards",
    params(
        ("board_id" = IdText, Path, description = "The board"),
        ("If-None-Match" = Option<String>, Header, description = "ETags the caller has already"),
    ),
    responses(
        (status = 200, description = "The board", body = BoardBody, headers(("ETag" = String, description = "Changes with the body"))),
        (status = 304, description = "As the caller has it"),
    ),
)]
pub(crate) async fn board(
    State(api): State<Shared<ArticleCalls>>,
    PathId(board): PathId<BoardId>,
    reader: Reader,
) -> Result<Response, ApiError> {
    let board = api.articles.board(board).await?;
    reply::digested(&reader, Audience::Everybody, &BoardBody::from(board)).await
}

/// Change a board (administrators). One that is archived can be read, and nothing on it can be changed.
#[utoipa::path(
    put, path = "/api/v1/boards/{board_id}", operation_id = "edit_board", tag = "boards", request_body = BoardChange,
    security(("bearer" = []), ("cookie" = [])),
    params(("board_id" = IdText, Path, description = "The board")),
    responses(
        (status = 200, description = "The board", body = BoardBody),
    ),
)]
pub(crate) async fn edit(
    State(api): State<Shared<ArticleCalls>>,
    PathId(board): PathId<BoardId>,
    Signed(session): Signed,
    body: Json<BoardChange>,
) -> Result<Response, ApiError> {
    let BoardChange { title, description, position, archived } = body.value;
    let edit = BoardEdit { title, description, position, archived };
    let board = api.articles.edit_board(&session.actor, board, edit).await?;
    reply::json(StatusCode::OK, &BoardBody::from(board))
}

/// Delete a board that has no articles (administrators).
#[utoipa::path(
    delete, path = "/api/v1/boards/{board_id}", operation_id = "delete_board", tag = "boards",
    security(("bearer" = []), ("cookie" = [])),
    params(("board_id" = IdText, Path, description = "The board")),
    responses(
        (status = 204, description = "It is gone"),
        (status = 409, response = Conflict),
    ),
)]
pub(crate) async fn delete(
    State(api): State<Shared<ArticleCalls>>,
    PathId(board): PathId<BoardId>,
    Signed(session): Signed,
) -> Result<Response, ApiError> {
    api.articles.delete_board(&session.actor, board).await?;
    Ok(reply::no_content())
}

/// How many articles a board has.
#[utoipa::path(
    get, path = "/api/v1/boards/{board_id}/articles/count", operation_id = "count_articles", tag = "boards",
    params(("board_id" = IdText, Path, description = "The board")),
    responses(
        (status = 200, description = "The count", body = ItemCount),
    ),
)]
pub(crate) async fn article_count(
    State(api): State<Shared<ArticleCalls>>,
    PathId(board): PathId<BoardId>,
    reader: Reader,
) -> Result<Response, ApiError> {
    let count = api.articles.board(board).await?.article_count;
    reply::read(&reader, Audience::Everybody, &ItemCount { count }, 0).await
}
