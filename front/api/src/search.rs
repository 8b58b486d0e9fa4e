//! Search: articles and comments, in the words people type.

use axum::extract::State;
use axum::response::Response;
use madang_board::{ArticleId, BoardId, CommentId};
use madang_kernel::Timestamp;
use madang_search::{SearchItem, SearchPage};
use serde::Serialize;
use utoipa::ToSchema;

use crate::ApiError;
use crate::extract::{ClientAddress, Reader, SearchQuery, Visitor};
use crate::named_member::NamedMember;
use crate::openapi::{IdText, TimeText};
use crate::reply::{self, Audience};
use crate::state::{SearchCalls, Shared};

/// About how long a hit is, as JSON.
const HIT_BYTES_HINT: usize = 1_024;

/// Something that was found.
#[derive(Serialize, ToSchema)]
#[schema(as = SearchHit)]
pub(crate) struct HitBody {
    /// `article` or `comment`.
    #[schema(example = "article")]
    kind: &'static str,
    /// The article, or the article of the comment.
    #[schema(value_type = IdText)]
    article_id: ArticleId,
    /// The comment; null for an article.
    #[schema(value_type = Option<IdText>, required = true)]
    comment_id: Option<CommentId>,
    #[schema(value_type = IdText)]
    board_id: BoardId,
    /// The title of the article.
    #[schema(example = "First snow on the ridge")]
    title: String,
    /// The text around what was found, as HTML in which only `<mark>` is markup.
    #[schema(example = "It snowed on the <mark>ridge</mark> last night")]
    excerpt_html: String,
    writer: NamedMember,
    #[schema(value_type = TimeText)]
    created_at: Timestamp,
}

impl From<SearchItem> for HitBody {
    fn from(item: SearchItem) -> Self {
        let SearchItem { kind, article_id, comment_id, board_id, title, excerpt_html, writer, created_at, .. } = item;
        let (kind, writer) = (kind.name(), writer.into());
        Self { kind, article_id, comment_id, board_id, title, excerpt_html, writer, created_at }
    }
}

/// A step of a list of hits.
#[derive(Serialize, ToSchema)]
#[schema(as = SearchHits)]
pub(crate) struct HitsBody {
    /// In the order asked.
    items: Vec<HitBody>,
    /// Goes into `after` of the next step; null at the end.
    #[schema(required = true, example = "n.30.123456789012345678")]
    next: Option<String>,
    /// Whether some may be missing: the index is being rebuilt, or a part of it is away.
    #[schema(example = false)]
    partial: bool,
}

/// Search articles and comments. Every word must be in the title or in the text; words in quotes must follow one another.
/// Nothing else in `q` has a meaning of its own.
#[utoipa::path(
    get, path = "/api/v1/search", operation_id = "search", tag = "search",
    security((), ("bearer" = []), ("cookie" = [])),
    params(
        ("q" = String, Query, min_length = 1, max_length = 100, description = "What to look for"),
        ("kind" = Option<String>, Query, pattern = "^(article|comment|all)$", description = "What to look at; all when left out"),
        ("board_id" = Option<IdText>, Query, description = "Only on this board"),
        ("writer_id" = Option<IdText>, Query, description = "Only by this member"),
        ("since" = Option<TimeText>, Query, description = "Only what was written at this moment or later"),
        ("until" = Option<TimeText>, Query, description = "Only what was written before this moment"),
        ("sort" = Option<String>, Query, pattern = "^(relevance|newest)$", description = "Which come first; relevance when left out"),
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 50, description = "Hits in a step; 30 when left out"),
        ("after" = Option<String>, Query, description = "Only hits after these: `next` of the step before"),
    ),
    responses(
        (status = 200, description = "A step of the list", body = HitsBody),
    ),
)]
pub(crate) async fn search(
    State(api): State<Shared<SearchCalls>>,
    Visitor(session): Visitor,
    ClientAddress(address): ClientAddress,
    SearchQuery(request): SearchQuery,
    reader: Reader,
) -> Result<Response, ApiError> {
    if let Some(limiter) = &api.policy.limiter {
        limiter.admit_search(address, session.map(|session| session.actor.member_id)).await?;
    }
    let SearchPage { items, next, partial } = api.search(request).await?;
    let items: Vec<HitBody> = items.into_iter().map(HitBody::from).collect();
    let bytes_hint = items.len() * HIT_BYTES_HINT;
    let body = HitsBody { items, next: next.map(|cursor| cursor.to_string()), partial };
    reply::read(&reader, Audience::Everybody, &body, bytes_hint).await
}
