//! Use cases of members: register, sign in and out, know who asks, give roles.

use std::sync::Arc;
use std::time::Duration;

use madang_kernel::{Actor, Clock, IdGenerator, Invalid, MemberId, Role, SessionId, StoreError, Timestamp};

use crate::{Member, MemberStore};

/// What an operator may set.
#[derive(Debug, Clone)]
pub struct MemberOptions {
    /// How long a token is good for.
    pub session_ttl: Duration,
    /// argon2id: memory in KiB.
    pub hash_memory_kib: u32,
    /// argon2id: passes.
    pub hash_passes: u32,
    /// Passwords hashed at the same time; more wait, and past the queue are refused.
    pub hash_concurrency: usize,
    /// Sign-ins and registrations that may wait for a hash.
    pub hash_queue: usize,
}

impl Default for MemberOptions {
    fn default() -> Self {
        Self {
            session_ttl: Duration::from_secs(30 * 24 * 60 * 60),
            hash_memory_kib: 19 * 1_024,
            hash_passes: 2,
            hash_concurrency: 1,
            hash_queue: 64,
        }
    }
}

/// A sign-in that succeeded.
#[derive(Debug, Clone)]
pub struct SignedIn {
    /// The bearer token.
    pub token: String,
    /// When it ends by itself.
    pub expires_at: Timestamp,
    /// Who signed in.
    pub member: Member,
}

/// What a valid token says.
#[derive(Debug, Clone)]
pub struct Session {
    /// Who asks.
    pub actor: Actor,
    /// Which sign-in this is.
    pub session_id: SessionId,
    /// When it ends by itself.
    pub expires_at: Timestamp,
}

/// Why a use case did not happen.
#[derive(Debug, thiserror::Error)]
pub enum MemberError {
    /// There is no such member.
    #[error("there is no such member")]
    NotFound,
    /// The token is missing, forged, expired or ended; says what to do.
    #[error("{0}")]
    NotSignedIn(&'static str),
    /// Name and password do not belong together; never says which is wrong.
    #[error("name or password is wrong")]
    WrongPassword,
    /// The actor may not do this; says why.
    #[error("{0}")]
    Forbidden(&'static str),
    /// Somebody has this name.
    #[error("this name is taken")]
    NameTaken,
    /// The input is not acceptable.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The store could not answer, or too many passwords wait to be hashed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Members and their sessions.
pub struct MemberService {
    store: Arc<dyn MemberStore>,
    ids: Arc<IdGenerator>,
    clock: Arc<dyn Clock>,
    options: MemberOptions,
}

impl MemberService {
    /// A service over a store; `signing_key` signs and verifies tokens.
    pub fn new(
        store: Arc<dyn MemberStore>,
        ids: Arc<IdGenerator>,
        clock: Arc<dyn Clock>,
        signing_key: [u8; 32],
        options: MemberOptions,
    ) -> Self {
        Self { store, ids, clock, options }
    }

    /// Registers a member.
    pub async fn register(&self, name: &str, password: &str) -> Result<Member, MemberError> {
        unimplemented!()
    }

    /// Registers a member with a role: the way of the command line and of the set-up link.
    pub async fn register_with_role(&self, name: &str, password: &str, role: Role) -> Result<Member, MemberError> {
        unimplemented!()
    }

    /// Registers `count` members named `<prefix><number>` for load tests, and returns them with a token each. They share
    /// one random password that is told to nobody.
    pub async fn seed(&self, prefix: &str, first: u64, count: u64) -> Result<Vec<SignedIn>, MemberError> {
        unimplemented!()
    }

    /// Signs in.
    pub async fn sign_in(&self, name: &str, password: &str) -> Result<SignedIn, MemberError> {
        unimplemented!()
    }

    /// Who sent this token; asks no database.
    pub fn authenticate(&self, token: &str) -> Result<Session, MemberError> {
        unimplemented!()
    }

    /// Ends a session: at once here, within the polling interval elsewhere.
    pub async fn sign_out(&self, session: &Session) -> Result<(), MemberError> {
        unimplemented!()
    }

    /// One member.
    pub async fn get(&self, member: MemberId) -> Result<Member, MemberError> {
        unimplemented!()
    }

    /// Gives a member a role (administrators). The last administrator cannot be demoted by themselves.
    pub async fn set_role(&self, actor: &Actor, member: MemberId, role: Role) -> Result<Member, MemberError> {
        unimplemented!()
    }

    /// Whether the site has an administrator.
    pub async fn has_admin(&self) -> Result<bool, MemberError> {
        unimplemented!()
    }

    /// Reads what other processes revoked; called at start and every few seconds.
    pub async fn refresh_revocations(&self) -> Result<(), MemberError> {
        unimplemented!()
    }
}
