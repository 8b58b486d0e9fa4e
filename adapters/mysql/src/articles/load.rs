//! What a batch reads before it is decided: counters under their locks, the articles it is about, the blocks that count
//! them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

use madang_article::Article;
use madang_board::{ArticleId, BoardId};
use madang_engine_mysql::{Many, SqlError, Tx, Values};
use madang_event::BoardCount;
use madang_kernel::Id;

use super::blocks::{BLOCK, BoardTally, SUPER_BLOCK};
use super::call::Call;
use super::row;

static BOARDS_OF: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/article/boards_of.sql")));
static LOCK_COUNTS: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/article/lock_counts.sql")));
static HOLDING_BLOCKS: LazyLock<Many> =
    LazyLock::new(|| Many::parse(include_str!("../../sql/article/holding_blocks.sql")));
static FIND_MANY: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/article/find_many.sql")));

/// The boards of a batch in the order of their keys, and its articles as they are stored.
pub(super) struct Loaded {
    pub(super) boards: BTreeMap<BoardId, BoardTally>,
    pub(super) articles: HashMap<ArticleId, Article>,
}

/// Locks the counters of all boards that the calls are about, then reads what is under the locks.
pub(super) async fn load(tx: &mut Tx<'_>, calls: &[Call]) -> Result<Loaded, SqlError> {
    let stored: BTreeSet<ArticleId> = calls.iter().filter_map(Call::of_stored_article).collect();
    let keys: Vec<Values> = stored.iter().map(|article| row::key(*article)).collect();
    let mut board_of: HashMap<ArticleId, BoardId> = HashMap::new();
    for mut cells in tx.read_many(&BOARDS_OF, keys).await? {
        board_of.insert(ArticleId::from_raw(cells.next()?), BoardId::from_raw(cells.next()?));
    }
    let created = calls.iter().flat_map(Call::creates).map(|new| new.article.board_id);
    let wanted: BTreeSet<(u8, BoardId)> =
        board_of.values().copied().chain(created).map(|board| (board.shard().number(), board)).collect();
    let mut boards = lock(tx, wanted).await?;
    // What was there before the locks may be gone under them, and only that which is under them counts.
    let keys = stored.iter().filter(|article| board_of.contains_key(article)).map(|article| row::key(*article));
    let found = tx.read_many(&FIND_MANY, keys.collect()).await?;
    let articles: HashMap<ArticleId, Article> = found
        .into_iter()
        .map(|cells| row::article(cells).map(|article| (article.article_id, article)))
        .collect::<Result<_, _>>()?;
    holding_blocks(tx, calls, &articles, &mut boards).await?;
    Ok(Loaded { boards, articles })
}

async fn lock(tx: &mut Tx<'_>, wanted: BTreeSet<(u8, BoardId)>) -> Result<BTreeMap<BoardId, BoardTally>, SqlError> {
    let keys = wanted.into_iter().map(|(shard, board)| vec![shard.into(), board.raw().into()]).collect();
    let mut boards = BTreeMap::new();
    for mut cells in tx.read_many(&LOCK_COUNTS, keys).await? {
        let board = BoardId::from_raw(cells.next()?);
        let count = BoardCount { article_count: cells.next()?, version: cells.next()? };
        boards.insert(board, BoardTally::new(board, count, cells.next()?));
    }
    Ok(boards)
}

/// Reads, of both levels, the blocks that count the ids that come or go.
async fn holding_blocks(
    tx: &mut Tx<'_>,
    calls: &[Call],
    articles: &HashMap<ArticleId, Article>,
    boards: &mut BTreeMap<BoardId, BoardTally>,
) -> Result<(), SqlError> {
    let deleted = calls.iter().filter_map(|call| match call {
        Call::Delete(delete) => articles.get(&delete.article_id).map(|found| (found.board_id, found.article_id)),
        _ => None,
    });
    let created = calls.iter().flat_map(Call::creates).map(|new| (new.article.board_id, new.article.article_id));
    let counted = created.chain(deleted);
    let places: BTreeSet<(BoardId, i64)> =
        counted.filter_map(|(board, article)| Some((board, boards.get(&board)?.place_of(article)))).collect();
    let keys = places.into_iter().flat_map(|(board, place)| {
        [BLOCK, SUPER_BLOCK]
            .map(|level| vec![board.shard().number().into(), board.raw().into(), level.into(), place.into()])
    });
    for mut cells in tx.read_many(&HOLDING_BLOCKS, keys.collect()).await? {
        let board = BoardId::from_raw(cells.next()?);
        let (level, first_id, count) = (cells.next()?, cells.next()?, cells.next()?);
        if let Some(tally) = boards.get_mut(&board) {
            tally.load(level, first_id, count);
        }
    }
    Ok(())
}
