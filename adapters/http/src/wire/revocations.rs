//! What is asked of the owner of members: which sessions ended and how members stand.

use madang_board::{MemberId, Role, SessionId};
use madang_kernel::Timestamp;
use madang_member::{Revocation, Standing};
use serde::{Deserialize, Serialize};

use super::Question;

/// Revocations after a cursor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RevocationsAfter {
    pub(crate) after: i64,
    pub(crate) limit: u32,
}

/// In the order of their commits, with the cursor after them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RevocationsAnswer {
    pub(crate) revocations: Vec<RevocationBody>,
    pub(crate) next: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum RevocationBody {
    SessionEnded { session_id: SessionId, expires_at_ms: i64 },
    MemberChanged { member_id: MemberId, role: Role, standing: Standing },
}

impl Question for RevocationsAfter {
    const PATH: &'static str = "/internal/v1/members/revocations";
    type Answer = RevocationsAnswer;
}

impl From<Revocation> for RevocationBody {
    fn from(revocation: Revocation) -> Self {
        match revocation {
            Revocation::SessionEnded { session_id, expires_at } => {
                Self::SessionEnded { session_id, expires_at_ms: expires_at.as_millis() }
            }
            Revocation::MemberChanged { member_id, role, standing } => {
                Self::MemberChanged { member_id, role, standing }
            }
        }
    }
}

impl From<RevocationBody> for Revocation {
    fn from(body: RevocationBody) -> Self {
        match body {
            RevocationBody::SessionEnded { session_id, expires_at_ms } => {
                Self::SessionEnded { session_id, expires_at: Timestamp::from_millis(expires_at_ms) }
            }
            RevocationBody::MemberChanged { member_id, role, standing } => {
                Self::MemberChanged { member_id, role, standing }
            }
        }
    }
}
