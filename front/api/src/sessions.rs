//! Sessions: sign in and out, as a token in the answer and as a cookie beside it; list one's own, and end them.

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use madang_board::SessionId;
use madang_kernel::Timestamp;
use madang_member::{OwnSession, SignedIn};
use madang_server::{forget_session, store_device, store_session};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::ApiError;
use crate::extract::{AccountOwner, Json, PathId, Reader, SignInFrom};
use crate::members::MemberBody;
use crate::openapi::{IdText, TimeText, Unauthorized};
use crate::reply::{self, Audience};
use crate::state::{MemberCalls, Shared};

/// A name, the password that goes with it, and what is to come of it.
#[derive(Deserialize, ToSchema)]
pub(crate) struct Credentials {
    /// The member's name, in any spelling that is taken for the same.
    #[schema(example = "hana", min_length = 2, max_length = 32)]
    name: String,
    /// The member's password.
    #[schema(example = "correct horse battery", min_length = 8, max_length = 128, format = Password)]
    password: String,
    /// Whether the answer sets cookies beside telling the token. A program that keeps the token itself sends false.
    #[schema(example = false, default = true)]
    #[serde(default = "yes")]
    cookie: bool,
}

fn yes() -> bool {
    true
}

/// A sign-in that succeeded.
#[derive(Serialize, ToSchema)]
#[schema(as = Session)]
pub(crate) struct SessionBody {
    /// Goes into `Authorization: Bearer <token>`.
    #[schema(example = "v2.MTIzNDU2Nzg5.c2lnbmF0dXJl")]
    token: String,
    #[schema(value_type = TimeText)]
    expires_at: Timestamp,
    member: MemberBody,
}

/// Sign in.
#[utoipa::path(
    post, path = "/api/v1/sessions", operation_id = "sign_in", tag = "sessions", request_body = Credentials,
    responses(
        (status = 201, description = "Signed in", body = SessionBody, headers(
            ("Location" = String, description = "Where the session ends"),
            ("Set-Cookie" = String, description = "The token as the cookie `madang_session`, unless `cookie` is false"),
        )),
        (status = 401, response = Unauthorized),
    ),
)]
pub(crate) async fn sign_in(
    State(api): State<Shared<MemberCalls>>,
    from: SignInFrom,
    body: Json<Credentials>,
) -> Result<Response, ApiError> {
    let Credentials { name, password, cookie } = body.value;
    let client = from.admitted(&api, &name).await?;
    let SignedIn { token, expires_at, member, device_note } = api.sign_in(&name, &password, client).await?;
    let body = SessionBody { token, expires_at, member: member.into() };
    let mut response = reply::created("/api/v1/sessions/current", None, &body)?;
    if cookie {
        let secure = api.policy.cookies_secure;
        store_session(response.headers_mut(), &body.token, expires_at, secure);
        store_device(response.headers_mut(), &device_note, api.now(), secure);
    }
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// Sign out: the token that is sent with the request ends.
#[utoipa::path(
    delete, path = "/api/v1/sessions/current", operation_id = "sign_out", tag = "sessions", security(("bearer" = []), ("cookie" = [])),
    responses(
        (status = 204, description = "Signed out", headers(("Set-Cookie" = String, description = "Takes the cookie away"))),
    ),
)]
pub(crate) async fn sign_out(
    State(api): State<Shared<MemberCalls>>,
    AccountOwner(session): AccountOwner,
) -> Result<Response, ApiError> {
    api.sign_out(&session).await?;
    let mut response = reply::no_content();
    forget_session(response.headers_mut(), api.policy.cookies_secure);
    Ok(response)
}

/// One of one's own sessions.
#[derive(Serialize, ToSchema)]
#[schema(as = OwnSession)]
pub(crate) struct OwnSessionBody {
    #[schema(value_type = IdText)]
    session_id: SessionId,
    #[schema(value_type = TimeText)]
    created_at: Timestamp,
    /// To within a minute or two.
    #[schema(value_type = TimeText)]
    last_seen_at: Timestamp,
    /// What the program that signed in said of itself.
    #[schema(required = true, example = "Mozilla/5.0")]
    agent: Option<String>,
    /// Whether it is the one that asks.
    #[schema(example = true)]
    current: bool,
}

impl From<OwnSession> for OwnSessionBody {
    fn from(session: OwnSession) -> Self {
        let OwnSession { session_id, created_at, last_seen_at, agent, is_current } = session;
        Self { session_id, created_at, last_seen_at, agent, current: is_current }
    }
}

/// One's own sessions.
#[derive(Serialize, ToSchema)]
#[schema(as = OwnSessionList)]
pub(crate) struct OwnSessionsBody {
    /// Newest first, at most 100.
    items: Vec<OwnSessionBody>,
}

/// One's own sessions that are good, the newest first, at most 100.
#[utoipa::path(
    get, path = "/api/v1/sessions", operation_id = "list_own_sessions", tag = "sessions", security(("bearer" = []), ("cookie" = [])),
    responses((status = 200, description = "The sessions", body = OwnSessionsBody)),
)]
pub(crate) async fn sessions(
    State(api): State<Shared<MemberCalls>>,
    AccountOwner(session): AccountOwner,
    reader: Reader,
) -> Result<Response, ApiError> {
    let items = api.own_sessions(&session).await?.into_iter().map(OwnSessionBody::from).collect();
    let mut response = reply::read(&reader, Audience::Caller, &OwnSessionsBody { items }, 0).await?;
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// End one of one's own sessions.
#[utoipa::path(
    delete, path = "/api/v1/sessions/{session_id}", operation_id = "end_own_session", tag = "sessions", security(("bearer" = []), ("cookie" = [])),
    params(("session_id" = IdText, Path, description = "The session")),
    responses((status = 204, description = "Ended")),
)]
pub(crate) async fn end_session(
    State(api): State<Shared<MemberCalls>>,
    PathId(ends): PathId<SessionId>,
    AccountOwner(session): AccountOwner,
) -> Result<Response, ApiError> {
    api.end_own_session(&session, ends).await?;
    let mut response = reply::no_content();
    if ends == session.session_id {
        forget_session(response.headers_mut(), api.policy.cookies_secure);
    }
    Ok(response)
}

/// End every session of one's own but the one that asks.
#[utoipa::path(
    delete, path = "/api/v1/sessions/others", operation_id = "end_other_sessions", tag = "sessions", security(("bearer" = []), ("cookie" = [])),
    responses((status = 204, description = "Ended")),
)]
pub(crate) async fn end_others(
    State(api): State<Shared<MemberCalls>>,
    AccountOwner(session): AccountOwner,
) -> Result<Response, ApiError> {
    api.end_other_sessions(&session).await?;
    Ok(reply::no_content())
}
