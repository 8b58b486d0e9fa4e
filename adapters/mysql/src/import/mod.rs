//! Takes in a site that moves here from elsewhere: rows by their own keys, again and again without harm, and a note of how
//! far each table is, so that whoever was interrupted goes on.

mod tables;

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::try_join_all;
use madang_engine_mysql::{MysqlLeases, PART, SqlError, Values, bytes, transact};
use madang_kernel::{ServerIndex, ShardId, StoreError};

pub use tables::{ImportCell, ImportTable};

use crate::{Mysql, Service};

const FIND: &str = include_str!("../../sql/copy/find.sql");
const BEGIN: &str = include_str!("../../sql/copy/begin.sql");
const FINISH: &str = include_str!("../../sql/copy/finish.sql");
const PROGRESS: &str = include_str!("../../sql/copy/progress.sql");
const ADVANCE: &str = include_str!("../../sql/copy/advance.sql");
const RAISE_HEAD: &str = include_str!("../../sql/member/raise_head.sql");
const MEMBER_ROWS: &str = include_str!("../../sql/member/moved_rows.sql");
const ARTICLE_ROWS: &str = include_str!("../../sql/article/moved_rows.sql");
const COMMENT_ROWS: &str = include_str!("../../sql/comment/moved_rows.sql");
const LIKE_ROWS: &str = include_str!("../../sql/like/moved_rows.sql");
const VIEW_ROWS: &str = include_str!("../../sql/view/moved_rows.sql");
const HOT_ROWS: &str = include_str!("../../sql/hot/moved_rows.sql");

/// Why a site is not taken in.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The databases are in use for something else.
    #[error("the databases hold {rows} rows of {table} that are no copy of this site: choose another `cluster.name`")]
    HoldsData {
        /// A table that is not empty.
        table: String,
        /// Its rows.
        rows: u64,
    },
    /// Another site is being copied here, or was.
    #[error("another site was copied to these databases: choose another `cluster.name`")]
    OtherSite,
    /// The source is not what it was when the copy began.
    #[error(
        "the site has changed since its copy began, so what was copied is out of date: begin again under another \
         `cluster.name`, or drop these databases first"
    )]
    SourceChanged,
    /// Somebody works on the databases.
    #[error(
        "{0} processes work on this cluster: stop them first (one that was killed is forgotten after `cluster.node_lease_ms`)"
    )]
    InUse(u64),
    /// A database did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What a copy finds at its beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begun {
    /// Nothing is there yet.
    Anew,
    /// An earlier run has come so far.
    Again(BTreeMap<String, Progress>),
    /// An earlier run has done everything.
    Finished,
}

/// How far a table is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// The key of its last row that is here, as the source writes it.
    pub last_key: Vec<u8>,
    /// Rows that are here.
    pub rows: u64,
}

/// The databases of all services, for a site that moves in.
pub struct MysqlImport {
    databases: Vec<(Service, Mysql)>,
    member: Mysql,
}

impl MysqlImport {
    /// Takes in what belongs to these databases, which must be those of all services.
    pub fn new(member: Mysql, others: Vec<(Service, Mysql)>) -> Self {
        Self { databases: others.into_iter().chain([(Service::Member, member.clone())]).collect(), member }
    }

    /// Whether a site was begun to be copied into these members' databases and is not there yet: nobody must serve it.
    pub async fn is_half_done(member: &Mysql) -> Result<bool, StoreError> {
        let found = member.read(member.server_of(ShardId::HOME), FIND, Vec::new()).await?;
        let Some(mut cells) = found.into_iter().next() else { return Ok(false) };
        let (_, _, finished_at) = (cells.next::<Vec<u8>>()?, cells.next::<Vec<u8>>()?, cells.next::<Option<i64>>()?);
        Ok(finished_at.is_none())
    }

    /// Begins to take in the site, or goes on. `state` tells whether the source has changed.
    pub async fn begin(&self, site: &str, state: &str) -> Result<Begun, ImportError> {
        let home = self.member.server_of(ShardId::HOME);
        if let Some(mut cells) = self.member.read(home, FIND, Vec::new()).await.map_err(store)?.into_iter().next() {
            let (of, as_of) = (cells.next::<Vec<u8>>().map_err(store)?, cells.next::<Vec<u8>>().map_err(store)?);
            if of != site.as_bytes() {
                return Err(ImportError::OtherSite);
            }
            if cells.next::<Option<i64>>().map_err(store)?.is_some() {
                return Ok(Begun::Finished);
            }
            if as_of != state.as_bytes() {
                return Err(ImportError::SourceChanged);
            }
            self.nobody_is_at_work().await?;
            return Ok(Begun::Again(self.progress().await?));
        }
        self.nobody_is_at_work().await?;
        if let Some((table, rows)) = self.counts().await?.into_iter().find(|(_, rows)| *rows > 0) {
            return Err(ImportError::HoldsData { table, rows });
        }
        let now = self.member.clock().now().as_millis();
        let values = || vec![bytes(site), bytes(state), now.into()];
        let begun: Result<u64, SqlError> = transact!(self.member, ShardId::HOME, |tx| tx.write(BEGIN, values()));
        begun.map_err(store)?;
        Ok(Begun::Anew)
    }

    async fn nobody_is_at_work(&self) -> Result<(), ImportError> {
        match MysqlLeases::new(&self.member).held().await.map_err(store)? {
            0 => Ok(()),
            held => Err(ImportError::InUse(held)),
        }
    }

    async fn progress(&self) -> Result<BTreeMap<String, Progress>, StoreError> {
        let found = self.member.read(self.member.server_of(ShardId::HOME), PROGRESS, Vec::new()).await?;
        let mut progress = BTreeMap::new();
        for mut cells in found {
            let (name, last_key, rows) = (cells.next()?, cells.next()?, cells.next()?);
            progress.insert(name, Progress { last_key, rows });
        }
        Ok(progress)
    }

    /// Takes in some rows, each on its server, then notes how far the table is. Rows that are there already stay.
    pub async fn take(
        &self,
        table: ImportTable,
        rows: Vec<Vec<ImportCell>>,
        progress: &Progress,
    ) -> Result<(), StoreError> {
        let mut by_server: BTreeMap<(&'static str, u8), Slice<'_>> = BTreeMap::new();
        for row in rows {
            let placed = table.place(row)?;
            let db = self.database(placed.service)?;
            let server = db.map().server(placed.shard);
            let slice = by_server.entry((placed.service.name(), server.0));
            let slice = slice.or_insert_with(|| Slice { db, server, shards: BTreeSet::new(), rows: Vec::new() });
            slice.shards.insert(placed.shard);
            slice.rows.push(placed.values);
        }
        try_join_all(by_server.into_values().map(|slice| write(slice, table))).await?;
        let values = || vec![bytes(table.name()), bytes(progress.last_key.as_slice()), progress.rows.into()];
        let noted: Result<u64, SqlError> = transact!(self.member, ShardId::HOME, |tx| tx.write(ADVANCE, values()));
        noted?;
        Ok(())
    }

    /// Rows that are here, by table; all servers together.
    pub async fn counts(&self) -> Result<BTreeMap<String, u64>, StoreError> {
        let mut counts = BTreeMap::new();
        for (service, db) in &self.databases {
            let sql = match service {
                Service::Member => MEMBER_ROWS,
                Service::Article => ARTICLE_ROWS,
                Service::Comment => COMMENT_ROWS,
                Service::Like => LIKE_ROWS,
                Service::View => VIEW_ROWS,
                Service::HotArticle => HOT_ROWS,
            };
            for server in db.servers() {
                for mut cells in db.read(server, sql, Vec::new()).await? {
                    let (table, rows) = (cells.next::<String>()?, cells.next::<u64>()?);
                    *counts.entry(table).or_default() += rows;
                }
            }
        }
        Ok(counts)
    }

    /// Lets ids and positions go on above what the site brought with it: no lease begins below `ids_end_ms`.
    pub async fn go_on_above(&self, ids_end_ms: i64, revocation: i64) -> Result<(), StoreError> {
        let raised: Result<(), SqlError> = transact!(self.member, ShardId::HOME, |tx| async {
            MysqlLeases::begin_above(&mut tx, ids_end_ms).await?;
            tx.write(RAISE_HEAD, vec![revocation.into()]).await.map(|_| ())
        });
        Ok(raised?)
    }

    /// From here on the site is this cluster's.
    pub async fn finish(&self) -> Result<(), StoreError> {
        let now = self.member.clock().now().as_millis();
        let finished: Result<u64, SqlError> =
            transact!(self.member, ShardId::HOME, |tx| tx.write(FINISH, vec![now.into()]));
        finished?;
        Ok(())
    }

    /// Closes every database.
    pub async fn close(&self) {
        futures_util::future::join_all(self.databases.iter().map(|(_, database)| database.close())).await;
    }

    fn database(&self, service: Service) -> Result<&Mysql, StoreError> {
        let found = self.databases.iter().find(|(found, _)| *found == service).map(|(_, database)| database);
        found.ok_or_else(|| StoreError::broken(PART, format!("no database of {}", service.name())))
    }
}

/// Rows of one server.
struct Slice<'a> {
    db: &'a Mysql,
    server: ServerIndex,
    shards: BTreeSet<ShardId>,
    rows: Vec<Values>,
}

/// All rows of one server in one transaction.
async fn write(slice: Slice<'_>, table: ImportTable) -> Result<(), StoreError> {
    let Slice { db, server, shards, rows } = slice;
    let shards = Vec::from_iter(shards);
    let written: Result<(), SqlError> = transact!(db.server(server), |tx| async {
        tx.insert_many(ImportTable::of_days(), table.days(&rows)).await?;
        tx.insert_many(table.many(), rows.clone()).await?;
        tx.holds(&shards).await
    });
    Ok(written?)
}

fn store(error: SqlError) -> ImportError {
    ImportError::Store(error.into())
}
