//! Comments: every counter against its rows, rows without a counter, replies without what they reply to; server by server
//! in slices of one snapshot each.

use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

use madang_board::check::{CheckFinding, FINDINGS_MAX};
use madang_board::{ArticleId, CommentId};
use madang_comment::CommentCount;
use madang_engine_mysql::{Many, SqlError, Tx, Values, snapshot};
use madang_kernel::{Id, ShardId, StoreError};

use super::{Run, SLICE};

static GONE: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/comment/gone.sql")));
const COUNTS: &str = include_str!("../../sql/comment/check_counts.sql");
const ROWS: &str = include_str!("../../sql/comment/check_rows.sql");
const ORPHANS: &str = include_str!("../../sql/comment/check_orphans.sql");

/// What a counter says.
struct Counted {
    count: CommentCount,
    known: i64,
    is_gone: bool,
    /// The newest visible comment, as it is noted; `None` where it is not.
    noted: Option<i64>,
}

/// What there is of an article.
struct Found {
    visible: u64,
    rows: u64,
    greatest: i64,
    /// The newest that is visible; 0 for none.
    newest: i64,
}

/// The articles of one slice.
struct Slice {
    counted: BTreeMap<i64, Counted>,
    found: BTreeMap<i64, Found>,
    orphans: Vec<(i64, i64)>,
    /// Articles that are gone, of those without a counter.
    gone: HashSet<i64>,
    next: Option<i64>,
}

impl Slice {
    /// Without what the server has of shards that it does not hold.
    fn of(mut self, shards: &[ShardId]) -> Self {
        let is_held = |article: i64| shards.contains(&ShardId::of_parts(ArticleId::from_raw(article)));
        self.counted.retain(|article, _| is_held(*article));
        self.found.retain(|article, _| is_held(*article));
        self.orphans.retain(|(article, _)| is_held(*article));
        self
    }
}

/// Compares every server.
pub(super) async fn compare(run: &mut Run<'_>) -> Result<(), StoreError> {
    let holders = run.db.holders();
    run.parts(holders.len());
    for (server, shards) in holders {
        let mut after = Some(i64::MIN);
        while let Some(from) = after {
            let slice: Result<Slice, SqlError> = snapshot!(server, |tx| slice(&mut tx, from));
            let slice = slice?.of(&shards);
            compare_slice(run, &slice);
            after = slice.next;
        }
        run.part_done();
    }
    Ok(())
}

async fn slice(tx: &mut Tx<'_>, from: i64) -> Result<Slice, SqlError> {
    let mut counted = BTreeMap::new();
    for mut cells in tx.read(COUNTS, vec![from.into(), SLICE.into()]).await? {
        let article = cells.next()?;
        let count = CommentCount {
            comment_count: cells.next()?,
            row_count: cells.next()?,
            version: cells.next()?,
            locked: cells.next()?,
        };
        let (known, is_gone) = (cells.next()?, cells.next()?);
        let (is_noted, last): (bool, i64) = (cells.next()?, cells.next()?);
        counted.insert(article, Counted { count, known, is_gone, noted: is_noted.then_some(last) });
    }
    let next = counted.keys().next_back().copied().filter(|_| counted.len() as u64 == SLICE);
    let range = vec![from.into(), next.unwrap_or(i64::MAX).into()];
    let (mut found, mut uncounted) = (BTreeMap::new(), Vec::<Values>::new());
    for mut cells in tx.read(ROWS, range.clone()).await? {
        let article: i64 = cells.next()?;
        let (visible, rows, greatest) = (cells.next()?, cells.next()?, cells.next()?);
        let (shard, newest): (u8, i64) = (cells.next()?, cells.next()?);
        if !counted.contains_key(&article) {
            uncounted.push(vec![shard.into(), article.into()]);
        }
        found.insert(article, Found { visible, rows, greatest, newest });
    }
    let mut gone = HashSet::new();
    for mut cells in tx.read_many(&GONE, uncounted).await? {
        gone.insert(cells.next()?);
    }
    let mut orphans = Vec::new();
    for mut cells in tx.read(ORPHANS, [range, vec![FINDINGS_MAX.into()]].concat()).await? {
        orphans.push((cells.next()?, cells.next()?));
    }
    Ok(Slice { counted, found, orphans, gone, next })
}

/// Of an article that is gone, rows may wait to be cleaned up, but a counter may not be left.
fn compare_slice(run: &mut Run<'_>, slice: &Slice) {
    let nothing = Found { visible: 0, rows: 0, greatest: 0, newest: 0 };
    for (article, Counted { count, known, is_gone, noted }) in &slice.counted {
        let article_id = ArticleId::from_raw(*article);
        let Found { visible, rows, greatest, newest } = slice.found.get(article).unwrap_or(&nothing);
        let (counted, rows) = ([count.comment_count, count.row_count], [*visible, *rows]);
        if counted != rows {
            let (counted, rows) = (counted.map(u64::cast_signed), rows.map(u64::cast_signed));
            run.found(CheckFinding::CommentCount { article_id, counted, rows });
        }
        if count.version < count.row_count || known < greatest {
            let (version, known, greatest) = (count.version.cast_signed(), *known, *greatest);
            run.found(CheckFinding::CommentCountVersion { article_id, version, known, greatest });
        }
        if *is_gone {
            run.found(CheckFinding::CommentCountOfGone { article_id });
        }
        if let Some(noted) = noted.filter(|noted| noted != newest) {
            run.found(CheckFinding::LastComment { article_id, noted, newest: *newest });
        }
    }
    for (article, found) in &slice.found {
        run.report.comments += found.rows;
        if slice.gone.contains(article) {
            run.report.awaiting_clean_up += found.rows;
        } else if !slice.counted.contains_key(article) {
            let rows = [found.visible, found.rows].map(u64::cast_signed);
            let article_id = ArticleId::from_raw(*article);
            run.found(CheckFinding::CommentCount { article_id, counted: [0, 0], rows });
        }
    }
    for (article, comment) in slice.orphans.iter().filter(|(article, _)| !slice.gone.contains(article)) {
        let is_gone = slice.counted.get(article).is_some_and(|counted| counted.is_gone);
        if !is_gone {
            run.found(CheckFinding::CommentOrphan { comment_id: CommentId::from_raw(*comment) });
        }
    }
}
