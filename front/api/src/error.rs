//! Every way a request can fail, and the one place that knows which status each has.

use std::borrow::Cow;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use madang_article::ArticleError;
use madang_board::rules::Refused;
use madang_comment::CommentError;
use madang_kernel::{Invalid, StoreError};
use madang_like::LikeError;
use madang_member::MemberError;
use madang_search::SearchError;
use madang_server::{FieldProblem, Problem, Rejection};
use madang_view::ViewError;

/// Why a request was not answered as asked.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ApiError {
    /// The request cannot be understood; says where.
    #[error("{0}")]
    Malformed(Cow<'static, str>),
    /// Nobody is signed in, or the token is not good; says what to do.
    #[error("{0}")]
    NotSignedIn(&'static str),
    /// Name and password do not belong together. Which of them is wrong is told to nobody.
    #[error("The name or the password is wrong.")]
    WrongPassword,
    /// The member may not do this; says why.
    #[error("{0}")]
    Forbidden(Cow<'static, str>),
    /// There is no such thing; says which kind.
    #[error("There is no such {0}.")]
    NotFound(&'static str),
    /// There is such a call, and this site is not set up for it; says what to do instead.
    #[error("{0}")]
    NotConfigured(&'static str),
    /// This site has no search engine.
    #[error("This site has no search engine configured, so nothing can be searched. Ask its administrator.")]
    SearchNotConfigured,
    /// The call belongs to a role that this process does not have; says which. Whoever routed it here is mistaken.
    #[error("This call is not served here: send it to a process with the role {0}.")]
    ServedElsewhere(&'static str),
    /// The address does not take this method.
    #[error("This address does not support this method. The Allow header lists the methods it supports.")]
    MethodNotAllowed,
    /// Something else is in the way; says what.
    #[error("{0}")]
    Conflict(&'static str),
    /// The board is archived.
    #[error("This board is archived: it can be read, and nothing on it can be changed.")]
    Archived,
    /// The article takes no new comments.
    #[error("This article is locked: only moderators of its board can comment on it.")]
    Locked,
    /// The thing changed since the caller saw it.
    #[error("It has been changed since you read it. Read it again, and send your change with the new ETag.")]
    Changed,
    /// The body is longer than allowed.
    #[error("The body is too long: at most {limit_bytes} bytes are accepted.")]
    TooLarge {
        /// The longest that is allowed.
        limit_bytes: usize,
    },
    /// The body is not labelled as JSON.
    #[error("The body must be JSON, sent with the header Content-Type: application/json.")]
    NotJson,
    /// The body is compressed, which nobody here undoes.
    #[error("The body must not be compressed: send it without Content-Encoding.")]
    Encoded,
    /// Fields are well-formed and not acceptable.
    #[error("{}.", .0.iter().map(FieldProblem::to_string).collect::<Vec<_>>().join("; "))]
    Invalid(Vec<FieldProblem>),
    /// The idempotency key was used with another body.
    #[error("This Idempotency-Key has already been used with a different body. Use a new key for a new request.")]
    KeyReused,
    /// Refused for its cost, or for a defect of ours.
    #[error(transparent)]
    Rejected(#[from] Rejection),
}

impl ApiError {
    /// The status of each failure.
    pub fn status(&self) -> StatusCode {
        match self {
            Self::Malformed(_) => StatusCode::BAD_REQUEST,
            Self::NotSignedIn(_) | Self::WrongPassword => StatusCode::UNAUTHORIZED,
            Self::Forbidden(_) => StatusCode::FORBIDDEN,
            Self::NotFound(_) | Self::NotConfigured(_) | Self::ServedElsewhere(_) => StatusCode::NOT_FOUND,
            Self::SearchNotConfigured => StatusCode::SERVICE_UNAVAILABLE,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::Conflict(_) | Self::Archived | Self::Locked => StatusCode::CONFLICT,
            Self::Changed => StatusCode::PRECONDITION_FAILED,
            Self::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::NotJson | Self::Encoded => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Invalid(_) | Self::KeyReused => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Rejected(rejection) => rejection.status(),
        }
    }

    /// The stable name of the kind, and the kind in words.
    fn kind(&self) -> (&'static str, &'static str) {
        match self {
            Self::Malformed(_) => ("urn:madang:problem:malformed", "Malformed request"),
            Self::NotSignedIn(_) => ("urn:madang:problem:not-signed-in", "Not signed in"),
            Self::WrongPassword => ("urn:madang:problem:wrong-password", "Wrong name or password"),
            Self::Forbidden(_) => ("urn:madang:problem:forbidden", "Not allowed"),
            Self::NotFound(_) => ("urn:madang:problem:not-found", "Not found"),
            Self::NotConfigured(_) => ("urn:madang:problem:not-configured", "Not configured"),
            Self::SearchNotConfigured => ("urn:madang:problem:search-not-configured", "Search not configured"),
            Self::ServedElsewhere(_) => ("urn:madang:problem:served-elsewhere", "Not served here"),
            Self::MethodNotAllowed => ("urn:madang:problem:method-not-allowed", "Method not allowed"),
            Self::Conflict(_) => ("urn:madang:problem:conflict", "Conflict"),
            Self::Archived => ("urn:madang:problem:archived", "Archived"),
            Self::Locked => ("urn:madang:problem:locked", "Locked"),
            Self::Changed => ("urn:madang:problem:changed", "Changed meanwhile"),
            Self::TooLarge { .. } => ("urn:madang:problem:too-large", "Body too large"),
            Self::NotJson | Self::Encoded => ("urn:madang:problem:not-json", "Not JSON"),
            Self::Invalid(_) => ("urn:madang:problem:invalid", "Invalid field"),
            Self::KeyReused => ("urn:madang:problem:key-reused", "Idempotency key reused"),
            Self::Rejected(rejection) => rejection.kind(),
        }
    }

    /// A single field that is not acceptable.
    pub(crate) fn invalid(field: &'static str, message: impl Into<String>) -> Self {
        Self::Invalid(vec![FieldProblem::new(field, message)])
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        if let Self::Rejected(rejection) = self {
            return rejection.into_response();
        }
        let (kind, title) = self.kind();
        let errors: &[FieldProblem] = if let Self::Invalid(errors) = &self { errors } else { &[] };
        let (status, detail) = (self.status().as_u16(), self.to_string());
        let mut response = Problem { kind, title, status, detail: &detail, errors }.into_response();
        if let Self::NotSignedIn(_) | Self::WrongPassword = self {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Self::SearchNotConfigured = self {
            response.headers_mut().insert(header::RETRY_AFTER, NOT_SOON);
        }
        response
    }
}

/// In seconds: somebody has to configure something first.
const NOT_SOON: HeaderValue = HeaderValue::from_static("3600");

impl From<SearchError> for ApiError {
    fn from(error: SearchError) -> Self {
        match error {
            SearchError::NotConfigured => Self::SearchNotConfigured,
            SearchError::Store(store) => store.into(),
        }
    }
}

impl From<Invalid> for ApiError {
    fn from(invalid: Invalid) -> Self {
        Self::Invalid(invalid.0.into_iter().map(FieldProblem::from).collect())
    }
}

impl From<Refused> for ApiError {
    fn from(refused: Refused) -> Self {
        Self::Forbidden(refused.to_string().into())
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            // An outage makes one of these a request: the metrics count them, a log line each would bury the rest.
            StoreError::Unavailable { what, reason, retry_after } => {
                tracing::debug!(what, "{what} is not available, answering with 503: {reason}");
                let detail = "The server cannot do this at the moment. Try again shortly.";
                Rejection::Unavailable { detail, retry_after }.into()
            }
            StoreError::Broken { what, source } => {
                tracing::error!(what, "{what} failed, answering with 500: {source}");
                Rejection::Internal.into()
            }
        }
    }
}

impl From<ArticleError> for ApiError {
    fn from(error: ArticleError) -> Self {
        match error {
            ArticleError::NotFound(what) => Self::NotFound(what),
            ArticleError::Forbidden(refused) => refused.into(),
            ArticleError::Invalid(invalid) => invalid.into(),
            ArticleError::Changed => Self::Changed,
            ArticleError::SlugTaken => Self::Conflict("Another board already has this slug. Choose another one."),
            ArticleError::Archived => Self::Archived,
            ArticleError::HasArticles => {
                Self::Conflict("This board has articles. Only a board without articles can be deleted.")
            }
            ArticleError::TooManyPins => {
                Self::Conflict("This board has as many pinned articles as a board can have. Unpin another one first.")
            }
            ArticleError::KeyReused => Self::KeyReused,
            ArticleError::Store(store) => store.into(),
        }
    }
}

impl From<CommentError> for ApiError {
    fn from(error: CommentError) -> Self {
        match error {
            CommentError::NotFound(what) => Self::NotFound(what),
            CommentError::Forbidden(refused) => refused.into(),
            CommentError::Invalid(invalid) => invalid.into(),
            CommentError::TooDeep(refusal) => Self::invalid("parent_id", refusal.to_string()),
            CommentError::LevelFull(_) => {
                Self::Conflict("This comment has as many replies as one comment can have. Reply to another one.")
            }
            CommentError::Archived => Self::Archived,
            CommentError::Locked => Self::Locked,
            CommentError::Cursor(refusal) => Self::Malformed(refusal.to_string().into()),
            CommentError::Changed => Self::Changed,
            CommentError::KeyReused => Self::KeyReused,
            CommentError::Store(store) => store.into(),
        }
    }
}

impl From<LikeError> for ApiError {
    fn from(error: LikeError) -> Self {
        match error {
            LikeError::NotFound => Self::NotFound("article"),
            LikeError::Forbidden(refused) => refused.into(),
            LikeError::Invalid(invalid) => invalid.into(),
            LikeError::Archived => Self::Archived,
            LikeError::Store(store) => store.into(),
        }
    }
}

impl From<ViewError> for ApiError {
    fn from(error: ViewError) -> Self {
        match error {
            ViewError::NotFound => Self::NotFound("article"),
            ViewError::Store(store) => store.into(),
        }
    }
}

impl From<MemberError> for ApiError {
    fn from(error: MemberError) -> Self {
        match error {
            MemberError::NotFound => Self::NotFound("member"),
            MemberError::NotSignedIn(what_to_do) => Self::NotSignedIn(what_to_do),
            MemberError::WrongPassword => Self::WrongPassword,
            MemberError::Forbidden(refused) => refused.into(),
            MemberError::NameTaken => {
                Self::Conflict("This name is taken, or looks like one that is. Choose another name.")
            }
            MemberError::LastAdmin => {
                Self::Conflict("This is the only administrator. Make somebody else administrator first.")
            }
            MemberError::NoSuchReset => Self::NotFound("link, or it is used or too old: ask for another"),
            MemberError::Suspended => Self::Conflict("This member is suspended. Lift the suspension first."),
            MemberError::TooManyBoards => Self::Conflict(
                "This member already moderates as many boards as one member can. Make them a moderator of the whole site.",
            ),
            MemberError::Invalid(invalid) => invalid.into(),
            MemberError::Store(store) => store.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use madang_comment::{DepthMax, LevelFull, Refusal};

    use super::*;

    #[test]
    fn a_comment_that_does_not_fit_says_why() {
        let refused = |error: CommentError| ApiError::from(error);
        assert_eq!(refused(Refusal::LevelFull(LevelFull).into()).status(), 409);
        for refusal in [Refusal::NoParent, Refusal::ReplyToReply, Refusal::TooDeep(DepthMax::DEFAULT)] {
            match refused(refusal.into()) {
                ApiError::Invalid(errors) => assert_eq!(errors[0].field, "parent_id"),
                other => panic!("{refusal}: {other:?}"),
            }
        }
    }
}
