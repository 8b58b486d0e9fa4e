//! What a server is set to and how far the schema of each database is, asked without setting anything up: for whoever tells
//! an operator what is wrong, or what a start would do.

use std::collections::BTreeMap;
use std::time::Instant;

use madang_kernel::Clock;
use mysql_async::Conn;
use mysql_async::prelude::Queryable as _;
use refinery::Runner;

use crate::errors::SqlError;
use crate::open::backbone_runner;
use crate::server::connect_without_database;
use crate::{ClockSkew, Database, MysqlOptions};

const VARIABLES: &str = include_str!("../sql/inspect/variables.sql");
const COLLATION: &str = include_str!("../sql/inspect/collation.sql");
const TABLES: &str = include_str!("../sql/inspect/tables.sql");
const SERVER_NOW: &str = include_str!("../sql/backbone/server_now.sql");

/// A server as it is.
#[derive(Debug, Clone)]
pub struct Inspection {
    /// How it is set, by the names of its variables.
    pub variables: BTreeMap<String, String>,
    /// How far its clock is from ours.
    pub skew: ClockSkew,
    /// The databases that were asked for, in their order.
    pub databases: Vec<DatabaseState>,
}

/// A database on a server.
#[derive(Debug, Clone)]
pub struct DatabaseState {
    /// What it is called there.
    pub name: String,
    /// What its texts are compared by; `None` where there is no such database yet.
    pub collation: Option<String>,
    /// Each set of migrations.
    pub schemas: Vec<SchemaState>,
    /// About how many rows each table has.
    pub rows: BTreeMap<String, u64>,
}

/// How far one set of migrations is.
#[derive(Debug, Clone)]
pub struct SchemaState {
    /// The newest one that has run; 0 where none has.
    pub found: i64,
    /// The newest one that this program knows.
    pub known: i64,
    /// Those that a start would run, in order.
    pub pending: Vec<PendingMigration>,
}

/// A migration that has not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingMigration {
    /// Its number.
    pub version: i64,
    /// What it is called.
    pub name: String,
    /// What it does.
    pub sql: String,
}

/// Looks at one server, by its place in the options, and at these databases on it. Changes nothing.
pub async fn inspect(
    options: &MysqlOptions,
    server: usize,
    databases: &[Database],
    clock: &dyn Clock,
) -> Result<Inspection, SqlError> {
    let mut conn = connect_without_database(options, &options.servers[server].url).await?;
    let variables: Vec<(String, String)> = conn.query(VARIABLES).await?;
    let skew = skew(&mut conn, clock).await?;
    let mut states = Vec::new();
    for database in databases {
        states.push(state(&mut conn, database, &database.under(&options.database_prefix)).await?);
    }
    conn.disconnect().await?;
    Ok(Inspection { variables: variables.into_iter().collect(), skew, databases: states })
}

async fn skew(conn: &mut Conn, clock: &dyn Clock) -> Result<ClockSkew, SqlError> {
    let (asked_at, begun) = (clock.now().as_millis(), Instant::now());
    let told: Option<i64> = conn.query_first(SERVER_NOW).await?;
    let half_ms = u64::try_from(begun.elapsed().as_millis() / 2).unwrap_or(u64::MAX);
    let server_now = told.ok_or_else(|| SqlError::defect("the server did not tell its time"))?;
    let ahead_ms = asked_at.saturating_add_unsigned(half_ms).saturating_sub(server_now);
    Ok(ClockSkew { ahead_ms, uncertainty_ms: half_ms.saturating_add(1) })
}

async fn state(conn: &mut Conn, database: &Database, name: &str) -> Result<DatabaseState, SqlError> {
    let collation: Option<String> = conn.exec_first(COLLATION, (name,)).await?;
    let rows: Vec<(String, u64)> = conn.exec(TABLES, (name,)).await?;
    let rows: BTreeMap<String, u64> = rows.into_iter().collect();
    let own = database.migrations().iter().map(|migrations| (migrations.history, (migrations.runner)()));
    let mut schemas = Vec::new();
    for (history, runner) in std::iter::once(backbone_runner()).chain(own) {
        let found = match rows.contains_key(history) {
            true => newest(conn, name, history).await?,
            false => 0,
        };
        schemas.push(schema(found, &runner));
    }
    Ok(DatabaseState { name: name.to_owned(), collation, schemas, rows })
}

/// The newest migration that has run in a database.
pub(crate) async fn newest(conn: &mut Conn, database: &str, history: &str) -> Result<i64, SqlError> {
    // Names cannot be parameters; both are ours, and were checked letter by letter.
    let found: Option<Option<i64>> =
        conn.query_first(format!("SELECT MAX(version) FROM `{database}`.`{history}`")).await?;
    Ok(found.flatten().unwrap_or(0))
}

fn schema(found: i64, runner: &Runner) -> SchemaState {
    let steps = runner.get_migrations().iter();
    let mut all: Vec<PendingMigration> = steps
        .map(|step| PendingMigration {
            version: i64::from(step.version()),
            name: step.name().to_owned(),
            sql: step.sql().unwrap_or_default().to_owned(),
        })
        .collect();
    all.sort_unstable_by_key(|step| step.version);
    let known = all.last().map_or(0, |step| step.version);
    all.retain(|step| step.version > found);
    SchemaState { found, known, pending: all }
}
