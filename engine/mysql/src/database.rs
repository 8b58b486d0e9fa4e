//! What a program says about one of its databases: its name, and the tables it has beside those of the engine.

use std::fmt;

use refinery::Runner;

use crate::moving::{ENGINE_MOVES, ENGINE_STAYS};

/// A database of a program, on each of its servers.
#[derive(Clone)]
pub struct Database {
    name: &'static str,
    migrations: Vec<Migrations>,
    moved_tables: &'static [&'static str],
}

/// One set of migrations.
#[derive(Clone, Copy)]
pub(crate) struct Migrations {
    /// The table that remembers which of them have run.
    pub(crate) history: &'static str,
    pub(crate) runner: fn() -> Runner,
}

impl Database {
    /// A database with the tables of the engine alone. On a server it is called `<prefix>_<name>`, each `-` as `_`.
    pub fn new(name: &'static str) -> Self {
        Self { name, migrations: Vec::new(), moved_tables: &[] }
    }

    /// Adds tables of the program's own: `runner` is what `refinery::embed_migrations!` makes, `history` the table that
    /// remembers which of them have run. Several sets run in the order in which they were added.
    #[must_use]
    pub fn with_migrations(mut self, history: &'static str, runner: fn() -> Runner) -> Self {
        self.migrations.push(Migrations { history, runner });
        self
    }

    /// Names the program's own tables, all of them: `shard` leads the primary key of each, and its rows go with their shard
    /// when that moves. A table that is not named keeps every shard of the database where it is.
    #[must_use]
    pub fn with_moved_tables(mut self, tables: &'static [&'static str]) -> Self {
        self.moved_tables = tables;
        self
    }

    /// The tables whose rows go with their shard.
    pub fn moved_tables(&self) -> impl Iterator<Item = &'static str> {
        ENGINE_MOVES.into_iter().chain(self.moved_tables.iter().copied())
    }

    /// The tables that are a server's own.
    pub fn tables_that_stay(&self) -> impl Iterator<Item = &'static str> {
        ENGINE_STAYS.into_iter().chain(self.migrations.iter().map(|migrations| migrations.history))
    }

    /// What the program calls it.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What it is called on a server.
    pub fn under(&self, prefix: &str) -> String {
        format!("{prefix}_{}", self.name.replace('-', "_"))
    }

    pub(crate) fn migrations(&self) -> &[Migrations] {
        &self.migrations
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Database").field(&self.name).finish()
    }
}
