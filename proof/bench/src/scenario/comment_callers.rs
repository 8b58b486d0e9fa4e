//! Comments on one article, written at the store without HTTP.

use std::time::Duration;

use anyhow::{Result, bail, ensure};
use madang_board::{ArticleId, CommentMode, MemberId};
use madang_comment::{CommentStore, CreateComment, CreateOutcome, DepthMax};
use madang_event::Writer;
use madang_kernel::{Created, Id, ShardId};
use madang_sqlite::SqliteComments;

use super::database::Database;
use crate::load::{Side, Turn, call_until, run_callers};

const ARTICLE: i64 = 1 << 40;
/// Ids drawn for one comment at most, as in the use case.
const ATTEMPTS_MAX: usize = 10;

/// Callers of the store, each waiting for its commit.
pub(super) struct CommentCallers {
    database: Database,
    callers: usize,
    mode: CommentMode,
    content: String,
}

impl CommentCallers {
    /// Callers who write this text over and over.
    pub(super) fn new(database: Database, callers: usize, mode: CommentMode, content: &str) -> Self {
        Self { database, callers, mode, content: content.to_owned() }
    }

    /// The callers as one side of a comparison.
    pub(super) fn side<'a>(&'a self, name: &'a str) -> Side<'a> {
        Side::new(name, move |length| self.run(length))
    }

    async fn run(&self, length: Duration) -> Turn {
        let store = SqliteComments::new(self.database.db.clone());
        run_callers(self.callers, length, |caller, until| {
            let (store, database, mode, content) =
                (store.clone(), self.database.clone(), self.mode, self.content.clone());
            let member = MemberId::from_raw(caller as i64 + 1);
            call_until(until, move || {
                let (store, database, content) = (store.clone(), database.clone(), content.clone());
                async move {
                    let written = write(&store, &database, mode, member, content).await;
                    written.map_err(|error| format!("store: {error}"))
                }
            })
        })
        .await
    }

    /// How many comments the article has.
    pub(super) async fn count(&self) -> Result<u64> {
        let store = SqliteComments::new(self.database.db.clone());
        Ok(store.count(ArticleId::from_raw(ARTICLE)).await?.comment_count)
    }

    /// Makes sure that something is there, and closes the database.
    pub(super) async fn close(self) -> Result<()> {
        ensure!(self.count().await? > 0, "no comment was written");
        self.database.close().await;
        Ok(())
    }
}

/// Writes a comment; draws another id when one was overtaken, as the use case does.
async fn write(
    store: &SqliteComments,
    database: &Database,
    mode: CommentMode,
    member_id: MemberId,
    content: String,
) -> Result<()> {
    let article_id = ArticleId::from_raw(ARTICLE);
    let shard = ShardId::of_parts(article_id);
    for _ in 0..ATTEMPTS_MAX {
        let new = CreateComment {
            comment_id: database.ids.next(shard)?,
            article_id,
            parent_id: None,
            mode,
            depth_max: DepthMax::DEFAULT,
            content: content.clone(),
            writer: Writer { member_id, name: "somebody".into() },
            created_at: database.clock.now(),
            event_id: database.ids.next(shard)?,
            idempotency: None,
        };
        match store.create(new).await? {
            CreateOutcome::Created(Created::Now(_)) => return Ok(()),
            CreateOutcome::Late => {}
            other => bail!("{other:?}"),
        }
    }
    bail!("others overtook a comment every time")
}

#[cfg(test)]
mod tests {
    use super::super::database::Commits;
    use super::*;

    #[tokio::test]
    async fn every_counted_success_is_a_comment() {
        for mode in [CommentMode::TwoLevel, CommentMode::Tree] {
            for commits in [Commits::Grouped, Commits::OneEach] {
                let folder = tempfile::tempdir().unwrap();
                let database = Database::open(folder.path(), commits).unwrap();
                let callers = CommentCallers::new(database, 4, mode, "text");
                let turn = callers.run(Duration::from_millis(50)).await;
                assert!(turn.samples.errors().is_empty(), "{:?}", turn.samples.errors());
                assert_eq!(callers.count().await.unwrap(), turn.samples.count());
                callers.close().await.unwrap();
            }
        }
    }
}
