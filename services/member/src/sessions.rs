//! Who asks, known without the members' database: verifies signed tokens and holds what they cannot know, the sessions
//! that ended and the roles that changed. Every process has one; the member service makes and ends sessions through it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use madang_board::{Actor, BoardId, MemberId, Role, SessionId};
use madang_kernel::{Clock, SteadyClock, StoreError, Timestamp};
use tokio::sync::Mutex;

use crate::revocations::Revocations;
use crate::sightings::Sightings;
use crate::token::{Claims, Tokens};
use crate::{MemberError, MemberStore, Revocation, RevocationCursor, SessionRecord, SigningKeys, Suspension};

/// Revocations read at a time.
pub const REVOCATIONS_PAGE: usize = 1_000;
/// How old the last reading of revocations may be: within this time what one process revoked is in force in all others, and
/// a process that cannot know it believes no token.
pub const REVOCATIONS_AGE_MAX: Duration = Duration::from_secs(60);

/// What a valid token says.
#[derive(Debug, Clone)]
pub struct Session {
    /// Who asks.
    pub actor: Actor,
    /// Which sign-in this is.
    pub session_id: SessionId,
    /// When it began.
    pub created_at: Timestamp,
    /// When it ends by itself.
    pub expires_at: Timestamp,
}

/// Tells what was revoked: the store of members, or a process that has it.
#[async_trait]
pub trait RevocationSource: Send + Sync {
    /// Revocations after the cursor in the order of their commits, at most `limit`, and the cursor after them.
    async fn revocations_after(
        &self,
        after: RevocationCursor,
        limit: usize,
    ) -> Result<(Vec<Revocation>, RevocationCursor), StoreError>;
}

#[async_trait]
impl<S: MemberStore + ?Sized> RevocationSource for Arc<S> {
    async fn revocations_after(
        &self,
        after: RevocationCursor,
        limit: usize,
    ) -> Result<(Vec<Revocation>, RevocationCursor), StoreError> {
        self.revocations(after, limit).await
    }
}

/// The sessions of the site, as far as this process knows.
pub struct Sessions {
    source: Arc<dyn RevocationSource>,
    clock: Arc<dyn Clock>,
    /// By which ended sessions are forgotten.
    forgetting: SteadyClock,
    tokens: Tokens,
    revocations: Revocations,
    /// Which were used lately, where somebody stores it.
    sightings: Option<Sightings>,
    /// How far the revocations are read.
    read: Mutex<RevocationCursor>,
    /// When all were read last, in Unix milliseconds; [`NEVER`] before.
    refreshed_ms: AtomicI64,
}

const NEVER: i64 = i64::MIN;

impl Sessions {
    /// Sessions whose tokens are signed and verified with these keys; knows of no revocation until it is refreshed.
    pub fn new(source: Arc<dyn RevocationSource>, clock: Arc<dyn Clock>, keys: impl Into<SigningKeys>) -> Self {
        let (revocations, read) = (Revocations::default(), Mutex::default());
        Self {
            source,
            forgetting: SteadyClock::new(clock.clone()),
            clock,
            tokens: Tokens::new(&keys.into()),
            revocations,
            sightings: None,
            read,
            refreshed_ms: AtomicI64::new(NEVER),
        }
    }

    /// The same, which notes the sessions that are used for [`Sessions::take_seen`].
    pub(crate) fn noting_use(self) -> Self {
        Self { sightings: Some(Sightings::default()), ..self }
    }

    /// Who sent this token; asks nobody. While nobody can tell which sessions have ended, none is believed.
    pub fn authenticate(&self, token: &str) -> Result<Session, MemberError> {
        let claims = self
            .tokens
            .verify(token)
            .ok_or(MemberError::NotSignedIn("The token is not valid. Sign in again to get a new one."))?;
        let (now, session_id, expires_at) = (self.clock.now(), claims.session_id, claims.expires_at);
        if expires_at <= now {
            return Err(MemberError::NotSignedIn("Your session has expired. Sign in again."));
        }
        if !self.is_current() {
            return Err(StoreError::unavailable("sessions", "revocations were not read lately").into());
        }
        let ended = MemberError::NotSignedIn(
            "Your session has ended, by a sign-out or a change of the password. Sign in again.",
        );
        let created_at = claims.issued_at;
        let actor = self.revocations.actor(claims, now).ok_or(ended)?;
        if let Some(sightings) = &self.sightings {
            sightings.note(session_id, now);
        }
        Ok(Session { actor, session_id, created_at, expires_at })
    }

    /// Whether a token of this session is good at `now`.
    pub(crate) fn is_good(&self, record: &SessionRecord, now: Timestamp) -> bool {
        record.expires_at > now && !self.revocations.has_ended(record.member_id, record.session_id, record.passwords)
    }

    /// The sessions used since this was asked last, and when.
    pub(crate) fn take_seen(&self) -> Vec<(SessionId, Timestamp)> {
        self.sightings.as_ref().map(Sightings::take).unwrap_or_default()
    }

    /// The suspension of a member that is in force, as far as this process knows; asks nobody.
    pub fn suspension(&self, member: MemberId) -> Option<Suspension> {
        self.revocations.suspension(member, self.clock.now())
    }

    /// Reads what other processes revoked; called at start and every few seconds. When the source does not answer, what is
    /// known stays in force for [`REVOCATIONS_AGE_MAX`]; then no token is believed until it answers.
    pub async fn refresh(&self) -> Result<(), StoreError> {
        let mut read = self.read.lock().await;
        let began = self.clock.now();
        loop {
            let (revocations, next) = self.source.revocations_after(*read, REVOCATIONS_PAGE).await?;
            let complete = revocations.len() < REVOCATIONS_PAGE;
            self.revocations.apply(revocations);
            *read = next;
            if complete {
                break;
            }
        }
        self.revocations.forget_expired(self.forgetting.now());
        self.refreshed_ms.store(began.as_millis(), Ordering::Relaxed);
        Ok(())
    }

    /// Whether every revocation older than [`REVOCATIONS_AGE_MAX`] is known here; not so until they have been read once. A
    /// process that cannot tell is not ready. A clock that was set back far says nothing about the age of what is known.
    pub fn is_current(&self) -> bool {
        let now = self.clock.now();
        self.refreshed_at().is_some_and(|read| now.since(read).max(read.since(now)) <= REVOCATIONS_AGE_MAX)
    }

    /// Up to when every revocation is known here; `None` until they have been read once.
    pub fn refreshed_at(&self) -> Option<Timestamp> {
        let refreshed_ms = self.refreshed_ms.load(Ordering::Relaxed);
        (refreshed_ms != NEVER).then(|| Timestamp::from_millis(refreshed_ms))
    }

    /// Who moderates a board, as far as this process knows.
    pub(crate) fn moderators(&self, board: BoardId) -> Vec<MemberId> {
        self.revocations.moderators(board)
    }

    /// The role of a member that changed since they registered, as far as this process knows.
    pub(crate) fn changed_role(&self, member: MemberId) -> Option<Role> {
        self.revocations.role(member)
    }

    pub(crate) fn tokens(&self) -> &Tokens {
        &self.tokens
    }

    /// The token that says `claims`.
    pub(crate) fn sign(&self, claims: &Claims) -> String {
        self.tokens.sign(claims)
    }

    /// Takes over what this process revoked and has stored: in force at once, here.
    pub(crate) fn apply(&self, revocation: Revocation) {
        self.revocations.apply([revocation]);
    }
}
