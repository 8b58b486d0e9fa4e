//! Views written one by one: what a count that is not kept in memory would cost.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Result, ensure};
use madang_board::ArticleId;
use madang_kernel::{Id, ShardId};
use madang_sqlite::SqliteViews;
use madang_view::{StoredViews, ViewStore, WriteBack};

use super::database::Database;
use crate::load::{Side, Turn, call_until, run_callers};

const FIRST_ARTICLE: i64 = 1 << 40;

/// Callers of the store, each on an article of its own, each waiting for its commit.
pub(super) struct ViewCallers {
    database: Database,
    views: Arc<[AtomicU64]>,
}

impl ViewCallers {
    /// So many callers.
    pub(super) fn new(database: Database, callers: usize) -> Self {
        Self { database, views: (0..callers).map(|_| AtomicU64::new(0)).collect() }
    }

    /// The callers as one side of a comparison.
    pub(super) fn side<'a>(&'a self, name: &'a str) -> Side<'a> {
        Side::new(name, move |length| self.run(length))
    }

    async fn run(&self, length: Duration) -> Turn {
        let store = SqliteViews::new(self.database.db.clone());
        run_callers(self.views.len(), length, |caller, until| {
            let (store, database, views) = (store.clone(), self.database.clone(), self.views.clone());
            call_until(until, move || {
                let (store, database) = (store.clone(), database.clone());
                let view_count = views[caller].fetch_add(1, Ordering::Relaxed) + 1;
                async move {
                    let written = write(&store, &database, caller, view_count).await;
                    written.map_err(|error| format!("store: {error}"))
                }
            })
        })
        .await
    }

    /// Closes the database.
    pub(super) async fn close(self) {
        self.database.close().await;
    }
}

async fn write(store: &SqliteViews, database: &Database, caller: usize, view_count: u64) -> Result<()> {
    let article_id = ArticleId::from_raw(FIRST_ARTICLE + caller as i64);
    let event_id = database.ids.next(ShardId::of_parts(article_id))?;
    let written = store.write_back(vec![WriteBack { article_id, view_count, event_id }]).await?;
    ensure!(written[0].stored == StoredViews::Count(view_count), "a view was not written");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::database::Commits;
    use super::*;

    #[tokio::test]
    async fn every_counted_success_is_a_view() {
        let folder = tempfile::tempdir().unwrap();
        let callers = ViewCallers::new(Database::open(folder.path(), Commits::OneEach).unwrap(), 2);
        let turn = callers.run(Duration::from_millis(50)).await;
        assert!(turn.samples.errors().is_empty(), "{:?}", turn.samples.errors());
        let store = SqliteViews::new(callers.database.db.clone());
        let mut counted = 0;
        for caller in 0..2 {
            match store.find(ArticleId::from_raw(FIRST_ARTICLE + caller)).await.unwrap() {
                StoredViews::Count(count) => counted += count,
                StoredViews::Gone => panic!("nothing was deleted"),
            }
        }
        assert_eq!(counted, turn.samples.count());
        callers.close().await;
    }
}
