//! How the statements of a crate run: shared by the plans of the engine and of whoever keeps tables beside it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

/// The statements of one crate.
pub(crate) struct Statements {
    /// Its folder.
    pub(crate) root: PathBuf,
    /// Statements that read a whole table on purpose, with the reason.
    pub(crate) scans: &'static [(&'static str, &'static str)],
}

impl Statements {
    /// What is wrong with them: a scan, a sort, an index that is named and not used, a file that nobody includes.
    pub(crate) fn failures(&self, reader: &Connection) -> Vec<String> {
        let (indexes, sources) = (indexes(reader), sources(&self.root.join("src")));
        let mut failures = Vec::new();
        for (name, sql) in self.all() {
            if !sources.contains(&format!("sql/{name}")) {
                failures.push(format!("{name}: no source includes it"));
            }
            match plan(reader, &sql) {
                Ok(plan) => failures.extend(self.objection(&name, &sql, &plan, &indexes)),
                Err(error) => failures.push(format!("{name}: {error}")),
            }
        }
        let gone = self.scans.iter().filter(|(name, _)| !self.root.join("sql").join(name).exists());
        failures.extend(gone.map(|(name, _)| format!("{name} is gone: remove it from the list of scans")));
        failures
    }

    fn objection(&self, name: &str, sql: &str, plan: &[String], indexes: &[String]) -> Option<String> {
        let shown = plan.join("; ");
        if !sql.starts_with("-- ") {
            return Some(format!("{name}: must open with a comment that says which index it uses"));
        }
        let may_scan = self.scans.iter().any(|(permitted, _)| *permitted == name);
        if !may_scan && plan.iter().any(|step| is_scan(step)) {
            return Some(format!("{name}: scans a table: {shown}"));
        }
        if plan.iter().any(|step| step.contains("TEMP B-TREE") || step.contains("AUTOMATIC")) {
            return Some(format!("{name}: sorts or builds an index: {shown}"));
        }
        // An INSERT has no plan of its own; its conflicts are found through the unique index.
        let missing = |index: &&String| sql.contains(index.as_str()) && !shown.contains(index.as_str());
        match indexes.iter().find(missing) {
            Some(index) if !sql.contains("INSERT INTO") => Some(format!("{name}: names {index} and runs by {shown}")),
            _ => None,
        }
    }

    /// Every statement by its name, the schema aside.
    fn all(&self) -> Vec<(String, String)> {
        let folder = self.root.join("sql");
        let mut files = files_under(&folder, "sql");
        files.retain(|file| !file.ends_with("schema.sql"));
        assert!(files.len() > 20, "the statements were not found");
        files.sort();
        let read = |file: PathBuf| {
            let name = file.strip_prefix(&folder).unwrap().display().to_string();
            (name, fs::read_to_string(&file).unwrap())
        };
        files.into_iter().map(read).collect()
    }
}

/// The steps by which SQLite runs a statement.
pub(crate) fn plan(reader: &Connection, sql: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = reader.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
    let mut rows = statement.raw_query();
    let mut steps = Vec::new();
    while let Some(row) = rows.next()? {
        steps.push(row.get(3)?);
    }
    Ok(steps)
}

/// A page found by a sub-query, the caller's list of ids and a constant row are read whole, and small by construction.
fn is_scan(step: &str) -> bool {
    let small = ["SCAN page", "SCAN json_each", "SCAN CONSTANT ROW"];
    step.starts_with("SCAN") && !small.iter().any(|small| step.starts_with(small))
}

fn indexes(reader: &Connection) -> Vec<String> {
    let sql = "SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL";
    let mut statement = reader.prepare(sql).unwrap();
    let names = statement.query_map([], |row| row.get(0)).unwrap();
    names.collect::<Result<_, _>>().unwrap()
}

fn sources(folder: &Path) -> String {
    files_under(folder, "rs").iter().map(|file| fs::read_to_string(file).unwrap()).collect()
}

fn files_under(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_under(&path, extension));
        } else if path.extension().is_some_and(|ending| ending == extension) {
            found.push(path);
        }
    }
    found
}
