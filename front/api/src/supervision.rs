//! What is done about members: their own password, and suspensions by moderators.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use madang_board::MemberId;
use madang_kernel::Timestamp;
use madang_member::name_key;
use madang_server::Guesser;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::extract::{AccountOwner, Json, PathId, Signed};
use crate::openapi::{IdText, NotFound, TimeText};
use crate::state::{MemberCalls, Shared};
use crate::{ApiError, reply};

/// A password and the one that takes its place.
#[derive(Deserialize, ToSchema)]
pub(crate) struct PasswordChange {
    /// The present one.
    #[schema(example = "correct horse battery", max_length = 128, format = Password)]
    current: String,
    /// The next one.
    #[schema(example = "a longer one than before", min_length = 8, max_length = 128, format = Password)]
    new: String,
}

/// Until when a member may only read, and why.
#[derive(Deserialize, ToSchema)]
pub(crate) struct NewSuspension {
    #[schema(value_type = TimeText)]
    until: Timestamp,
    /// For the log of moderation.
    #[schema(
        example = "Insulted others after a warning",
        min_length = 1,
        max_length = 500,
        pattern = r"^[^\u0000]*[^\s\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0][^\u0000]*$"
    )]
    reason: String,
}

/// A suspension.
#[derive(Serialize, ToSchema)]
#[schema(as = Suspension)]
pub(crate) struct SuspensionBody {
    #[schema(value_type = IdText)]
    member_id: MemberId,
    #[schema(value_type = TimeText)]
    until: Timestamp,
    /// Why.
    #[schema(example = "Insulted others after a warning")]
    reason: String,
}

/// Change one's own password. Every other session of the member ends.
#[utoipa::path(
    put, path = "/api/v1/members/me/password", operation_id = "change_password", tag = "members", request_body = PasswordChange,
    security(("bearer" = []), ("cookie" = [])),
    responses(
        (status = 204, description = "Changed"),
        (status = 404, response = NotFound),
    ),
)]
pub(crate) async fn change_password(
    State(api): State<Shared<MemberCalls>>,
    AccountOwner(session): AccountOwner,
    body: Json<PasswordChange>,
) -> Result<Response, ApiError> {
    if let Some(limiter) = &api.policy.limiter {
        let guesser = Guesser::Session(session.session_id);
        limiter.admit_password_check(&name_key(&session.actor.name), guesser).await?;
    }
    api.change_password(&session, &body.value.current, &body.value.new).await?;
    Ok(reply::no_content())
}

/// Suspend a member (moderators; of moderators, administrators): until then they read and do not write.
#[utoipa::path(
    put, path = "/api/v1/members/{member_id}/suspension", operation_id = "suspend_member", tag = "moderation", request_body = NewSuspension,
    security(("bearer" = []), ("cookie" = [])),
    params(("member_id" = IdText, Path, description = "The member")),
    responses(
        (status = 200, description = "The suspension", body = SuspensionBody),
    ),
)]
pub(crate) async fn suspend(
    State(api): State<Shared<MemberCalls>>,
    PathId(member): PathId<MemberId>,
    Signed(session): Signed,
    body: Json<NewSuspension>,
) -> Result<Response, ApiError> {
    let NewSuspension { until, reason } = body.value;
    api.suspend(&session.actor, member, until, &reason).await?;
    reply::json(StatusCode::OK, &SuspensionBody { member_id: member, until, reason })
}

/// Lift a suspension (who may suspend the member).
#[utoipa::path(
    delete, path = "/api/v1/members/{member_id}/suspension", operation_id = "lift_suspension", tag = "moderation",
    security(("bearer" = []), ("cookie" = [])),
    params(("member_id" = IdText, Path, description = "The member")),
    responses(
        (status = 204, description = "They may write"),
    ),
)]
pub(crate) async fn lift(
    State(api): State<Shared<MemberCalls>>,
    PathId(member): PathId<MemberId>,
    Signed(session): Signed,
) -> Result<Response, ApiError> {
    api.lift_suspension(&session.actor, member).await?;
    Ok(reply::no_content())
}
