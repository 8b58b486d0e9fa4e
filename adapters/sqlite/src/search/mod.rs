//! The search index on SQLite's full-text index (FTS5), in the file of the site: nothing else to install, back up or keep in
//! step. Changes are background work; questions go to readers of their own and end when their time is over.

mod apply;
mod ask;
mod generation;
mod rebuild;

use std::time::Duration;

use async_trait::async_trait;
use madang_engine_sqlite::{Statements as _, limit};
use madang_kernel::{StoreError, Timestamp};
use madang_search::{
    Applied, Change, Document, Found, Held, IndexSize, Kind, Offsets, Rebuild, SearchIndex, SearchRequest,
};

use self::generation::State;
use crate::{Priority, Sqlite};

const VERSION: &str = include_str!("../../sql/search/version.sql");
const HELD_BELOW: &str = include_str!("../../sql/search/held_below.sql");
const SIZE: &str = include_str!("../../sql/search/size.sql");
const FORGET: &str = include_str!("../../sql/search/forget.sql");

/// What a question may take.
const SEARCH_MAX: Duration = Duration::from_millis(1_000);
/// Marks that one call forgets.
const FORGET_SLICE: usize = 500;

/// The search index of a site in one SQLite file.
#[derive(Clone)]
pub struct SqliteSearch {
    db: Sqlite,
    search_max: Duration,
}

impl SqliteSearch {
    /// The index in `db`, which also holds the log whose offsets are stored with it.
    pub fn new(db: Sqlite) -> Self {
        Self { db, search_max: SEARCH_MAX }
    }

    /// The same with another limit to the time of a question.
    #[must_use]
    pub fn with_search_max(self, search_max: Duration) -> Self {
        Self { search_max, ..self }
    }
}

#[async_trait]
impl SearchIndex for SqliteSearch {
    async fn apply(&self, changes: Vec<Change>, done: Option<Offsets>) -> Result<Applied, StoreError> {
        let (gone, now) = (apply::articles_gone(&changes), self.db.clock().now());
        let apply = self.db.write(Priority::Background, move |tx| {
            let changed = apply::apply(tx, &changes, now)?;
            if let Some(done) = &done {
                tx.store_offsets(&done.group, &done.positions)?;
            }
            Ok(Applied { changed, offsets_stored: done.is_some() })
        });
        let mut applied = apply.await?;
        // An article may have thousands of comments; each call takes some of them.
        for article in gone {
            loop {
                let removed =
                    self.db.write(Priority::Background, move |tx| apply::remove_comments(tx, article)).await?;
                applied.changed += removed;
                if removed == 0 {
                    break;
                }
            }
        }
        Ok(applied)
    }

    async fn search(&self, request: SearchRequest) -> Result<Found, StoreError> {
        self.db.read_within(self.search_max, move |reader| ask::search(reader, &request)).await
    }

    async fn rebuild(&self) -> Result<Option<Rebuild>, StoreError> {
        self.db.read(|reader| Ok(State::read(reader)?.rebuild())).await
    }

    async fn begin_rebuild(&self) -> Result<Rebuild, StoreError> {
        rebuild::begin(&self.db).await
    }

    async fn add_rebuilt(
        &self,
        number: u64,
        documents: Vec<Document>,
        cursor: Option<String>,
    ) -> Result<bool, StoreError> {
        self.db.write(Priority::Background, move |tx| rebuild::add(tx, number, &documents, cursor)).await
    }

    async fn finish_rebuild(&self, number: u64) -> Result<bool, StoreError> {
        rebuild::finish(&self.db, number).await
    }

    async fn versions(&self, ids: Vec<i64>) -> Result<Vec<Option<u64>>, StoreError> {
        let versions = self.db.read(move |reader| {
            let active = State::read(reader)?.active;
            let version = |id: &i64| reader.find(VERSION, [active.number(), *id], |row| row.get::<_, u64>(0));
            ids.iter().map(version).collect()
        });
        versions.await
    }

    async fn held_below(&self, below: i64, most: usize) -> Result<Vec<Held>, StoreError> {
        let held = self.db.read(move |reader| {
            let active = State::read(reader)?.active;
            reader.list(HELD_BELOW, [active.number(), below, limit(most)], |row| {
                Ok(Held { kind: kind(row.get(0)?), id: row.get(1)?, version: row.get(2)? })
            })
        });
        held.await
    }

    async fn size(&self) -> Result<IndexSize, StoreError> {
        let size = self.db.read_within(self.search_max, |reader| {
            let active = State::read(reader)?.active;
            let size = |row: &rusqlite::Row<'_>| Ok(IndexSize { documents: row.get(0)?, tombstones: row.get(1)? });
            reader.one(SIZE, [active.number()], size)
        });
        size.await
    }

    async fn forget_tombstones(&self, before: Timestamp) -> Result<u64, StoreError> {
        let mut forgotten = 0;
        for generation in generation::BOTH {
            loop {
                let values = [generation.number(), before.as_millis(), limit(FORGET_SLICE)];
                let removed = self.db.write(Priority::Background, move |tx| tx.run(FORGET, values)).await?;
                forgotten += removed as u64;
                if removed < FORGET_SLICE {
                    break;
                }
            }
        }
        Ok(forgotten)
    }
}

/// A kind as a column holds it.
fn kind_number(kind: Kind) -> i64 {
    match kind {
        Kind::Article => 0,
        Kind::Comment => 1,
    }
}

/// And back; the schema allows no other number.
fn kind(number: i64) -> Kind {
    if number == 0 { Kind::Article } else { Kind::Comment }
}
