//! Sessions: sign in and out, as a token in the answer and as a cookie beside it.

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use madang_kernel::Timestamp;
use madang_member::{SignedIn, name_key};
use madang_server::{Rejection, forget_session, store_session};
use serde::Serialize;
use utoipa::ToSchema;

use crate::extract::{Json, Signed};
use crate::members::{MemberBody, NameAndPassword};
use crate::openapi::Unauthorized;
use crate::state::{MemberCalls, Shared};
use crate::{ApiError, reply};

/// A sign-in that succeeded.
#[derive(Serialize, ToSchema)]
#[schema(as = Session)]
pub(crate) struct SessionBody {
    /// Goes into `Authorization: Bearer <token>`.
    token: String,
    #[schema(value_type = String, format = DateTime)]
    expires_at: Timestamp,
    member: MemberBody,
}

/// Sign in.
#[utoipa::path(
    post, path = "/api/v1/sessions", operation_id = "sign_in", tag = "sessions", request_body = NameAndPassword,
    responses(
        (status = 201, description = "Signed in", body = SessionBody, headers(
            ("Location" = String, description = "Where the session ends"),
            ("Set-Cookie" = String, description = "The token as the cookie `madang_session`"),
        )),
        (status = 401, response = Unauthorized),
    ),
)]
pub(crate) async fn sign_in(
    State(api): State<Shared<MemberCalls>>,
    body: Json<NameAndPassword>,
) -> Result<Response, ApiError> {
    if let Some(limiter) = &api.policy.limiter {
        limiter.admit_password_check(&name_key(&body.value.name)).await?;
    }
    let SignedIn { token, expires_at, member } = api.sign_in(&body.value.name, &body.value.password).await?;
    let cookie = store_session(&token, expires_at, api.policy.cookies_secure).ok_or(Rejection::Internal)?;
    let body = SessionBody { token, expires_at, member: member.into() };
    let mut response = reply::created("/api/v1/sessions/current", None, &body)?;
    response.headers_mut().insert(header::SET_COOKIE, cookie);
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
    Signed(session): Signed,
) -> Result<Response, ApiError> {
    api.sign_out(&session).await?;
    let mut response = reply::no_content();
    let forget = forget_session(api.policy.cookies_secure).ok_or(Rejection::Internal)?;
    response.headers_mut().insert(header::SET_COOKIE, forget);
    Ok(response)
}
