//! What a batch reads before it is decided: counters under their locks, the comments it is about with the marks above them,
//! and what tells the position of each new one.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

use madang_board::{ArticleId, BoardId, CommentId};
use madang_comment::replay::{CommentCounter, Loaded, path_above};
use madang_comment::{Comment, CommentPath, RemovedComment};
use madang_engine_mysql::{Many, STATEMENT_ROWS_MAX, SqlError, Tx, Values, bytes, idempotency};
use madang_event::LastComment;
use madang_kernel::{Created, Id, ShardId, Timestamp};

use super::call::Call;
use super::row;
use crate::several_servers::parts_key;

static ARTICLES_OF: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/comment/articles_of.sql")));
static LOCK_COUNTS: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/comment/lock_counts.sql")));
static LOCKED_COUNTS: LazyLock<Many> =
    LazyLock::new(|| Many::parse(include_str!("../../sql/comment/locked_counts.sql")));
static FIND_MANY: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/comment/find_many.sql")));
static FIND_REMOVED: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/comment/find_removed.sql")));
static REPLIES: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/comment/replies.sql")));
pub(super) static NEWEST: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/comment/newest.sql")));
static LAST_DESCENDANTS: LazyLock<Many> =
    LazyLock::new(|| Many::parse(include_str!("../../sql/comment/last_descendants.sql")));

/// Locks the counters of all articles that the calls are about, in key order, then reads what is under the locks.
pub(super) async fn load(tx: &mut Tx<'_>, calls: &[Call], now: Timestamp) -> Result<Loaded, SqlError> {
    let deleted: BTreeSet<CommentId> = calls.iter().filter_map(Call::deletes).collect();
    let changed: BTreeSet<CommentId> = calls.iter().filter_map(Call::changes).collect();
    let mut wanted: BTreeSet<ArticleId> = calls.iter().filter_map(Call::article).collect();
    for mut cells in tx.read_many(&ARTICLES_OF, keys(&changed)).await? {
        let _: i64 = cells.next()?;
        wanted.insert(ArticleId::from_raw(cells.next()?));
    }
    let (counters, unnoted) = lock(tx, wanted).await?;
    let records = idempotency::load(tx, calls.iter().filter_map(Call::idempotency), now).await?;
    let mut comments = BTreeMap::new();
    let parents = calls.iter().filter_map(|call| call.creates()?.parent_id);
    let answered = calls.iter().filter_map(|call| match records.replay(call.creates()?.idempotency.as_ref()) {
        Ok(Some(Created::Before(Comment { comment_id, .. }))) => Some(comment_id),
        _ => None,
    });
    let named: BTreeSet<CommentId> = changed.iter().copied().chain(parents).chain(answered).collect();
    add(tx, &mut comments, named).await?;
    let may_go = add_marks_above(tx, &mut comments, &deleted).await?;
    // Only of marks can anything have been removed; those to be purged are asked after in any case.
    let marks = comments.values().filter(|comment| comment.deleted).map(|comment| comment.comment_id);
    let marks: BTreeSet<CommentId> = marks.chain(deleted.iter().copied()).collect();
    let removed = tx.read_many(&FIND_REMOVED, keys(&marks)).await?;
    let removed = removed.into_iter().map(row::removed).collect::<Result<Vec<RemovedComment>, _>>()?;
    let newest = newest(tx, &comments, &deleted, unnoted).await?;
    let replies = replies(tx, &may_go, deleted.len()).await?;
    let last_descendants = last_descendants(tx, &comments, calls).await?;
    let comments = comments.into_values().collect();
    Ok(Loaded { counters, comments, removed, replies, last_descendants, newest, records })
}

/// The newest visible comments of articles that lose some, one more than they can lose, and of those that have none noted.
async fn newest(
    tx: &mut Tx<'_>,
    comments: &BTreeMap<CommentId, Comment>,
    deleted: &BTreeSet<CommentId>,
    unnoted: Vec<ArticleId>,
) -> Result<Vec<(ArticleId, LastComment)>, SqlError> {
    let mut wanted: BTreeMap<ArticleId, usize> = unnoted.into_iter().map(|article| (article, 1)).collect();
    for comment in deleted.iter().filter_map(|id| comments.get(id)).filter(|comment| !comment.deleted) {
        *wanted.entry(comment.article_id).or_insert(1) += 1;
    }
    let keys = wanted.into_iter().map(|(article, most)| vec![article.raw().into(), most.into()]).collect();
    tx.read_many(&NEWEST, keys).await?.into_iter().map(row::newest).collect()
}

fn keys<'i>(comments: impl IntoIterator<Item = &'i CommentId>) -> Vec<Values> {
    comments.into_iter().map(|comment| row::key(*comment)).collect()
}

/// Counters under their locks, and the articles whose newest comment is not noted.
async fn lock(tx: &mut Tx<'_>, wanted: BTreeSet<ArticleId>) -> Result<(Vec<CommentCounter>, Vec<ArticleId>), SqlError> {
    let mut keys: Vec<(u8, ArticleId)> =
        wanted.into_iter().map(|article| (ShardId::of_parts(article).number(), article)).collect();
    keys.sort_unstable();
    let keys: Vec<Values> = keys.iter().map(|(_, article)| parts_key(*article)).collect();
    tx.touch_many(&LOCK_COUNTS, keys.clone()).await?;
    let (mut counters, mut unnoted) = (Vec::new(), Vec::new());
    for mut cells in tx.read_many(&LOCKED_COUNTS, keys).await? {
        let (article_id, row::Noted { counted, is_noted }) = row::counted(&mut cells)?;
        if !is_noted {
            unnoted.push(article_id);
        }
        let (greatest_id, is_gone) = (cells.next()?, cells.next()?);
        let board_id = cells.next::<Option<i64>>()?.map(BoardId::from_raw);
        let (count, last) = (counted.count, counted.last);
        counters.push(CommentCounter { article_id, count, greatest_id, is_gone, board_id, last });
    }
    Ok((counters, unnoted))
}

async fn add(
    tx: &mut Tx<'_>,
    comments: &mut BTreeMap<CommentId, Comment>,
    wanted: BTreeSet<CommentId>,
) -> Result<(), SqlError> {
    for cells in tx.read_many(&FIND_MANY, keys(&wanted)).await? {
        let comment = row::comment(cells)?;
        comments.insert(comment.comment_id, comment);
    }
    Ok(())
}

/// Reads what is above the comments to delete for as long as it consists of marks, level by level, at most as often as a
/// tree is deep. Returns the comments that may go: those to delete, and the marks.
async fn add_marks_above(
    tx: &mut Tx<'_>,
    comments: &mut BTreeMap<CommentId, Comment>,
    deleted: &BTreeSet<CommentId>,
) -> Result<HashMap<CommentId, ArticleId>, SqlError> {
    let mut may_go = HashMap::new();
    let mut level: BTreeSet<CommentId> = deleted.clone();
    while !level.is_empty() {
        let here = level.iter().filter_map(|id| comments.get(id));
        let going: Vec<&Comment> =
            here.filter(|comment| comment.deleted || deleted.contains(&comment.comment_id)).collect();
        may_go.extend(going.iter().map(|comment| (comment.comment_id, comment.article_id)));
        let above: BTreeSet<CommentId> = going.iter().filter_map(|comment| comment.parent_id).collect();
        let unknown = above.iter().copied().filter(|id| !comments.contains_key(id)).collect();
        add(tx, comments, unknown).await?;
        level = above.into_iter().filter(|id| !may_go.contains_key(id)).collect();
    }
    Ok(may_go)
}

/// Each deletion takes at most one reply from a comment, so one reply more than there are deletions tells enough.
async fn replies(
    tx: &mut Tx<'_>,
    may_go: &HashMap<CommentId, ArticleId>,
    deletions: usize,
) -> Result<BTreeMap<CommentId, BTreeSet<CommentId>>, SqlError> {
    let mut replies: BTreeMap<CommentId, BTreeSet<CommentId>> = BTreeMap::new();
    let key = |(comment, article): (&CommentId, &ArticleId)| {
        vec![article.raw().into(), comment.raw().into(), comment.raw().into(), (deletions + 1).into()]
    };
    for mut cells in tx.read_many(&REPLIES, may_go.iter().map(key).collect()).await? {
        let parent = CommentId::from_raw(cells.next()?);
        replies.entry(parent).or_default().insert(CommentId::from_raw(cells.next()?));
    }
    Ok(replies)
}

async fn last_descendants(
    tx: &mut Tx<'_>,
    comments: &BTreeMap<CommentId, Comment>,
    calls: &[Call],
) -> Result<BTreeMap<(ArticleId, CommentPath), CommentPath>, SqlError> {
    let above = calls.iter().filter_map(Call::creates).filter_map(|new| {
        let parent = new.parent_id.and_then(|parent| comments.get(&parent));
        Some((new.article_id, path_above(new, parent)?))
    });
    let above: Vec<(ArticleId, CommentPath)> = above.collect::<BTreeSet<_>>().into_iter().collect();
    let mut last = BTreeMap::new();
    // The number tells which path is answered, so each statement's list of keys starts anew.
    for paths in above.chunks(STATEMENT_ROWS_MAX) {
        let key = |(number, (article, above)): (usize, &(ArticleId, CommentPath))| {
            vec![number.into(), article.raw().into(), bytes(above.as_str()), bytes(above.end_of_descendants())]
        };
        for mut cells in tx.read_many(&LAST_DESCENDANTS, paths.iter().enumerate().map(key).collect()).await? {
            let number: usize = cells.next()?;
            let path = row::path(&cells.next::<String>()?)?;
            let above = paths.get(number).ok_or_else(|| SqlError::defect("an answer to nobody"))?;
            last.insert(above.clone(), path);
        }
    }
    Ok(last)
}
