//! `madang upgrade --check`: which migrations the next start would run, on what, and about how long that takes. A schema
//! that is newer than this program is told as what it is: every start refuses it.

use clap::Args;
use madang_kernel::SystemClock;
use madang_mysql::{Database, DatabaseState, Service};
use rusqlite::Connection;

use super::doctor::embedded::inspect;
use super::doctor::finding::Report;
use super::migration_cost::{Cost, Engine, Step, costs};
use crate::composition;
use crate::config::{ClusterSettings, Settings};

/// Something is newer than this program.
const NEWER: u8 = 1;
/// Migrations would run.
const PENDING: u8 = 2;

/// What is asked.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct UpgradeArgs {
    /// Only say what the next start would do; nothing is changed
    #[arg(long, required = true)]
    pub check: bool,
}

/// Says what a start of this version would do.
pub(crate) async fn upgrade(settings: &Settings) -> anyhow::Result<u8> {
    println!("this is madang {}", env!("CARGO_PKG_VERSION"));
    let plans = match &settings.cluster {
        None => of_file(settings)?,
        Some(cluster) => of_servers(cluster).await?,
    };
    let (mut code, mut seconds) = (0, 0.0);
    for plan in &plans {
        match &plan.schema {
            Schema::Newer { found, known } => {
                println!("{}: {}", plan.name, newer_in_words(*found, *known));
                code = NEWER;
            }
            Schema::Known { pending } if pending.is_empty() => println!("{}: up to date", plan.name),
            Schema::Known { pending } => {
                for step in pending {
                    let cost = costs(step, plan.engine, &plan.rows);
                    seconds += cost.seconds();
                    println!("{}: would run {} ({}): {cost}", plan.name, step.version, step.name);
                }
                code = if code == NEWER { NEWER } else { PENDING };
            }
        }
    }
    match code {
        NEWER => println!("run the newer version, or restore a backup from before it; this one refuses to start"),
        PENDING => {
            println!("the next start runs these, in about {} in all; make a backup first", Cost::in_words(seconds));
        }
        _ => println!("the next start changes nothing"),
    }
    Ok(code)
}

/// A database, and what would happen to it.
struct Plan {
    name: String,
    engine: Engine,
    rows: Vec<(String, u64)>,
    schema: Schema,
}

enum Schema {
    Newer { found: i64, known: i64 },
    Known { pending: Vec<Step> },
}

fn of_file(settings: &Settings) -> anyhow::Result<Vec<Plan>> {
    let Some(file) = inspect(&settings.data)? else { return Ok(Vec::new()) };
    let name = settings.data.join(madang_sqlite::DATABASE_FILE).display().to_string();
    let schema = match madang_sqlite::newer_schema(&file)? {
        Some(found) => Schema::Newer { found, known: madang_sqlite::known_schema() },
        None => Schema::Known { pending: pending_of(&file)? },
    };
    let mut rows = Vec::new();
    if let Schema::Known { pending } = &schema
        && !pending.is_empty()
    {
        rows = rows_of(&file)?;
    }
    Ok(vec![Plan { name, engine: Engine::Sqlite, rows, schema }])
}

fn pending_of(file: &Connection) -> anyhow::Result<Vec<Step>> {
    let pending = madang_sqlite::pending_steps(file)?;
    let step = |step: madang_sqlite::PendingStep| Step { version: step.version, name: step.name, sql: step.sql };
    Ok(pending.into_iter().map(step).collect())
}

/// How many rows each table of the file has.
fn rows_of(file: &Connection) -> anyhow::Result<Vec<(String, u64)>> {
    let mut tables =
        file.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")?;
    let names = tables.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    let count = |name: String| {
        let sql = format!("SELECT count(*) FROM \"{name}\"");
        Ok((name, file.query_row(&sql, [], |row| row.get::<_, u64>(0))?))
    };
    names.into_iter().map(count).collect()
}

/// Every database of a site.
pub(super) fn databases() -> Vec<Database> {
    Service::ALL.map(Database::from).to_vec()
}

async fn of_servers(cluster: &ClusterSettings) -> anyhow::Result<Vec<Plan>> {
    let options = composition::mysql_options(cluster);
    let mut plans = Vec::new();
    for (index, server) in cluster.mysql.iter().enumerate() {
        let found = madang_mysql::inspect(&options, index, &databases(), &SystemClock).await;
        let found = found.map_err(|error| anyhow::anyhow!("cannot ask mysql {}: {error}", server.url.host()))?;
        plans.extend(found.databases.iter().map(|database| plan_of(server.url.host(), database)));
    }
    Ok(plans)
}

fn plan_of(host: &str, database: &DatabaseState) -> Plan {
    let schema = match newer(database) {
        Some((found, known)) => Schema::Newer { found, known },
        None => {
            let pending = database.schemas.iter().flat_map(|schema| schema.pending.iter());
            let step = |step: &madang_mysql::PendingMigration| {
                let step = step.clone();
                Step { version: step.version, name: step.name, sql: step.sql }
            };
            Schema::Known { pending: pending.map(step).collect() }
        }
    };
    let rows = database.rows.iter().map(|(table, rows)| (table.clone(), *rows)).collect();
    Plan { name: format!("{} on {host}", database.name), engine: Engine::Mysql, rows, schema }
}

fn newer(database: &DatabaseState) -> Option<(i64, i64)> {
    let newer = database.schemas.iter().find(|schema| schema.found > schema.known);
    newer.map(|schema| (schema.found, schema.known))
}

fn newer_in_words(found: i64, known: i64) -> String {
    format!("was written by a newer version of madang (schema {found}, this version knows {known})")
}

/// The schema of a file, for the doctor.
pub(super) fn judge_file(file: &Connection, report: &mut Report) {
    const PART: &str = "schema";
    let known = madang_sqlite::known_schema();
    match (madang_sqlite::newer_schema(file), madang_sqlite::pending_steps(file)) {
        (Ok(Some(found)), _) => report.problem(PART, newer_in_words(found, known), "run that version"),
        (Ok(None), Ok(pending)) if pending.is_empty() => {
            report.ok(PART, format!("{known}, the newest that this version knows"));
        }
        (Ok(None), Ok(pending)) => report.warning(
            PART,
            format!("{} migrations would run at the next start", pending.len()),
            "`madang upgrade --check` says which; make a backup first",
        ),
        (Err(error), _) | (_, Err(error)) => {
            report.problem(PART, format!("cannot be read: {error}"), "run `madang check --full`");
        }
    }
}

/// The schemas of a server's databases, for the doctor.
pub(super) fn judge_databases(part: &str, databases: &[DatabaseState], report: &mut Report) {
    let mut pending = 0;
    for database in databases {
        if let Some((found, known)) = newer(database) {
            report.problem(part, format!("{} {}", database.name, newer_in_words(found, known)), "run that version");
        }
        if database.collation.is_some() {
            pending += database.schemas.iter().map(|schema| schema.pending.len()).sum::<usize>();
        }
    }
    let missing = databases.iter().filter(|database| database.collation.is_none()).count();
    if pending > 0 {
        report.warning(
            part,
            format!("{pending} migrations would run at the next start"),
            "`madang upgrade --check` says which; make a backup first",
        );
    } else if missing > 0 {
        report.ok(
            part,
            format!("{missing} of {} databases do not exist yet: the first start creates them", databases.len()),
        );
    } else {
        report.ok(part, format!("the schemas of {} databases are up to date", databases.len()));
    }
}
