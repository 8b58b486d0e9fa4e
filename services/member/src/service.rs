//! Use cases of members: register, sign in and out, know who asks, give roles.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use madang_kernel::{Actor, Clock, FieldError, IdGenerator, Invalid, MemberId, Role, ShardId, StoreError, Timestamp};

use crate::password::{Password, Passwords};
use crate::token::Claims;
use crate::{CreateMember, Member, MemberName, MemberStore, NewMember, Revocation, Session, Sessions};

/// Members that one call may seed.
const SEED_MEMBERS_MAX: u64 = 1_000_000;
/// Members registered in one transaction when seeding.
const SEED_SLICE_MEMBERS: usize = 1_000;

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
#[derive(Clone)]
pub struct SignedIn {
    /// The bearer token.
    pub token: String,
    /// When it ends by itself.
    pub expires_at: Timestamp,
    /// Who signed in.
    pub member: Member,
}

/// Without the token: whoever reads it in a log could use it.
impl fmt::Debug for SignedIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignedIn")
            .field("member", &self.member)
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
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
    passwords: Passwords,
    sessions: Arc<Sessions>,
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
        let sessions = Arc::new(Sessions::new(Arc::new(store.clone()), clock.clone(), signing_key));
        Self { store, ids, clock, passwords: Passwords::new(&options), options, sessions }
    }

    /// The sessions, for whoever needs to know who asks and nothing else of members.
    pub fn sessions(&self) -> Arc<Sessions> {
        self.sessions.clone()
    }

    /// Registers a member.
    pub async fn register(&self, name: &str, password: &str) -> Result<Member, MemberError> {
        self.register_with_role(name, password, Role::Member).await
    }

    /// Registers a member with a role: the way of the command line and of the set-up link.
    pub async fn register_with_role(&self, name: &str, password: &str, role: Role) -> Result<Member, MemberError> {
        let (name, password) = check(MemberName::new(name), Password::new(password))?;
        // Asked before hashing, so that trying taken names costs nobody a hash; the store decides in the end.
        if self.store.find_credentials(&name.key()).await?.is_some() {
            return Err(MemberError::NameTaken);
        }
        let password_hash = self.passwords.hash(password).await?;
        let new = self.new_member(name, role, password_hash)?;
        let member = new.member.clone();
        match self.store.create(new).await? {
            CreateMember::Created => Ok(member),
            CreateMember::NameTaken => Err(MemberError::NameTaken),
        }
    }

    /// Registers `count` members named `<prefix><number>` for load tests, and returns them with a token each. They share
    /// one random password that is told to nobody. Names that are taken are left out: no token is made for a member who
    /// was there before.
    pub async fn seed(&self, prefix: &str, first: u64, count: u64) -> Result<Vec<SignedIn>, MemberError> {
        if count > SEED_MEMBERS_MAX {
            let message = format!("must be at most {SEED_MEMBERS_MAX}");
            return Err(Invalid::field("members", message).into());
        }
        let password_hash = self.passwords.hash(Password::random()).await?;
        let mut signed_in = Vec::new();
        let numbers: Vec<u64> = (0..count).map(|offset| first.saturating_add(offset)).collect();
        for slice in numbers.chunks(SEED_SLICE_MEMBERS) {
            let new: Vec<NewMember> = slice
                .iter()
                .map(|number| {
                    let name = MemberName::new(&format!("{prefix}{number}")).map_err(|error| Invalid(vec![error]))?;
                    Ok(self.new_member(name, Role::Member, password_hash.clone())?)
                })
                .collect::<Result<_, MemberError>>()?;
            for member in self.create_fresh(new).await? {
                signed_in.push(self.start_session(member)?);
            }
        }
        Ok(signed_in)
    }

    /// Registers those whose names are free, and returns them.
    async fn create_fresh(&self, new: Vec<NewMember>) -> Result<Vec<Member>, MemberError> {
        let members: Vec<Member> = new.iter().map(|new| new.member.clone()).collect();
        let created = self.store.create_many(new).await?;
        if created == members.len() as u64 {
            return Ok(members);
        }
        let mut fresh = Vec::new();
        for member in members {
            // The ids are new, so only those who were registered just now are found.
            fresh.extend(self.store.find(member.member_id).await?);
        }
        Ok(fresh)
    }

    fn new_member(&self, name: MemberName, role: Role, password_hash: String) -> Result<NewMember, StoreError> {
        let name_key = name.key();
        let member = Member {
            member_id: self.ids.next(ShardId::HOME)?,
            name: name.into_string(),
            role,
            created_at: self.clock.now(),
        };
        Ok(NewMember { member, name_key, password_hash })
    }

    /// Signs in.
    pub async fn sign_in(&self, name: &str, password: &str) -> Result<SignedIn, MemberError> {
        // A password that nobody can have is wrong for every name alike, so the quick answer tells nothing.
        let Ok(password) = Password::new(password) else { return Err(MemberError::WrongPassword) };
        let found = match MemberName::new(name) {
            Ok(name) => self.store.find_credentials(&name.key()).await?,
            Err(_) => None,
        };
        let (member, hash) = found.map(|found| (found.member, found.password_hash)).unzip();
        match (self.passwords.verify(password, hash).await?, member) {
            (true, Some(member)) => Ok(self.start_session(member)?),
            _ => Err(MemberError::WrongPassword),
        }
    }

    fn start_session(&self, member: Member) -> Result<SignedIn, StoreError> {
        let issued_at = self.clock.now();
        let expires_at = issued_at.plus(self.options.session_ttl);
        let token = self.sessions.sign(&Claims {
            member_id: member.member_id,
            session_id: self.ids.next(ShardId::HOME)?,
            issued_at,
            expires_at,
            role: member.role,
            name: member.name.clone(),
        });
        Ok(SignedIn { token, expires_at, member })
    }

    /// Who sent this token; asks no database.
    pub fn authenticate(&self, token: &str) -> Result<Session, MemberError> {
        self.sessions.authenticate(token)
    }

    /// Ends a session: at once here, within the polling interval elsewhere.
    pub async fn sign_out(&self, session: &Session) -> Result<(), MemberError> {
        let Session { session_id, expires_at, .. } = *session;
        self.store.end_session(session_id, expires_at).await?;
        self.sessions.apply(Revocation::SessionEnded { session_id, expires_at });
        Ok(())
    }

    /// One member.
    pub async fn get(&self, member: MemberId) -> Result<Member, MemberError> {
        self.store.find(member).await?.ok_or(MemberError::NotFound)
    }

    /// Gives a member a role (administrators). An administrator keeps the role until another takes it, so that the site
    /// is never left without one by mistake.
    pub async fn set_role(&self, actor: &Actor, member: MemberId, role: Role) -> Result<Member, MemberError> {
        if actor.role < Role::Admin {
            return Err(MemberError::Forbidden("only an administrator may give roles"));
        }
        if actor.member_id == member && role < Role::Admin {
            return Err(MemberError::Forbidden("an administrator cannot give up the role: another one has to take it"));
        }
        let _paused = self.sessions.pause_reading().await;
        let changed = self.store.set_role(member, role).await?.ok_or(MemberError::NotFound)?;
        self.sessions.apply(Revocation::RoleChanged { member_id: member, role });
        Ok(changed)
    }

    /// Whether the site has an administrator.
    pub async fn has_admin(&self) -> Result<bool, MemberError> {
        Ok(self.store.has_admin().await?)
    }

    /// Reads what other processes revoked; called at start and every few seconds.
    pub async fn refresh_revocations(&self) -> Result<(), MemberError> {
        Ok(self.sessions.refresh().await?)
    }

    /// Removes ended sessions whose tokens have expired from the store; called now and then. Returns how many.
    pub async fn forget_expired_sessions(&self) -> Result<u64, MemberError> {
        Ok(self.store.forget_expired(self.clock.now()).await?)
    }
}

fn check(
    name: Result<MemberName, FieldError>,
    password: Result<Password, FieldError>,
) -> Result<(MemberName, Password), Invalid> {
    match (name, password) {
        (Ok(name), Ok(password)) => Ok((name, password)),
        (name, password) => Err(Invalid([name.err(), password.err()].into_iter().flatten().collect())),
    }
}
