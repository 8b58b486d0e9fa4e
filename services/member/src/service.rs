//! Use cases of members: register, sign in and out, change a password, know who asks. What is done to others is in
//! `supervision.rs`.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use madang_board::rules::Refused;
use madang_board::{MemberId, Role, SessionId};
use madang_kernel::{Clock, FieldError, IdGenerator, Invalid, ShardId, StoreError, Timestamp};

use crate::own_sessions::kept_agent;
use crate::password::{Password, Passwords};
use crate::sign_in_log;
use crate::staff::Staff;
use crate::token::Claims;
use crate::{
    Change, ChangeMember, ChangeOutcome, ChangeRefused, CreateMember, DeviceId, Member, MemberName, MemberRecord,
    MemberStore, NewMember, ReservedNames, Revocation, Session, SessionRecord, Sessions, SigningKeys, Standing,
    Suspension,
};

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
    /// Names for those who run the site.
    pub reserved_names: ReservedNames,
    /// Names of the site, of which no password is made.
    pub site_words: Vec<String>,
}

impl Default for MemberOptions {
    fn default() -> Self {
        Self {
            session_ttl: Duration::from_secs(30 * 24 * 60 * 60),
            hash_memory_kib: 19 * 1_024,
            hash_passes: 2,
            hash_concurrency: 1,
            hash_queue: 64,
            reserved_names: ReservedNames::default(),
            site_words: Vec::new(),
        }
    }
}

/// What is known of the program that signs in.
#[derive(Debug, Clone, Default)]
pub struct Client {
    /// Where it is, for the log alone.
    pub address: Option<IpAddr>,
    /// The device that it showed a note of.
    pub device: Option<DeviceId>,
    /// What it says of itself.
    pub agent: String,
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
    /// What the device shows next time, so that strangers who guess do not keep its owner out.
    pub device_note: String,
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
    #[error("the name or the password is wrong")]
    WrongPassword,
    /// The actor may not do this; says why.
    #[error(transparent)]
    Forbidden(#[from] Refused),
    /// Somebody has this name, or one that looks the same.
    #[error("this name is taken, or looks like one that is: choose another name")]
    NameTaken,
    /// The site would be left without an administrator.
    #[error("this is the only administrator: make somebody else administrator first")]
    LastAdmin,
    /// Who is suspended gets no higher role.
    #[error("this member is suspended: lift the suspension first")]
    Suspended,
    /// They moderate as many boards as one member may.
    #[error("this member already moderates as many boards as one member can: make them a moderator of the whole site")]
    TooManyBoards,
    /// The link was never given out, is used, or is too old; says nothing of which.
    #[error("this link is not good, or no longer")]
    NoSuchReset,
    /// The input is not acceptable.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The store could not answer, or too many passwords wait to be hashed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<ChangeRefused> for MemberError {
    fn from(refused: ChangeRefused) -> Self {
        match refused {
            ChangeRefused::LastAdmin => Self::LastAdmin,
            ChangeRefused::Suspended => Self::Suspended,
            ChangeRefused::NotBelow => {
                Self::Forbidden(Refused::NotAllowed("You can only suspend members whose role is below your own."))
            }
            ChangeRefused::TooManyBoards => Self::TooManyBoards,
            ChangeRefused::NotAllowed(refused) => Self::Forbidden(refused),
            ChangeRefused::NoSuchReset => Self::NoSuchReset,
            ChangeRefused::PasswordNeeded => Self::Forbidden(Refused::NotAllowed(
                "A link for an administrator is made on their page, with your own password, or by `madang member reset`.",
            )),
            ChangeRefused::PasswordChanged => Invalid::field("current", "is not your current password").into(),
        }
    }
}

/// Members and their sessions.
pub struct MemberService {
    pub(crate) store: Arc<dyn MemberStore>,
    pub(crate) ids: Arc<IdGenerator>,
    pub(crate) clock: Arc<dyn Clock>,
    options: MemberOptions,
    pub(crate) passwords: Passwords,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) staff: Staff,
}

impl MemberService {
    /// A service over a store; the keys sign and verify tokens.
    pub fn new(
        store: Arc<dyn MemberStore>,
        ids: Arc<IdGenerator>,
        clock: Arc<dyn Clock>,
        keys: impl Into<SigningKeys>,
        options: MemberOptions,
    ) -> Self {
        let sessions = Arc::new(Sessions::new(Arc::new(store.clone()), clock.clone(), keys).noting_use());
        Self { store, ids, clock, passwords: Passwords::new(&options), options, sessions, staff: Staff::default() }
    }

    /// The sessions, for whoever needs to know who asks and nothing else of members.
    pub fn sessions(&self) -> Arc<Sessions> {
        self.sessions.clone()
    }

    /// The suspension of a member that is in force; asks no database.
    pub fn suspension(&self, member: MemberId) -> Option<Suspension> {
        self.sessions.suspension(member)
    }

    /// Whether a name and a password are acceptable at all: asked before a registration is counted against its sender.
    pub fn check_registration(&self, name: &str, password: &str) -> Result<(), MemberError> {
        self.acceptable(name, password, Role::Member)?;
        Ok(())
    }

    /// What time it is to the service.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Registers a member.
    pub async fn register(&self, name: &str, password: &str) -> Result<Member, MemberError> {
        self.register_with_role(name, password, Role::Member).await
    }

    /// Registers a member with a role: the way of the command line and of the set-up link.
    pub async fn register_with_role(&self, name: &str, password: &str, role: Role) -> Result<Member, MemberError> {
        let (name, password) = self.acceptable(name, password, role)?;
        // Asked before hashing, so that trying taken names costs nobody a hash; the store decides in the end.
        if self.store.find_credentials(&name.key()).await?.is_some() {
            return Err(MemberError::NameTaken);
        }
        let password_hash = self.passwords.hash(password).await?;
        let new = self.new_member(name, role, password_hash)?;
        let member = new.member.clone();
        match self.store.create(new).await? {
            CreateMember::Created => {
                self.staff.note(&member);
                Ok(member)
            }
            CreateMember::NameTaken => Err(MemberError::NameTaken),
        }
    }

    /// The name and the password, if a new member of this role may have them.
    fn acceptable(&self, name: &str, password: &str, role: Role) -> Result<(MemberName, Password), Invalid> {
        let name = MemberName::new(name).and_then(|name| self.free_to(role, name));
        let password = Password::chosen(password, &self.known_words(name.as_ref().map_or("", MemberName::as_str)));
        check(name, password)
    }

    /// What everybody knows of a member of this name and of the site.
    pub(crate) fn known_words<'a>(&'a self, name: &'a str) -> Vec<&'a str> {
        std::iter::once(name).chain(self.options.site_words.iter().map(String::as_str)).collect()
    }

    /// The name, unless it is for those who run the site, and this one does not.
    fn free_to(&self, role: Role, name: MemberName) -> Result<MemberName, FieldError> {
        if role == Role::Member && self.options.reserved_names.has(&name) {
            return Err(FieldError { field: "name", message: "is reserved for the people who run the site".into() });
        }
        Ok(name)
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
                signed_in.push(self.start_session(member, &Standing::default(), None)?.0);
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
        let (name_key, skeleton) = (name.key(), name.skeleton());
        let member = Member {
            member_id: self.ids.next(ShardId::HOME)?,
            name: name.into_string(),
            role,
            created_at: self.clock.now(),
        };
        Ok(NewMember { member, name_key, skeleton, password_hash })
    }

    /// Signs in.
    pub async fn sign_in(&self, name: &str, password: &str, client: Client) -> Result<SignedIn, MemberError> {
        let address = client.address;
        let outcome = self.try_sign_in(name, password, client).await;
        if let Err(MemberError::WrongPassword) = outcome {
            sign_in_log::failed(address, name);
        }
        outcome
    }

    async fn try_sign_in(&self, name: &str, password: &str, client: Client) -> Result<SignedIn, MemberError> {
        // A password that nobody can have is wrong for every name alike, so the quick answer tells nothing.
        let Ok(password) = Password::new(password) else { return Err(MemberError::WrongPassword) };
        let found = match MemberName::of_account(name) {
            Ok(name) => self.store.find_credentials(&name.key()).await?,
            Err(_) => None,
        };
        let hash = found.as_ref().map(|found| found.password_hash.clone());
        match (self.passwords.verify(password, hash).await?, found) {
            (true, Some(MemberRecord { member, standing, .. })) => {
                sign_in_log::succeeded(client.address, member.member_id);
                let (signed_in, mut record) = self.start_session(member, &standing, client.device)?;
                record.agent = kept_agent(&client.agent);
                self.store.add_session(record).await?;
                Ok(signed_in)
            }
            _ => Err(MemberError::WrongPassword),
        }
    }

    fn start_session(
        &self,
        member: Member,
        standing: &Standing,
        device: Option<DeviceId>,
    ) -> Result<(SignedIn, SessionRecord), StoreError> {
        if standing.version > 0 {
            // What was changed by another process a moment ago holds for this session from its start.
            let (member_id, role) = (member.member_id, member.role);
            self.sessions.apply(Revocation::MemberChanged { member_id, role, standing: standing.clone() });
        }
        let issued_at = self.clock.now();
        let expires_at = issued_at.plus(self.options.session_ttl);
        let (member_id, session_id) = (member.member_id, self.ids.next(ShardId::HOME)?);
        let token = self.sessions.sign(&Claims {
            member_id,
            session_id,
            issued_at,
            expires_at,
            role: member.role,
            passwords: standing.passwords,
            name: member.name.clone(),
        });
        let device = device.unwrap_or_else(DeviceId::random);
        let device_note = self.sessions.device_note(device, &member.name, issued_at);
        let record = SessionRecord {
            session_id,
            member_id,
            created_at: issued_at,
            last_seen_at: issued_at,
            expires_at,
            passwords: standing.passwords,
            agent: String::new(),
        };
        Ok((SignedIn { token, expires_at, member, device_note }, record))
    }

    /// Who sent this token; asks no database.
    pub fn authenticate(&self, token: &str) -> Result<Session, MemberError> {
        self.sessions.authenticate(token)
    }

    /// Ends a session: at once here, within the polling interval elsewhere.
    pub async fn sign_out(&self, session: &Session) -> Result<(), MemberError> {
        self.end_session(session.session_id, session.expires_at).await
    }

    pub(crate) async fn end_session(&self, session_id: SessionId, expires_at: Timestamp) -> Result<(), MemberError> {
        self.store.end_session(session_id, expires_at).await?;
        self.sessions.apply(Revocation::SessionEnded { session_id, expires_at });
        Ok(())
    }

    /// One member.
    pub async fn get(&self, member: MemberId) -> Result<Member, MemberError> {
        self.store.find(member).await?.ok_or(MemberError::NotFound)
    }

    /// The member of this name, however it is spelt; `None` when there is none.
    pub async fn find_by_name(&self, name: &str) -> Result<Option<Member>, MemberError> {
        let Ok(name) = MemberName::of_account(name.trim()) else { return Ok(None) };
        Ok(self.store.find_credentials(&name.key()).await?.map(|found| found.member))
    }

    /// Gives the member of a session another password, if they know the present one: their other sessions end, at once
    /// here and within the polling interval elsewhere.
    pub async fn change_password(&self, session: &Session, current: &str, new: &str) -> Result<(), MemberError> {
        let new = Password::chosen(new, &self.known_words(&session.actor.name))
            .map_err(|error| Invalid(vec![FieldError { field: "new", ..error }]))?;
        let wrong = || Invalid::field("current", "is not your current password");
        let current = Password::new(current).map_err(|_| wrong())?;
        let name = MemberName::of_account(&session.actor.name).map_err(|_| MemberError::NotFound)?;
        let found = self.store.find_credentials(&name.key()).await?.ok_or(MemberError::NotFound)?;
        let after = found.standing.passwords;
        if !self.passwords.verify(current, Some(found.password_hash)).await? {
            return Err(wrong().into());
        }
        let change = Change::Password { hash: self.passwords.hash(new).await?, keep: session.session_id, after };
        let (member_id, changed_at) = (session.actor.member_id, self.clock.now());
        self.change(ChangeMember { member_id, change, changed_at, act: None }).await?;
        Ok(())
    }

    /// Whether this is the password of whoever is signed in, for what should not happen on a device that somebody left.
    pub async fn is_own_password(&self, session: &Session, password: &str) -> Result<bool, MemberError> {
        let Ok(password) = Password::new(password) else { return Ok(false) };
        let name = MemberName::of_account(&session.actor.name).map_err(|_| MemberError::NotFound)?;
        let found = self.store.find_credentials(&name.key()).await?.ok_or(MemberError::NotFound)?;
        Ok(self.passwords.verify(password, Some(found.password_hash)).await?)
    }

    /// Stores a change, and takes it over at once.
    pub(crate) async fn change(&self, change: ChangeMember) -> Result<MemberRecord, MemberError> {
        let member_id = change.member_id;
        match self.store.change(change).await? {
            ChangeOutcome::Changed(record) => {
                self.staff.note(&record.member);
                let (role, standing) = (record.member.role, record.standing.clone());
                self.sessions.apply(Revocation::MemberChanged { member_id, role, standing });
                Ok(record)
            }
            ChangeOutcome::Refused(refused) => Err(refused.into()),
            ChangeOutcome::Absent => Err(MemberError::NotFound),
        }
    }

    /// Whether the site has an administrator.
    pub async fn has_admin(&self) -> Result<bool, MemberError> {
        Ok(self.store.has_admin().await?)
    }

    /// Reads what other processes revoked; called at start and every few seconds.
    pub async fn refresh_revocations(&self) -> Result<(), MemberError> {
        Ok(self.sessions.refresh().await?)
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
