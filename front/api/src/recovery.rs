//! Forgotten passwords: administrators give out links, and members choose a new password by them.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use madang_board::MemberId;
use madang_kernel::Timestamp;
use madang_member::Proof;
use madang_server::store_device;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::ApiError;
use crate::extract::{AnyPath, Json, PathId, Signed};
use crate::openapi::{IdText, TimeText};
use crate::reply;
use crate::state::{MemberCalls, Shared};

/// A link by which a member chooses a new password.
#[derive(Serialize, ToSchema)]
#[schema(as = PasswordReset)]
pub(crate) struct ResetBody {
    /// Told this once. Whoever has it takes over the account.
    #[schema(example = "https://board.example/password-reset/dGhpcyBpcyBub3QgYSByZWFsIHRva2VuLCBqdXN0IG9uZQ")]
    url: String,
    #[schema(value_type = TimeText)]
    expires_at: Timestamp,
}

/// A new password.
#[derive(Deserialize, ToSchema)]
pub(crate) struct NewPassword {
    /// The new password.
    #[schema(example = "a longer one than before", min_length = 8, max_length = 128, format = Password)]
    password: String,
}

/// An address for messages.
#[derive(Deserialize, ToSchema)]
#[expect(dead_code, reason = "described for clients; no mail is configured, so nobody reads it")]
pub(crate) struct NewEmail {
    /// The address.
    #[schema(example = "hana@board.example", max_length = 254)]
    email: String,
    /// One's own password.
    #[schema(example = "correct horse battery", max_length = 128, format = Password)]
    password: String,
}

/// Whose password is forgotten.
#[derive(Deserialize, ToSchema)]
#[expect(dead_code, reason = "described for clients; no mail is configured, so nobody reads it")]
pub(crate) struct ForgottenPassword {
    /// The address that the account has confirmed.
    #[schema(example = "hana@board.example", max_length = 254)]
    email: String,
}

/// Make a link by which a member chooses a new password (administrators). It works once, within an hour, and takes the
/// place of one made before. Links for administrators are made on their page alone, which asks for one's own password.
#[utoipa::path(
    post, path = "/api/v1/members/{member_id}/password-reset", operation_id = "issue_password_reset", tag = "members",
    security(("bearer" = []), ("cookie" = [])),
    params(("member_id" = IdText, Path, description = "The member")),
    responses(
        (status = 201, description = "The link", body = ResetBody, headers(("Location" = String, description = "Where the password is chosen"))),
    ),
)]
pub(crate) async fn issue(
    State(api): State<Shared<MemberCalls>>,
    PathId(member): PathId<MemberId>,
    Signed(session): Signed,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let link = api.issue_reset(&session.actor, member, Proof::Session).await?;
    let url = format!("{}{}", api.policy.base(&headers), link.path());
    reply::created(&link.path(), None, &ResetBody { url, expires_at: link.expires_at })
}

/// Choose a new password by a link. Every session of the member ends, and so does the link.
#[utoipa::path(
    put, path = "/api/v1/password-resets/{token}", operation_id = "reset_password", tag = "members", request_body = NewPassword,
    params(("token" = String, Path, description = "What the link ends with")),
    responses(
        (status = 204, description = "Changed"),
    ),
)]
pub(crate) async fn reset(
    State(api): State<Shared<MemberCalls>>,
    AnyPath(token): AnyPath,
    body: Json<NewPassword>,
) -> Result<Response, ApiError> {
    let device_note = api.use_reset(&token, &body.value.password).await?;
    let mut response = reply::no_content();
    store_device(response.headers_mut(), &device_note, api.now(), api.policy.cookies_secure);
    Ok(response)
}

/// Have a link sent to a confirmed address. Not configured on this site: an administrator makes links.
#[utoipa::path(
    post, path = "/api/v1/password-resets", operation_id = "request_password_reset", tag = "members", request_body = ForgottenPassword,
    responses(
        (status = 202, description = "Sent, if the address is known"),
        (status = 404, response = crate::openapi::NotFound),
    ),
)]
pub(crate) async fn request(
    _api: State<Shared<MemberCalls>>,
    _body: Json<ForgottenPassword>,
) -> Result<Response, ApiError> {
    Err(ApiError::NotConfigured("This site sends no e-mail. Ask an administrator for a link to a new password."))
}

/// Set one's address for messages. Not configured on this site.
#[utoipa::path(
    put, path = "/api/v1/members/me/email", operation_id = "set_email", tag = "members", request_body = NewEmail,
    security(("bearer" = []), ("cookie" = [])),
    responses(
        (status = 202, description = "A message is on its way, to confirm the address"),
        (status = 404, response = crate::openapi::NotFound),
    ),
)]
pub(crate) async fn set_email(
    _api: State<Shared<MemberCalls>>,
    _session: Signed,
    _body: Json<NewEmail>,
) -> Result<Response, ApiError> {
    Err(ApiError::NotConfigured("This site sends no e-mail, so it keeps no addresses."))
}
