//! Members: register, look up, give roles.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use madang_board::{MemberId, Role};
use madang_kernel::Timestamp;
use madang_member::Member;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::ApiError;
use crate::extract::{ClientAddress, Json, PathId, Reader, Signed};
use crate::openapi::{Conflict, IdText, NotFound, TimeText};
use crate::reply::{self, Audience};
use crate::state::{MemberCalls, Shared};

/// Who wants to be a member.
#[derive(Deserialize, ToSchema)]
pub(crate) struct Registration {
    /// Letters of any script, digits and `_`. The pattern leaves out what is neither in any script; which other characters
    /// are letters is for Unicode's tables to say.
    #[schema(
        example = "hana",
        min_length = 2,
        max_length = 32,
        pattern = r"^[^\u0000-/:-@\[-^`{-\u00a9\u2000-\u206f\ue000-\uf8ff]+$"
    )]
    name: String,
    /// Told to nobody, kept as a hash.
    #[schema(example = "correct horse battery", min_length = 8, max_length = 128, format = Password)]
    password: String,
}

/// A member who has just registered.
#[derive(Serialize, ToSchema)]
pub(crate) struct RegisteredMember {
    #[schema(value_type = IdText)]
    member_id: MemberId,
    /// The name, composed (NFC).
    #[schema(example = "hana")]
    name: String,
}

/// A member as others see them.
#[derive(Serialize, ToSchema)]
#[schema(as = Member)]
pub(crate) struct MemberBody {
    #[schema(value_type = IdText)]
    member_id: MemberId,
    /// The name.
    #[schema(example = "hana")]
    name: String,
    #[schema(value_type = RoleName)]
    role: Role,
    #[schema(value_type = TimeText)]
    created_at: Timestamp,
}

impl From<Member> for MemberBody {
    fn from(member: Member) -> Self {
        let Member { member_id, name, role, created_at } = member;
        Self { member_id, name, role, created_at }
    }
}

/// What a member may do; each role includes the ones before it.
#[derive(ToSchema)]
#[schema(as = Role, rename_all = "snake_case")]
#[expect(dead_code, reason = "the description of a value that is written and read elsewhere")]
pub(crate) enum RoleName {
    Member,
    Moderator,
    Admin,
}

/// The role to give.
#[derive(Deserialize, ToSchema)]
pub(crate) struct RoleChange {
    #[schema(value_type = RoleName)]
    role: Role,
}

/// Register.
#[utoipa::path(
    post, path = "/api/v1/members", operation_id = "register_member", tag = "members", request_body = Registration,
    responses(
        (status = 201, description = "Registered", body = RegisteredMember, headers(("Location" = String, description = "Where the member is"))),
        (status = 409, response = Conflict),
    ),
)]
pub(crate) async fn register(
    State(api): State<Shared<MemberCalls>>,
    ClientAddress(address): ClientAddress,
    body: Json<Registration>,
) -> Result<Response, ApiError> {
    let Registration { name, password } = &body.value;
    api.check_registration(name, password)?;
    if let Some(limiter) = &api.policy.limiter {
        limiter.admit_sign_up(address).await?;
    }
    let Member { member_id, name, .. } = api.register(name, password).await?;
    reply::created(&format!("/api/v1/members/{member_id}"), None, &RegisteredMember { member_id, name })
}

/// The member who asks.
#[utoipa::path(
    get, path = "/api/v1/members/me", operation_id = "read_own_member", tag = "members", security(("bearer" = []), ("cookie" = [])),
    params(("If-None-Match" = Option<String>, Header, description = "ETags the caller has already")),
    responses(
        (status = 200, description = "The member", body = MemberBody, headers(("ETag" = String, description = "Changes with the body"))),
        (status = 304, description = "As the caller has it"),
        (status = 404, response = NotFound),
    ),
)]
pub(crate) async fn me(
    State(api): State<Shared<MemberCalls>>,
    Signed(session): Signed,
    reader: Reader,
) -> Result<Response, ApiError> {
    let member = api.get(session.actor.member_id).await?;
    reply::digested(&reader, Audience::Caller, &MemberBody::from(member)).await
}

/// One member.
#[utoipa::path(
    get, path = "/api/v1/members/{member_id}", operation_id = "read_member", tag = "members",
    params(
        ("member_id" = IdText, Path, description = "The member"),
        ("If-None-Match" = Option<String>, Header, description = "ETags the caller has already"),
    ),
    responses(
        (status = 200, description = "The member", body = MemberBody, headers(("ETag" = String, description = "Changes with the body"))),
        (status = 304, description = "As the caller has it"),
    ),
)]
pub(crate) async fn member(
    State(api): State<Shared<MemberCalls>>,
    PathId(member): PathId<MemberId>,
    reader: Reader,
) -> Result<Response, ApiError> {
    let member = api.get(member).await?;
    reply::digested(&reader, Audience::Everybody, &MemberBody::from(member)).await
}

/// Give a member a role (administrators).
#[utoipa::path(
    put, path = "/api/v1/members/{member_id}/role", operation_id = "set_member_role", tag = "members", request_body = RoleChange,
    security(("bearer" = []), ("cookie" = [])),
    params(("member_id" = IdText, Path, description = "The member")),
    responses(
        (status = 200, description = "The member with the new role", body = MemberBody),
        (status = 409, response = Conflict),
    ),
)]
pub(crate) async fn set_role(
    State(api): State<Shared<MemberCalls>>,
    PathId(member): PathId<MemberId>,
    Signed(session): Signed,
    body: Json<RoleChange>,
) -> Result<Response, ApiError> {
    let member = api.set_role(&session.actor, member, body.value.role).await?;
    reply::json(StatusCode::OK, &MemberBody::from(member))
}
