//! What a file's schema is beside the one that this version knows: what a start would change, or that it must not.

use rusqlite::Connection;

use crate::embedded::migrations;

/// A step of the schema that a start would carry out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingStep {
    /// Its number.
    pub version: i64,
    /// What it is called.
    pub name: String,
    /// What it does.
    pub sql: String,
}

/// The newest schema of this version.
pub fn known_schema() -> i64 {
    migrations::runner().get_migrations().iter().map(|step| i64::from(step.version())).max().unwrap_or(0)
}

/// The schema of a file that is newer than this version, which must leave it alone.
pub fn newer_schema(file: &Connection) -> rusqlite::Result<Option<i64>> {
    Ok(madang_engine_sqlite::stored_schema(file)?.filter(|found| *found > known_schema()))
}

/// What a start would carry out in a file, in order.
pub fn pending_steps(file: &Connection) -> rusqlite::Result<Vec<PendingStep>> {
    let found = madang_engine_sqlite::stored_schema(file)?.unwrap_or(0);
    let runner = migrations::runner();
    let mut pending: Vec<PendingStep> = runner
        .get_migrations()
        .iter()
        .map(|step| PendingStep {
            version: i64::from(step.version()),
            name: step.name().to_owned(),
            sql: step.sql().unwrap_or_default().to_owned(),
        })
        .filter(|step| step.version > found)
        .collect();
    pending.sort_unstable_by_key(|step| step.version);
    Ok(pending)
}
