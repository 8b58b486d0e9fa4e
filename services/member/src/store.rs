//! The port to the store of members.

use std::fmt;

use async_trait::async_trait;
use madang_kernel::{MemberId, Role, SessionId, StoreError, Timestamp};

use crate::Member;

/// A member to register.
#[derive(Clone)]
pub struct NewMember {
    /// The member, complete.
    pub member: Member,
    /// The name folded for comparison: two names with one key are the same name.
    pub name_key: String,
    /// The password, hashed.
    pub password_hash: String,
}

/// Without the hash: what is logged must not help anybody to guess a password.
impl fmt::Debug for NewMember {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewMember").field("member", &self.member).finish_non_exhaustive()
    }
}

/// What became of a registration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CreateMember {
    /// Registered.
    Created,
    /// Somebody has the name.
    NameTaken,
}

/// What a sign-in is checked against.
#[derive(Clone)]
pub struct Credentials {
    /// The member.
    pub member: Member,
    /// Their password, hashed.
    pub password_hash: String,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("member", &self.member).finish_non_exhaustive()
    }
}

/// A change that signed tokens do not know of; every process learns of it by polling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Revocation {
    /// One session has ended. Can be forgotten after `expires_at`, when its token ends anyway.
    SessionEnded {
        /// The session.
        session_id: SessionId,
        /// When its token expires by itself.
        expires_at: Timestamp,
    },
    /// A member's role is now another one, whatever their tokens say.
    RoleChanged {
        /// The member.
        member_id: MemberId,
        /// The role in force.
        role: Role,
    },
}

/// How far a process has read the revocations; grows in commit order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct RevocationCursor(pub i64);

/// Where members are kept.
#[async_trait]
pub trait MemberStore: Send + Sync {
    /// Registers a member unless the name is taken.
    async fn create(&self, new: NewMember) -> Result<CreateMember, StoreError>;
    /// Registers many at once, for seeding; those whose name is taken are left out. Returns how many were registered.
    async fn create_many(&self, new: Vec<NewMember>) -> Result<u64, StoreError>;
    /// One member.
    async fn find(&self, member: MemberId) -> Result<Option<Member>, StoreError>;
    /// What a sign-in under this name is checked against.
    async fn find_credentials(&self, name_key: &str) -> Result<Option<Credentials>, StoreError>;
    /// Gives a member a role and writes the revocation, in one transaction; `None` when there is no such member.
    async fn set_role(&self, member: MemberId, role: Role) -> Result<Option<Member>, StoreError>;
    /// Whether the site has an administrator.
    async fn has_admin(&self) -> Result<bool, StoreError>;
    /// Ends a session.
    async fn end_session(&self, session: SessionId, expires_at: Timestamp) -> Result<(), StoreError>;
    /// Revocations after the cursor in order, at most `limit`, and the cursor after them.
    async fn revocations(
        &self,
        after: RevocationCursor,
        limit: usize,
    ) -> Result<(Vec<Revocation>, RevocationCursor), StoreError>;
    /// Forgets ended sessions whose tokens have expired by `now`; returns how many.
    async fn forget_expired(&self, now: Timestamp) -> Result<u64, StoreError>;
}
