//! Likes: give, take back, look, list.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use madang_board::{ArticleId, MemberId};
use madang_kernel::Timestamp;
use madang_like::{LikeState, Liker};
use serde::Serialize;
use utoipa::ToSchema;

use crate::ApiError;
use crate::extract::{PathId, Reader, ScrollQuery, Signed, Visitor};
use crate::named_member::NamedMember;
use crate::openapi::{Conflict, IdText, TimeText};
use crate::reply::{self, Audience};
use crate::state::{LikeCalls, Shared};

/// About how long a member in the list is, as JSON.
const LIKER_BYTES_HINT: usize = 128;

/// How an article stands with who asks.
#[derive(Serialize, ToSchema)]
#[schema(as = LikeState)]
pub(crate) struct LikeBody {
    /// Whether the member who asks likes it; false for guests.
    #[schema(example = true)]
    liked: bool,
    /// Members who like it.
    #[schema(example = 12)]
    like_count: u64,
}

impl From<LikeState> for LikeBody {
    fn from(LikeState { liked, like_count }: LikeState) -> Self {
        Self { liked, like_count }
    }
}

/// Somebody who likes an article.
#[derive(Serialize, ToSchema)]
#[schema(as = Liker)]
pub(crate) struct LikerBody {
    member: NamedMember,
    #[schema(value_type = TimeText)]
    created_at: Timestamp,
}

impl From<Liker> for LikerBody {
    fn from(Liker { member, created_at }: Liker) -> Self {
        Self { member: member.into(), created_at }
    }
}

/// One step of the list of those who like an article.
#[derive(Serialize, ToSchema)]
pub(crate) struct LikerList {
    /// By member id.
    items: Vec<LikerBody>,
    /// Goes into `after` of the next step; null at the end.
    #[schema(value_type = Option<IdText>, required = true)]
    next: Option<MemberId>,
}

/// Like an article. Again: nothing changes.
#[utoipa::path(
    put, path = "/api/v1/articles/{article_id}/like", operation_id = "like_article", tag = "likes",
    security(("bearer" = []), ("cookie" = [])),
    params(("article_id" = IdText, Path, description = "The article")),
    responses(
        (status = 200, description = "How it stands now", body = LikeBody),
        (status = 409, response = Conflict),
    ),
)]
pub(crate) async fn like(
    State(api): State<Shared<LikeCalls>>,
    PathId(article): PathId<ArticleId>,
    Signed(session): Signed,
) -> Result<Response, ApiError> {
    let answer = api.like(&session.actor, article).await?;
    reply::json(StatusCode::OK, &LikeBody::from(answer.state))
}

/// Take a like back. Again: nothing changes.
#[utoipa::path(
    delete, path = "/api/v1/articles/{article_id}/like", operation_id = "unlike_article", tag = "likes",
    security(("bearer" = []), ("cookie" = [])),
    params(("article_id" = IdText, Path, description = "The article")),
    responses(
        (status = 200, description = "How it stands now", body = LikeBody),
        (status = 409, response = Conflict),
    ),
)]
pub(crate) async fn unlike(
    State(api): State<Shared<LikeCalls>>,
    PathId(article): PathId<ArticleId>,
    Signed(session): Signed,
) -> Result<Response, ApiError> {
    let answer = api.unlike(&session.actor, article).await?;
    reply::json(StatusCode::OK, &LikeBody::from(answer.state))
}

/// Whether the member who asks likes an article, and how many do. Guests may ask.
#[utoipa::path(
    get, path = "/api/v1/articles/{article_id}/like", operation_id = "read_like", tag = "likes",
    security((), ("bearer" = []), ("cookie" = [])),
    params(("article_id" = IdText, Path, description = "The article")),
    responses(
        (status = 200, description = "How it stands", body = LikeBody),
    ),
)]
pub(crate) async fn state(
    State(api): State<Shared<LikeCalls>>,
    PathId(article): PathId<ArticleId>,
    Visitor(session): Visitor,
    reader: Reader,
) -> Result<Response, ApiError> {
    let member = session.map(|session| session.actor.member_id);
    let state = api.state(article, member).await?;
    reply::read(&reader, Audience::Caller, &LikeBody::from(state), 0).await
}

/// Who likes an article, by member id.
#[utoipa::path(
    get, path = "/api/v1/articles/{article_id}/likes", operation_id = "list_likes", tag = "likes",
    params(
        ("article_id" = IdText, Path, description = "The article"),
        ("after" = Option<IdText>, Query, description = "Only members with a greater id: `next` of the step before"),
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 100, description = "Members in a step; 30 when left out"),
    ),
    responses(
        (status = 200, description = "A step of the cursor", body = LikerList),
    ),
)]
pub(crate) async fn likers(
    State(api): State<Shared<LikeCalls>>,
    PathId(article): PathId<ArticleId>,
    ScrollQuery(after, size): ScrollQuery<MemberId>,
    reader: Reader,
) -> Result<Response, ApiError> {
    let found = api.likers(article, after, size).await?;
    let items: Vec<_> = found.items.into_iter().map(LikerBody::from).collect();
    let bytes_hint = items.len() * LIKER_BYTES_HINT;
    reply::read(&reader, Audience::Everybody, &LikerList { items, next: found.next }, bytes_hint).await
}
