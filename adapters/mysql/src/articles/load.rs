//! What a batch reads before it is decided: counters under their locks, the articles it is about, the blocks that count
//! them, and the records of its idempotency keys.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::LazyLock;

use madang_article::blocks::{BLOCK, SUPER_BLOCK};
use madang_article::replay::{BoardCounter, CountedBlock, Loaded};
use madang_article::{Article, RemovedArticle};
use madang_board::{ArticleId, BoardId, Pin};
use madang_engine_mysql::{Many, SqlError, Tx, Values, bytes, idempotency};
use madang_kernel::{Created, Id, Timestamp};

use super::call::Call;
use super::row;

static BOARDS_OF: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/article/boards_of.sql")));
static LOCK_COUNTS: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/article/lock_counts.sql")));
static HOLDING_BLOCKS: LazyLock<Many> =
    LazyLock::new(|| Many::parse(include_str!("../../sql/article/holding_blocks.sql")));
static FIND_MANY: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/article/find_many.sql")));
static PINS_OF: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/article/pins_of.sql")));
static REMOVED_BOARDS_OF: LazyLock<Many> =
    LazyLock::new(|| Many::parse(include_str!("../../sql/article/removed_boards_of.sql")));
static FIND_REMOVED: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/article/find_removed.sql")));
const SLUG_OWNER: &str = include_str!("../../sql/article/slug_owner.sql");

/// Locks the counters of all boards that the calls are about, then reads what is under the locks.
pub(super) async fn load(tx: &mut Tx<'_>, calls: &[Call], now: Timestamp) -> Result<Loaded, SqlError> {
    let stored: BTreeSet<ArticleId> = calls.iter().filter_map(Call::of_stored_article).collect();
    let keys: Vec<Values> = stored.iter().map(|article| row::key(*article)).collect();
    let mut board_of: HashMap<ArticleId, BoardId> = HashMap::new();
    for mut cells in tx.read_many(&BOARDS_OF, keys).await? {
        board_of.insert(ArticleId::from_raw(cells.next()?), BoardId::from_raw(cells.next()?));
    }
    let removed: BTreeSet<ArticleId> = calls.iter().filter_map(Call::of_removed_article).collect();
    let keys: Vec<Values> = removed.iter().map(|article| row::key(*article)).collect();
    let mut removed_from: BTreeSet<BoardId> = BTreeSet::new();
    for mut cells in tx.read_many(&REMOVED_BOARDS_OF, keys.clone()).await? {
        let _: i64 = cells.next()?;
        removed_from.insert(BoardId::from_raw(cells.next()?));
    }
    let created = calls.iter().flat_map(Call::creates).map(|new| new.article.board_id);
    let changed = calls.iter().filter_map(Call::changes_board);
    let wanted = board_of.values().copied().chain(removed_from).chain(created).chain(changed);
    let wanted: BTreeSet<(u8, BoardId)> = wanted.map(|board| (board.shard().number(), board)).collect();
    let counters = lock(tx, wanted).await?;
    let records = idempotency::load(tx, calls.iter().filter_map(Call::idempotency), now).await?;
    // Of a repeated request the article is told as it is now.
    let answered =
        calls.iter().flat_map(Call::creates).filter_map(|new| match records.replay(new.idempotency.as_ref()) {
            Ok(Some(Created::Before(Article { article_id, .. }))) => Some(article_id),
            _ => None,
        });
    // What was there before the locks may be gone under them, and only that which is under them counts.
    let stored = stored.iter().filter(|article| board_of.contains_key(article)).copied();
    let wanted: BTreeSet<ArticleId> = stored.chain(answered).collect();
    let found = tx.read_many(&FIND_MANY, wanted.into_iter().map(row::key).collect()).await?;
    let articles = found.into_iter().map(row::article).collect::<Result<Vec<Article>, _>>()?;
    let removed = tx.read_many(&FIND_REMOVED, keys).await?;
    let removed = removed.into_iter().map(row::removed).collect::<Result<Vec<RemovedArticle>, _>>()?;
    let back: HashSet<ArticleId> = calls.iter().filter_map(Call::restores).collect();
    let back = removed.iter().map(|removed| &removed.article).filter(|article| back.contains(&article.article_id));
    let blocks = holding_blocks(tx, calls, articles.iter().chain(back), &counters).await?;
    let pinned_on: BTreeSet<BoardId> = calls.iter().filter_map(|call| board_of.get(&call.pins()?).copied()).collect();
    let pins = tx.read_many(&PINS_OF, pinned_on.into_iter().map(|board| vec![board.raw().into()]).collect()).await?;
    let pins = pins.into_iter().map(row::pin).collect::<Result<Vec<Pin>, _>>()?;
    let taken_slugs = taken_slugs(tx, calls).await?;
    Ok(Loaded { counters, blocks, articles, pins, removed, taken_slugs, records })
}

async fn lock(tx: &mut Tx<'_>, wanted: BTreeSet<(u8, BoardId)>) -> Result<Vec<BoardCounter>, SqlError> {
    let keys = wanted.into_iter().map(|(shard, board)| vec![shard.into(), board.raw().into()]).collect();
    tx.read_many(&LOCK_COUNTS, keys).await?.into_iter().map(row::counter).collect()
}

/// Reads, of both levels, the blocks that count the ids that come or go.
async fn holding_blocks<'a>(
    tx: &mut Tx<'_>,
    calls: &'a [Call],
    articles: impl Iterator<Item = &'a Article>,
    counters: &[BoardCounter],
) -> Result<Vec<CountedBlock>, SqlError> {
    let counters: HashMap<BoardId, &BoardCounter> =
        counters.iter().map(|counter| (counter.board_id, counter)).collect();
    let deleted = calls.iter().filter_map(Call::deletes);
    let counted: HashSet<ArticleId> = deleted.chain(calls.iter().filter_map(Call::restores)).collect();
    let counted = articles.filter(|article| counted.contains(&article.article_id));
    let created = calls.iter().flat_map(Call::creates).map(|new| &new.article);
    let held: BTreeSet<(BoardId, i64)> = created
        .chain(counted)
        .filter_map(|article| counters.get(&article.board_id).map(|counter| (counter, article.article_id)))
        .map(|(counter, article)| (counter.board_id, counter.id_in_block_of(article)))
        .collect();
    let keys = held.into_iter().flat_map(|(board, id)| {
        [BLOCK, SUPER_BLOCK]
            .map(|level| vec![board.shard().number().into(), board.raw().into(), level.into(), id.into()])
    });
    let mut blocks = Vec::new();
    for mut cells in tx.read_many(&HOLDING_BLOCKS, keys.collect()).await? {
        let board_id = BoardId::from_raw(cells.next()?);
        let (level, first_id, article_count) = (cells.next()?, cells.next()?, cells.next()?);
        blocks.push(CountedBlock { board_id, level, first_id, article_count });
    }
    Ok(blocks)
}

/// Of the slugs of new boards, those that other boards have. Boards are created so seldom that each is looked up by itself;
/// a slug that is taken between the look-up and the insert runs the calls again.
async fn taken_slugs(tx: &mut Tx<'_>, calls: &[Call]) -> Result<BTreeSet<String>, SqlError> {
    let mut taken = BTreeSet::new();
    for call in calls {
        if let Call::CreateBoard(new) = call
            && tx.first(SLUG_OWNER, vec![bytes(new.board.slug.as_str())]).await?.is_some()
        {
            taken.insert(new.board.slug.clone());
        }
    }
    Ok(taken)
}
