//! A batch of calls: names are looked up together, and revocations get their positions under one lock, so that a cursor
//! over positions never passes one that commits late.

use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

use madang_board::SessionId;
use madang_engine_mysql::{Decided, Fold, Many, SqlError, Tx, Values, bytes};
use madang_event::Envelope;
use madang_kernel::{Id, ShardId, Timestamp};
use madang_member::{ChangeMember, ChangeOutcome, MemberRecord, NewMember};
use mysql_async::Value;

use super::{reset, row, skeleton};
use crate::moderation;

static TAKEN_NAMES: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/member/taken_names.sql")));
static INSERT: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/member/insert.sql")));
static ENDED: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/member/ended_sessions.sql")));
static FORGET_CHANGES: LazyLock<Many> =
    LazyLock::new(|| Many::parse(include_str!("../../sql/member/forget_changes.sql")));
static REVOKE: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/member/revoke.sql")));
const FIND_RECORD: &str = include_str!("../../sql/member/find_record.sql");
const STORE_RECORD: &str = include_str!("../../sql/member/store_record.sql");
const HAS_OTHER_ADMIN: &str = include_str!("../../sql/member/has_other_admin.sql");
const LOCK_HEAD: &str = include_str!("../../sql/member/lock_head.sql");
const HEAD: &str = include_str!("../../sql/member/head.sql");
const SET_HEAD: &str = include_str!("../../sql/member/set_head.sql");

/// One call.
pub(super) enum Call {
    /// Members to register, without those whose name is taken.
    Create(Vec<NewMember>),
    Change(Box<ChangeMember>),
    EndSession(SessionId, Timestamp),
}

/// The answer, each for its kind of call.
pub(super) enum Answer {
    Created(u64),
    Changed(ChangeOutcome),
    SessionEnded(()),
}

/// Decides the calls of a batch.
pub(super) struct MemberFold;

impl Fold for MemberFold {
    type Call = Call;
    type Answer = Answer;
    /// What members do stays with them.
    type Event = Envelope;

    fn shard(_: &Call) -> ShardId {
        ShardId::HOME
    }

    async fn decide(&self, tx: &mut Tx<'_>, calls: &[Call]) -> Result<Decided<Answer, Envelope>, SqlError> {
        let mut revoking = Revoking::begin(tx, calls).await?;
        let mut names = Names::load(tx, calls).await?;
        let mut answers = Vec::with_capacity(calls.len());
        for call in calls {
            answers.push(Ok(match call {
                Call::Create(new) => Answer::Created(names.register(new)),
                Call::Change(change) => Answer::Changed(self::change(tx, &mut revoking, change).await?),
                Call::EndSession(session, expires_at) => {
                    revoking.end_session(*session, *expires_at);
                    Answer::SessionEnded(())
                }
            }));
        }
        tx.insert_many(&INSERT, names.rows).await?;
        revoking.write(tx).await?;
        Ok(Decided::without_events(answers))
    }
}

/// The names that a batch registers, and those that it must not, by their keys and by their looks.
struct Names {
    keys: HashSet<Vec<u8>>,
    skeletons: HashSet<Vec<u8>>,
    rows: Vec<Values>,
}

impl Names {
    async fn load(tx: &mut Tx<'_>, calls: &[Call]) -> Result<Self, SqlError> {
        let new = || calls.iter().flat_map(|call| if let Call::Create(new) = call { new.as_slice() } else { &[] });
        let keys = new().map(|new| new.name_key.as_str()).collect();
        let skeletons = new().map(|new| new.skeleton.as_str()).collect();
        Ok(Self {
            keys: taken_names(tx, keys).await?,
            skeletons: skeleton::taken(tx, skeletons).await?,
            rows: Vec::new(),
        })
    }

    /// Returns how many are registered.
    fn register(&mut self, new: &[NewMember]) -> u64 {
        let before = self.rows.len();
        for NewMember { member, name_key, skeleton, password_hash } in new {
            let is_taken = self.keys.contains(name_key.as_bytes()) || self.skeletons.contains(skeleton.as_bytes());
            if !is_taken {
                self.keys.insert(name_key.as_bytes().to_vec());
                self.skeletons.insert(skeleton.as_bytes().to_vec());
                self.rows.push(vec![
                    member.member_id.raw().into(),
                    bytes(member.name.as_str()),
                    bytes(name_key.as_str()),
                    bytes(skeleton.as_str()),
                    bytes(member.role.name()),
                    bytes(password_hash.as_str()),
                    member.created_at.as_millis().into(),
                ]);
            }
        }
        (self.rows.len() - before) as u64
    }
}

/// Of some names those that somebody has.
async fn taken_names(tx: &mut Tx<'_>, wanted: BTreeSet<&str>) -> Result<HashSet<Vec<u8>>, SqlError> {
    let rows = tx.read_many(&TAKEN_NAMES, wanted.into_iter().map(|name| vec![bytes(name)]).collect()).await?;
    rows.into_iter().map(|mut cells| cells.next()).collect()
}

/// What a batch revokes, in order.
struct Revoking {
    ended_before: HashSet<i64>,
    sessions: Vec<Revoked>,
    forget: BTreeSet<i64>,
}

/// One revocation without its position.
enum Revoked {
    Session(SessionId, Timestamp),
    Member(MemberRecord),
}

impl Revoking {
    /// Locks the head if there is anything to revoke; sessions end once.
    async fn begin(tx: &mut Tx<'_>, calls: &[Call]) -> Result<Self, SqlError> {
        let mut ended_before = HashSet::new();
        if calls.iter().any(|call| !matches!(call, Call::Create(_))) {
            tx.write(LOCK_HEAD, Vec::new()).await?;
            let sessions: BTreeSet<i64> = calls
                .iter()
                .filter_map(|call| if let Call::EndSession(session, _) = call { Some(session.raw()) } else { None })
                .collect();
            for mut cells in tx.read_many(&ENDED, sessions.into_iter().map(|id| vec![id.into()]).collect()).await? {
                ended_before.insert(cells.next()?);
            }
        }
        Ok(Self { ended_before, sessions: Vec::new(), forget: BTreeSet::new() })
    }

    fn end_session(&mut self, session: SessionId, expires_at: Timestamp) {
        if self.ended_before.insert(session.raw()) {
            self.sessions.push(Revoked::Session(session, expires_at));
        }
    }

    /// The newest state of a member is the one that counts.
    fn change_member(&mut self, record: MemberRecord) {
        let member = record.member.member_id;
        self.sessions.retain(|earlier| !matches!(earlier, Revoked::Member(other) if other.member.member_id == member));
        self.sessions.push(Revoked::Member(record));
        self.forget.insert(member.raw());
    }

    async fn write(self, tx: &mut Tx<'_>) -> Result<(), SqlError> {
        if self.sessions.is_empty() {
            return Ok(());
        }
        tx.set_many(&FORGET_CHANGES, self.forget.into_iter().map(|id| vec![id.into()]).collect()).await?;
        let head = tx.first(HEAD, Vec::new()).await?;
        let mut position: i64 = head.ok_or_else(|| SqlError::defect("the head of the revocations is gone"))?.next()?;
        let rows = self.sessions.into_iter().map(|revoked| {
            position += 1;
            match revoked {
                Revoked::Session(session, expires_at) => {
                    let (session, expires_at) = (session.raw().into(), expires_at.as_millis().into());
                    vec![position.into(), session, expires_at, Value::NULL, Value::NULL, Value::NULL]
                }
                Revoked::Member(MemberRecord { member, standing, .. }) => {
                    let (role, standing) = (bytes(member.role.name()), bytes(row::standing_json(&standing)));
                    vec![position.into(), Value::NULL, Value::NULL, member.member_id.raw().into(), role, standing]
                }
            }
        });
        let rows: Vec<Values> = rows.collect();
        tx.insert_many(&REVOKE, rows).await?;
        tx.write(SET_HEAD, vec![position.into()]).await?;
        Ok(())
    }
}

/// The head of the revocations is locked, so no other change runs beside this one, in whichever process.
async fn change(tx: &mut Tx<'_>, revoking: &mut Revoking, change: &ChangeMember) -> Result<ChangeOutcome, SqlError> {
    let member = change.member_id.raw();
    let Some(found) = tx.first(FIND_RECORD, vec![member.into()]).await? else { return Ok(ChangeOutcome::Absent) };
    let has_other_admin = tx.first(HAS_OTHER_ADMIN, vec![member.into()]).await?.is_some();
    let actor = match &change.act {
        Some(act) => tx.first(FIND_RECORD, vec![act.moderator_id.raw().into()]).await?.map(row::record).transpose()?,
        None => None,
    };
    let reset = reset::needed(tx, change.member_id, &change.change).await?;
    let found = row::record(found)?;
    let before = found.member.role;
    let changed = match change.decide(found, has_other_admin, actor.as_ref(), reset.as_ref()) {
        Ok(changed) => changed,
        Err(refused) => return Ok(ChangeOutcome::Refused(refused)),
    };
    let (role, standing) = (bytes(changed.member.role.name()), bytes(row::standing_json(&changed.standing)));
    tx.write(STORE_RECORD, vec![role, bytes(changed.password_hash.as_str()), standing, member.into()]).await?;
    reset::follow(tx, change, before).await?;
    revoking.change_member(changed.clone());
    moderation::record(tx, &change.act).await?;
    Ok(ChangeOutcome::Changed(changed))
}
