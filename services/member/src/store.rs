//! The port to the store of members.

use std::fmt;

use async_trait::async_trait;
use madang_board::{Act, MemberId, Role, SessionId};
use madang_kernel::{StoreError, Timestamp, millis};
use serde::{Deserialize, Serialize};

use crate::{Change, ChangeRefused, Member, MemberRecord, PasswordReset, ResetDigest, Standing};

/// A member to register.
#[derive(Clone)]
pub struct NewMember {
    /// The member, complete.
    pub member: Member,
    /// The name folded for comparison: two names with one key are the same name.
    pub name_key: String,
    /// What the name looks like: two names with one skeleton are the same name to a reader.
    pub skeleton: String,
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
    /// Somebody has the name, or one that looks the same.
    NameTaken,
}

/// A change of one member.
#[derive(Debug, Clone)]
pub struct ChangeMember {
    /// The member.
    pub member_id: MemberId,
    /// What changes.
    pub change: Change,
    /// When.
    pub changed_at: Timestamp,
    /// What the log of moderation says about it, if it is a moderator's doing.
    pub act: Option<Act>,
}

/// What became of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeOutcome {
    /// The member as they are now.
    Changed(MemberRecord),
    /// It may not be; nothing was done.
    Refused(ChangeRefused),
    /// There is no such member.
    Absent,
}

/// A change that signed tokens do not know of; every process learns of it by polling.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Revocation {
    /// One session has ended. Can be forgotten after `expires_at`, when its token ends anyway.
    SessionEnded {
        /// The session.
        session_id: SessionId,
        /// When its token expires by itself.
        #[serde(rename = "expires_at_ms", with = "millis")]
        expires_at: Timestamp,
    },
    /// A member is now this, whatever their tokens say. Of several the one with the greatest version counts.
    MemberChanged {
        /// The member.
        member_id: MemberId,
        /// The role in force.
        role: Role,
        /// How they stand.
        standing: Standing,
    },
}

/// A session that somebody started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRecord {
    /// Names it.
    pub session_id: SessionId,
    /// Whose it is.
    pub member_id: MemberId,
    /// When they signed in.
    pub created_at: Timestamp,
    /// When it was used last.
    pub last_seen_at: Timestamp,
    /// When its token expires by itself.
    pub expires_at: Timestamp,
    /// How often the sessions of the member had been ended by then, as [`Standing::passwords`] counts.
    pub passwords: u32,
    /// What the program that signed in said of itself; empty when it said nothing.
    pub agent: String,
}

/// How far a process has read the revocations; grows in commit order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct RevocationCursor(pub i64);

/// Where members are kept.
#[async_trait]
pub trait MemberStore: Send + Sync {
    /// Registers a member unless the name is taken, or one that looks the same.
    async fn create(&self, new: NewMember) -> Result<CreateMember, StoreError>;
    /// Registers many at once, for seeding; those whose name is taken are left out. Returns how many were registered.
    async fn create_many(&self, new: Vec<NewMember>) -> Result<u64, StoreError>;
    /// Gives up to `limit` members who registered before skeletons were kept theirs. Of those who look the same the first
    /// keeps the looks to themselves, and the others keep their names. Returns how many were given one; none are left when
    /// that is less than `limit`.
    async fn give_skeletons(&self, limit: usize) -> Result<usize, StoreError>;
    /// Those with a role above a member's, at most `limit`.
    async fn staff(&self, limit: usize) -> Result<Vec<Member>, StoreError>;
    /// One member.
    async fn find(&self, member: MemberId) -> Result<Option<Member>, StoreError>;
    /// What a sign-in under this name is checked against.
    async fn find_credentials(&self, name_key: &str) -> Result<Option<MemberRecord>, StoreError>;
    /// Changes a member as [`ChangeMember::decide`] says, with its revocation and its act, in one transaction that no other
    /// change runs beside: of two administrators who demote each other only the first does. A link to a new password is
    /// kept with [`Change::IssueReset`], and is gone with every new password.
    async fn change(&self, change: ChangeMember) -> Result<ChangeOutcome, StoreError>;
    /// The link to a new password with this digest, good or not.
    async fn find_reset(&self, digest: ResetDigest) -> Result<Option<PasswordReset>, StoreError>;
    /// Whether the site has an administrator.
    async fn has_admin(&self) -> Result<bool, StoreError>;
    /// Keeps a session that was started, for its owner's list.
    async fn add_session(&self, session: SessionRecord) -> Result<(), StoreError>;
    /// The sessions of a member, the newest first, at most `limit`; also those that have ended.
    async fn sessions(&self, member: MemberId, limit: usize) -> Result<Vec<SessionRecord>, StoreError>;
    /// One session.
    async fn find_session(&self, session: SessionId) -> Result<Option<SessionRecord>, StoreError>;
    /// Notes when sessions were used; what is later stays. Sessions that are not kept are passed over.
    async fn note_seen(&self, seen: Vec<(SessionId, Timestamp)>) -> Result<(), StoreError>;
    /// Ends a session.
    async fn end_session(&self, session: SessionId, expires_at: Timestamp) -> Result<(), StoreError>;
    /// Revocations after the cursor in order, at most `limit`, and the cursor after them.
    async fn revocations(
        &self,
        after: RevocationCursor,
        limit: usize,
    ) -> Result<(Vec<Revocation>, RevocationCursor), StoreError>;
    /// Forgets ended sessions whose tokens have expired by `now`; returns how many. Whatever else is kept of sessions that
    /// have expired goes too, and so do links to new passwords that are no longer good.
    async fn forget_expired(&self, now: Timestamp) -> Result<u64, StoreError>;
}
