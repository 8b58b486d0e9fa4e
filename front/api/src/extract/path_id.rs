//! Ids in paths: text that cannot be an id names nothing, so it is a 404 like any unknown id.

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use madang_board::{ArticleId, BoardId, CommentId, MemberId, ReportId, SessionId};
use serde::de::DeserializeOwned;

use crate::ApiError;

/// The id in the path.
pub(crate) struct PathId<T>(pub(crate) T);

/// An id that says what it names.
pub(crate) trait Names: DeserializeOwned + Send {
    /// The kind of thing, as a problem calls it.
    const WHAT: &'static str;
}

impl Names for ArticleId {
    const WHAT: &'static str = "article";
}

impl Names for BoardId {
    const WHAT: &'static str = "board";
}

impl Names for CommentId {
    const WHAT: &'static str = "comment";
}

impl Names for MemberId {
    const WHAT: &'static str = "member";
}

impl Names for ReportId {
    const WHAT: &'static str = "report";
}

impl Names for SessionId {
    const WHAT: &'static str = "session";
}

/// A text in the path that is no id. One that cannot be text names nothing.
pub(crate) struct AnyPath(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for AnyPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let Path(text) = Path::from_request_parts(parts, state).await.map_err(|_| ApiError::NotFound("address"))?;
        Ok(Self(text))
    }
}

/// A board and a member in one path.
pub(crate) struct ModeratorPath(pub(crate) BoardId, pub(crate) MemberId);

impl<S: Send + Sync> FromRequestParts<S> for ModeratorPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let ids: Result<Path<(BoardId, MemberId)>, _> = Path::from_request_parts(parts, state).await;
        let Path((board, member)) = ids.map_err(|_| ApiError::NotFound("board or member"))?;
        Ok(Self(board, member))
    }
}

impl<T: Names, S: Send + Sync> FromRequestParts<S> for PathId<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let Path(id) = Path::from_request_parts(parts, state).await.map_err(|_| ApiError::NotFound(T::WHAT))?;
        Ok(Self(id))
    }
}
