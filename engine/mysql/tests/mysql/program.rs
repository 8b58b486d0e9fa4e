//! A program of the tests' own, which knows nothing of a board: tallies that members set a mark on or take it back, with a
//! counter that equals its marks.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

use madang_engine_mysql::{
    Database, Decided, Fold, Lanes, Many, MysqlLeases, SqlError, Tx, Values, bytes, idempotency,
};
use madang_kernel::{EventId, Id, ShardId, StoreError, Timestamp};
use madang_messaging::{Message, ToMessage};
use refinery::{Migration, Runner};

use crate::support::TestDb;

pub(crate) type Mysql = madang_engine_mysql::Mysql<Changed>;

const TABLES: &str = "
    CREATE TABLE tally (
        shard TINYINT UNSIGNED NOT NULL, tally BIGINT NOT NULL,
        marks BIGINT UNSIGNED NOT NULL, version BIGINT UNSIGNED NOT NULL,
        PRIMARY KEY (shard, tally)
    );
    CREATE TABLE mark (
        shard TINYINT UNSIGNED NOT NULL, tally BIGINT NOT NULL, member BIGINT NOT NULL, name VARCHAR(50) NOT NULL,
        PRIMARY KEY (shard, tally, member)
    );";

macro_rules! many {
    ($($name:ident = $sql:literal;)+) => {
        $(static $name: LazyLock<Many> = LazyLock::new(|| Many::parse($sql));)+
    };
}

many! {
    LOCK = "INSERT INTO tally (shard, tally, marks, version) VALUES\n-- rows, joined by ,\n(?, ?, 0, 0)\n\
            -- after the rows\nON DUPLICATE KEY UPDATE tally = VALUES(tally)\n";
    LOCKED = "SELECT tally, marks, version FROM tally WHERE\n-- rows, joined by OR\n(shard = ? AND tally = ?)\n";
    EXISTING = "SELECT tally, member FROM mark WHERE\n-- rows, joined by OR\n(shard = ? AND tally = ? AND member = ?)\n";
    INSERT = "INSERT INTO mark (shard, tally, member, name) VALUES\n-- rows, joined by ,\n(?, ?, ?, ?)\n";
    DELETE = "DELETE FROM mark WHERE\n-- rows, joined by OR\n(shard = ? AND tally = ? AND member = ?)\n";
    SET = "INSERT INTO tally (shard, tally, marks, version) VALUES\n-- rows, joined by ,\n(?, ?, ?, ?)\n\
           -- after the rows\nON DUPLICATE KEY UPDATE marks = VALUES(marks), version = VALUES(version)\n";
}

/// The marks of a tally changed.
pub(crate) struct Changed {
    pub(crate) event_id: EventId,
    pub(crate) tally: i64,
    pub(crate) version: u64,
}

impl ToMessage for Changed {
    fn to_message(&self) -> Message {
        Message {
            event_id: self.event_id,
            topic: "tally.v1".to_owned(),
            key: self.tally.to_string(),
            shard: shard_of(self.tally),
            occurred_at: Timestamp::from_millis(1),
            headers: Vec::new(),
            payload: self.version.to_string().into_bytes().into(),
        }
    }
}

/// The version that a message carries.
pub(crate) fn version_of(message: &Message) -> u64 {
    std::str::from_utf8(&message.payload).unwrap().parse().unwrap()
}

/// The database of the tallies.
pub(crate) fn tallies() -> Database {
    Database::new("tally").with_migrations("schema_history", migrations).with_moved_tables(&[
        "node_lease",
        "once_answer",
        "tally",
        "mark",
    ])
}

fn migrations() -> Runner {
    let tables =
        [("V1__node_lease", MysqlLeases::TABLE), ("V2__once_answer", idempotency::TABLE), ("V3__tallies", TABLES)];
    Runner::new(&tables.map(|(name, sql)| Migration::unapplied(name, sql).unwrap()))
}

fn shard_of(tally: i64) -> ShardId {
    ShardId::new(u8::try_from(tally.rem_euclid(64)).unwrap()).unwrap()
}

fn key(tally: i64) -> Values {
    vec![shard_of(tally).number().into(), tally.into()]
}

/// What a member wants of a tally.
#[derive(Clone)]
pub(crate) struct Mark {
    pub(crate) tally: i64,
    pub(crate) member: i64,
    /// At most 50 characters.
    pub(crate) name: String,
    /// Whether the mark is to be there.
    pub(crate) set: bool,
    pub(crate) event: i64,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Marked {
    pub(crate) changed: bool,
    /// The marks of the tally as the caller left it.
    pub(crate) marks: u64,
    /// The version that was committed.
    pub(crate) version: u64,
}

/// The store under test. Clones share the lanes.
#[derive(Clone)]
pub(crate) struct Tallies {
    db: Mysql,
    lanes: Lanes<TallyFold>,
}

impl Tallies {
    pub(crate) fn new(db: Mysql) -> Self {
        Self { lanes: Lanes::start(&db, TallyFold), db }
    }

    pub(crate) async fn mark(&self, mark: Mark) -> Result<Marked, StoreError> {
        self.lanes.call(mark).await
    }

    pub(crate) async fn marks(&self, tally: i64) -> Result<u64, StoreError> {
        let found = self.db.read_many(self.db.server_of(shard_of(tally)), &LOCKED, vec![key(tally)]).await?;
        let Some(mut cells) = found.into_iter().next() else { return Ok(0) };
        let _: i64 = cells.next()?;
        Ok(cells.next()?)
    }
}

struct TallyFold;

/// A tally while a batch is decided.
struct Tally {
    marks: u64,
    version: u64,
    members: HashMap<i64, Member>,
    event: Option<i64>,
}

#[derive(Default)]
struct Member {
    was_set: bool,
    is_set: bool,
    name: String,
}

impl Fold for TallyFold {
    type Call = Mark;
    type Answer = Marked;
    type Event = Changed;

    fn shard(call: &Mark) -> ShardId {
        shard_of(call.tally)
    }

    async fn decide(&self, tx: &mut Tx<'_>, calls: &[Mark]) -> Result<Decided<Marked, Changed>, SqlError> {
        let mut tallies = load(tx, calls).await?;
        let mut answers = Vec::new();
        for call in calls {
            let tally = tallies.get_mut(&call.tally).unwrap();
            let member = tally.members.entry(call.member).or_default();
            let changed = member.is_set != call.set;
            if changed {
                (member.is_set, member.name) = (call.set, call.name.clone());
                tally.marks = if call.set { tally.marks + 1 } else { tally.marks - 1 };
                tally.event.get_or_insert(call.event);
            }
            answers.push(Marked { changed, marks: tally.marks, version: 0 });
        }
        let events = write(tx, &mut tallies).await?;
        for (call, answer) in calls.iter().zip(&mut answers) {
            answer.version = tallies[&call.tally].version;
        }
        Ok(Decided { decisions: answers.into_iter().map(Ok).collect(), events })
    }
}

async fn load(tx: &mut Tx<'_>, calls: &[Mark]) -> Result<BTreeMap<i64, Tally>, SqlError> {
    let keys: BTreeSet<(u8, i64)> = calls.iter().map(|call| (shard_of(call.tally).number(), call.tally)).collect();
    let keys: Vec<Values> = keys.into_iter().map(|(_, tally)| key(tally)).collect();
    tx.touch_many(&LOCK, keys.clone()).await?;
    let mut tallies = BTreeMap::new();
    for mut cells in tx.read_many(&LOCKED, keys).await? {
        let (tally, marks, version) = (cells.next()?, cells.next()?, cells.next()?);
        tallies.insert(tally, Tally { marks, version, members: HashMap::new(), event: None });
    }
    let pairs: BTreeSet<(i64, i64)> = calls.iter().map(|call| (call.tally, call.member)).collect();
    for mut cells in tx.read_many(&EXISTING, pairs.into_iter().map(pair).collect()).await? {
        let (tally, member): (i64, i64) = (cells.next()?, cells.next()?);
        let members = &mut tallies.get_mut(&tally).unwrap().members;
        members.insert(member, Member { was_set: true, is_set: true, name: String::new() });
    }
    Ok(tallies)
}

fn pair((tally, member): (i64, i64)) -> Values {
    [key(tally), vec![member.into()]].concat()
}

async fn write(tx: &mut Tx<'_>, tallies: &mut BTreeMap<i64, Tally>) -> Result<Vec<Changed>, SqlError> {
    let (mut inserts, mut deletes, mut counts, mut events) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (id, tally) in tallies {
        let Some(event) = tally.event else { continue };
        for (member, state) in &tally.members {
            match (state.was_set, state.is_set) {
                (false, true) => inserts.push([pair((*id, *member)), vec![bytes(state.name.as_str())]].concat()),
                (true, false) => deletes.push(pair((*id, *member))),
                (true, true) | (false, false) => {}
            }
        }
        tally.version += 1;
        counts.push([key(*id), vec![tally.marks.into(), tally.version.into()]].concat());
        events.push(Changed { event_id: EventId::from_raw(event), tally: *id, version: tally.version });
    }
    tx.set_many(&DELETE, deletes).await?;
    tx.insert_many(&INSERT, inserts).await?;
    tx.set_many(&SET, counts).await?;
    Ok(events)
}

impl TestDb {
    /// Counters that differ from their marks.
    pub(crate) async fn differences(&self) -> Vec<String> {
        let sql = "SELECT t.tally, t.marks, COUNT(m.member)
                   FROM tally t LEFT JOIN mark m ON m.shard = t.shard AND m.tally = t.tally
                   GROUP BY t.shard, t.tally HAVING t.marks <> COUNT(m.member)
                   UNION ALL
                   SELECT m.tally, -1, COUNT(*) FROM mark m
                   LEFT JOIN tally t ON t.shard = m.shard AND t.tally = m.tally
                   WHERE t.tally IS NULL GROUP BY m.shard, m.tally";
        let rows: Vec<(i64, i64, i64)> = self.rows(sql).await;
        rows.iter().map(|(tally, counted, marks)| format!("{tally}: counted {counted}, marks {marks}")).collect()
    }
}
