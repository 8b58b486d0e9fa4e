//! Ways to keep the counter of likes that are compared with the product's, one call at a time: in place, with a lock, and
//! optimistic. All of them keep the count equal to the rows and report each change; they differ in what contention costs.

use madang_board::{ArticleId, MemberId};
use madang_engine_sqlite::{PART, sql_error};
use madang_event::Writer;
use madang_kernel::{EventId, Id, StoreError, Timestamp};
use madang_like::{Like, LikeCount, LikeOutcome, LikeStore, Replay, Replayed, Unlike, events};
use madang_sqlite::{Priority, Sqlite, SqliteLikes, Tx};
use rusqlite::{Connection, OptionalExtension, Row, params};

const IS_GONE: &str = "SELECT 1 FROM like_article_gone WHERE article_id = ?1";
const IS_LIKED: &str = "SELECT 1 FROM article_like WHERE article_id = ?1 AND member_id = ?2";
const INSERT: &str = "INSERT INTO article_like (article_id, member_id, member_name, created_at)
    VALUES (?1, ?2, 'somebody', ?3) ON CONFLICT (article_id, member_id) DO NOTHING";
const DELETE: &str = "DELETE FROM article_like WHERE article_id = ?1 AND member_id = ?2";
const FIND_COUNT: &str = "SELECT like_count, version FROM article_like_count WHERE article_id = ?1";
const ADD_TO_COUNT: &str = "INSERT INTO article_like_count (article_id, like_count, version) VALUES (?1, max(?2, 0), 1)
    ON CONFLICT (article_id) DO UPDATE SET like_count = like_count + ?2, version = version + 1
    RETURNING like_count, version";
const SET_COUNT: &str = "INSERT INTO article_like_count (article_id, like_count, version) VALUES (?1, ?2, ?3)
    ON CONFLICT (article_id) DO UPDATE SET like_count = excluded.like_count, version = excluded.version";
const SET_COUNT_IF: &str = "INSERT INTO article_like_count (article_id, like_count, version) VALUES (?1, ?2, ?3)
    ON CONFLICT (article_id) DO UPDATE SET like_count = excluded.like_count, version = excluded.version
    WHERE version = excluded.version - 1";

/// How a counter is kept equal to its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Counting {
    /// `like_count = like_count + 1`, where the count stands.
    UpdateInPlace,
    /// Reads the counter in the transaction, computes, writes it back. There is one writer, so its transaction is the
    /// lock that `FOR UPDATE` takes elsewhere.
    SelectForUpdate,
    /// Reads the counter before the transaction, and writes only if its version is still the one read; otherwise anew.
    Optimistic,
    /// As the product does it: what waits together is decided in memory and written once.
    Grouped,
}

/// A like, or its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Change {
    pub(super) article_id: ArticleId,
    pub(super) member_id: MemberId,
    pub(super) likes: bool,
    pub(super) event_id: EventId,
    pub(super) now: Timestamp,
}

/// Likes that are counted one way.
#[derive(Clone)]
pub(super) struct CountedLikes {
    db: Sqlite,
    counting: Counting,
    product: SqliteLikes,
}

/// Why a call did not commit.
enum Conflict {
    /// The counter changed after it was read.
    Overtaken,
    Store(StoreError),
}

impl From<StoreError> for Conflict {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl CountedLikes {
    pub(super) fn new(db: Sqlite, counting: Counting) -> Self {
        Self { product: SqliteLikes::new(db.clone()), db, counting }
    }

    /// Makes a change; false when it was so already or the article is gone.
    pub(super) async fn change(&self, change: Change) -> Result<bool, StoreError> {
        let foreground = Priority::Foreground;
        match self.counting {
            Counting::UpdateInPlace => self.db.write(foreground, move |tx| update_in_place(tx, change)).await,
            Counting::SelectForUpdate => {
                let call = move |tx: &Tx| set_count(tx, SET_COUNT, change, find_count(tx, change.article_id)?);
                self.db.write(foreground, call).await.map(|changed| changed == Some(true))
            }
            Counting::Optimistic => self.optimistic(change).await,
            Counting::Grouped => self.grouped(change).await,
        }
    }

    pub(super) async fn count(&self, article: ArticleId) -> Result<u64, StoreError> {
        self.db.read(move |reader| Ok(find_count(reader, article)?.like_count)).await
    }

    async fn optimistic(&self, change: Change) -> Result<bool, StoreError> {
        loop {
            let seen = self.db.read(move |reader| find_count(reader, change.article_id)).await?;
            let call = move |tx: &Tx| set_count(tx, SET_COUNT_IF, change, seen)?.ok_or(Conflict::Overtaken);
            match self.db.write_or(Priority::Foreground, call).await {
                Ok(changed) => return Ok(changed),
                Err(Conflict::Overtaken) => {}
                Err(Conflict::Store(error)) => return Err(error),
            }
        }
    }

    async fn grouped(&self, change: Change) -> Result<bool, StoreError> {
        let Change { article_id, member_id, likes, event_id, now } = change;
        let outcome = if likes {
            let member = Writer { member_id, name: "somebody".into() };
            self.product.like(Like { article_id, member, created_at: now, event_id }).await?
        } else {
            self.product.unlike(Unlike { article_id, member_id, event_id }).await?
        };
        Ok(matches!(outcome, LikeOutcome::Done(answer) if answer.changed))
    }
}

fn update_in_place(tx: &Tx, change: Change) -> Result<bool, StoreError> {
    let article = change.article_id.raw();
    if exists(tx, IS_GONE, &[article])? || !store_row(tx, change)? {
        return Ok(false);
    }
    let by = if change.likes { 1 } else { -1 };
    let mut add = tx.prepare_cached(ADD_TO_COUNT).map_err(sql_error)?;
    let count = add.query_row([article, by], like_count).map_err(sql_error)?;
    let (one, none) = (vec![change.member_id], vec![]);
    let (liked, unliked) = if change.likes { (one, none) } else { (none, one) };
    let replayed = Replayed { count, liked, unliked };
    tx.report(events::changed(change.article_id, replayed, change.event_id, change.now))?;
    Ok(true)
}

/// Decides by a counter that was read and writes what comes of it; `None` when the counter is no longer so.
fn set_count(tx: &Tx, sql: &str, change: Change, seen: LikeCount) -> Result<Option<bool>, StoreError> {
    let (article, member) = (change.article_id.raw(), change.member_id.raw());
    if exists(tx, IS_GONE, &[article])? {
        return Ok(Some(false));
    }
    let was_liked = exists(tx, IS_LIKED, &[article, member])?;
    let mut replay = Replay::new(seen, was_liked.then_some(change.member_id));
    let (_, changed) = replay.apply(change.member_id, change.likes);
    if !changed {
        return Ok(Some(false));
    }
    let replayed = replay.finish();
    let number = |count: u64| i64::try_from(count).map_err(|error| StoreError::broken(PART, error));
    let values = params![article, number(replayed.count.like_count)?, number(replayed.count.version)?];
    let written = tx.prepare_cached(sql).and_then(|mut set| set.execute(values)).map_err(sql_error)?;
    if written == 0 {
        return Ok(None);
    }
    store_row(tx, change)?;
    tx.report(events::changed(change.article_id, replayed, change.event_id, change.now))?;
    Ok(Some(true))
}

/// Writes or removes the row; false when it was so already.
fn store_row(tx: &Connection, change: Change) -> Result<bool, StoreError> {
    let (article, member) = (change.article_id.raw(), change.member_id.raw());
    let changed = if change.likes {
        tx.prepare_cached(INSERT).and_then(|mut insert| insert.execute([article, member, change.now.as_millis()]))
    } else {
        tx.prepare_cached(DELETE).and_then(|mut delete| delete.execute([article, member]))
    };
    Ok(changed.map_err(sql_error)? > 0)
}

fn exists(tx: &Connection, sql: &str, key: &[i64]) -> Result<bool, StoreError> {
    let key = rusqlite::params_from_iter(key);
    tx.prepare_cached(sql).and_then(|mut find| find.exists(key)).map_err(sql_error)
}

fn find_count(tx: &Connection, article: ArticleId) -> Result<LikeCount, StoreError> {
    let mut find = tx.prepare_cached(FIND_COUNT).map_err(sql_error)?;
    Ok(find.query_row([article.raw()], like_count).optional().map_err(sql_error)?.unwrap_or_default())
}

fn like_count(row: &Row<'_>) -> rusqlite::Result<LikeCount> {
    Ok(LikeCount { like_count: row.get::<_, i64>(0)?.unsigned_abs(), version: row.get::<_, i64>(1)?.unsigned_abs() })
}
