//! Reading articles: by their ids, in numbered pages that stay cheap however deep, and in steps from a cursor.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::LazyLock;

use madang_article::blocks::{BLOCK, BLOCK_ARTICLES, Position, SUPER_BLOCK, skip};
use madang_article::{Article, ArticleHead, ArticlePlace, NewestArticles};
use madang_board::{ArticleId, BoardId, MemberId, Pin};
use madang_engine_mysql::{Many, SqlError, Tx, Values, snapshot};
use madang_kernel::{Id, Page, PageNumber, PageSize, Scroll, ServerIndex, StoreError, known_count};

use super::{board, row};
use crate::Mysql;
use crate::several_servers::{Part, article_id, from_each, newest_of_all};

static FIND_MANY: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/article/find_many.sql")));
const PINS: &str = include_str!("../../sql/article/pins.sql");
const BLOCKS_BELOW: &str = include_str!("../../sql/article/blocks_below.sql");
const NEWEST: &str = include_str!("../../sql/article/newest.sql");
const PAGE_BELOW: &str = include_str!("../../sql/article/page_below.sql");
const BY_WRITER: &str = include_str!("../../sql/article/by_writer.sql");
static PLACES: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/article/places.sql")));
const SITE_NEWEST: &str = include_str!("../../sql/article/site_newest.sql");
const SCROLL: &str = include_str!("../../sql/article/scroll.sql");

/// Blocks read at a time: a super-block has about 64, and a board of 5 million articles about 78 super-blocks.
const BLOCKS_SLICE: usize = 128;

/// Articles in the order asked, of one moment on each server.
pub(super) async fn find_many(db: &Mysql, articles: &[ArticleId]) -> Result<Vec<Option<Article>>, StoreError> {
    let (map, mut by_server) = (db.map(), HashMap::<ServerIndex, Vec<Values>>::new());
    for article in articles {
        by_server.entry(map.server(article.shard())).or_default().push(row::key(*article));
    }
    let mut found: HashMap<ArticleId, Article> = HashMap::with_capacity(articles.len());
    for (server, keys) in by_server {
        for cells in db.read_many(db.server(server), &FIND_MANY, keys).await? {
            let article = row::article(cells).map_err(StoreError::from)?;
            found.insert(article.article_id, article);
        }
    }
    Ok(articles.iter().map(|article| found.get(article).cloned()).collect())
}

/// Each server tells its newest of all boards; the newest of them all are the answer.
pub(super) async fn site_newest(
    db: &Mysql,
    before: Option<ArticleId>,
    most: usize,
) -> Result<Vec<ArticlePlace>, StoreError> {
    let part = Part {
        sql: SITE_NEWEST,
        values: Vec::new(),
        read: row::place,
        cursor: |place| place.article_id.raw(),
        shard: |place| place.article_id.shard(),
    };
    let mut told = from_each(db, &part, before.map_or(i64::MAX, ArticleId::raw), most).await?;
    told.sort_by_key(|place| Reverse(place.article_id));
    told.truncate(most);
    Ok(told)
}

/// Where articles stand, in the order asked.
pub(super) async fn places(db: &Mysql, articles: &[ArticleId]) -> Result<Vec<Option<ArticlePlace>>, StoreError> {
    let (map, mut by_server) = (db.map(), HashMap::<ServerIndex, Vec<Values>>::new());
    for article in articles {
        by_server.entry(map.server(article.shard())).or_default().push(row::key(*article));
    }
    let mut found: HashMap<ArticleId, ArticlePlace> = HashMap::with_capacity(articles.len());
    for (server, keys) in by_server {
        for cells in db.read_many(db.server(server), &PLACES, keys).await? {
            let place = row::place(cells)?;
            found.insert(place.article_id, place);
        }
    }
    Ok(articles.iter().map(|article| found.get(article).copied()).collect())
}

/// The pins of a board.
pub(super) async fn pins(db: &Mysql, board: BoardId) -> Result<Vec<Pin>, StoreError> {
    let found = db.read(db.server_of(board.shard()), PINS, vec![board.raw().into()]).await?;
    Ok(found.into_iter().map(row::pin).collect::<Result<_, SqlError>>()?)
}

/// A page and the count beside it, of one moment.
pub(super) async fn page(
    db: &Mysql,
    board: BoardId,
    page: PageNumber,
    size: PageSize,
) -> Result<Page<ArticleHead>, StoreError> {
    let offset = page.offset(size);
    let read: Result<(u64, Vec<ArticleHead>), SqlError> =
        snapshot!(db.server_of(board.shard()), |tx| page_in(&mut tx, board, offset, size));
    let (count, items) = read?;
    Ok(Page { items, known_count: known_count(count, page, size) })
}

/// As [`page`], over a connection of the caller's.
pub(super) async fn page_over(
    conn: &mut mysql_async::Conn,
    board: BoardId,
    page: PageNumber,
    size: PageSize,
) -> Result<Page<ArticleHead>, StoreError> {
    let mut tx = Tx::snapshot(conn).await?;
    let (count, items) = page_in(&mut tx, board, page.offset(size), size).await?;
    tx.commit().await?;
    Ok(Page { items, known_count: known_count(count, page, size) })
}

async fn page_in(
    tx: &mut Tx<'_>,
    board: BoardId,
    offset: u64,
    size: PageSize,
) -> Result<(u64, Vec<ArticleHead>), SqlError> {
    let count = board::count(tx, board).await?.map_or(0, |count| count.article_count);
    // Past the end there is nothing to look for, however far past it is.
    if offset >= count {
        return Ok((count, Vec::new()));
    }
    let start = position(tx, board, offset).await?;
    let values = vec![board.raw().into(), start.below.into(), size.get().into(), start.remaining.into()];
    let items = tx.read(PAGE_BELOW, values).await?.into_iter().map(row::summary).collect::<Result<_, _>>()?;
    Ok((count, items))
}

/// Where the page starts: super-blocks are skipped first, then blocks, each level read only as far as needed.
async fn position(tx: &mut Tx<'_>, board: BoardId, offset: u64) -> Result<Position, SqlError> {
    let newest = Position::after(offset);
    if offset < BLOCK_ARTICLES {
        return Ok(newest); // The newest block is seldom skipped, so reading it would cost more than it saves.
    }
    let below_super_blocks = skip_level(tx, board, SUPER_BLOCK, newest).await?;
    skip_level(tx, board, BLOCK, below_super_blocks).await
}

async fn skip_level(tx: &mut Tx<'_>, board: BoardId, level: u8, from: Position) -> Result<Position, SqlError> {
    let mut position = from;
    loop {
        let mut values = board::count_key(board);
        values.extend([level.into(), position.below.into(), BLOCKS_SLICE.into()]);
        let mut blocks: Vec<(i64, u64)> = Vec::new();
        for mut cells in tx.read(BLOCKS_BELOW, values).await? {
            blocks.push((cells.next()?, cells.next()?));
        }
        let (read, last) = (blocks.len(), blocks.last().map(|(first_id, _)| *first_id));
        position = skip(position, blocks);
        if read < BLOCKS_SLICE || last != Some(position.below) {
            return Ok(position);
        }
    }
}

/// The ids of the newest articles, with the count of the same moment.
pub(super) async fn newest(db: &Mysql, board: BoardId, limit: usize) -> Result<Option<NewestArticles>, StoreError> {
    Ok(snapshot!(db.server_of(board.shard()), |tx| newest_in(&mut tx, board, limit))?)
}

async fn newest_in(tx: &mut Tx<'_>, board: BoardId, limit: usize) -> Result<Option<NewestArticles>, SqlError> {
    let Some(count) = board::count(tx, board).await? else { return Ok(None) };
    // One more than asked for tells whether there are others.
    let surplus = limit.saturating_add(1);
    let found = tx.read(NEWEST, vec![board.raw().into(), surplus.into()]).await?;
    let mut ids = found.into_iter().map(article_id).collect::<Result<Vec<_>, _>>()?;
    let is_all = ids.len() <= limit;
    ids.truncate(limit);
    Ok(Some(NewestArticles { ids, is_all, count }))
}

/// The articles before `before`, or the newest.
pub(super) async fn scroll(
    db: &Mysql,
    board: BoardId,
    before: Option<ArticleId>,
    size: PageSize,
) -> Result<Scroll<ArticleHead, ArticleId>, StoreError> {
    let below = before.map_or(i64::MAX, ArticleId::raw);
    let values = vec![board.raw().into(), below.into(), (size.get() + 1).into()];
    let rows = db.read(db.server_of(board.shard()), SCROLL, values).await?;
    let items = rows.into_iter().map(row::summary).collect::<Result<Vec<_>, _>>()?;
    Ok(Scroll::from_surplus(items, size, |article| article.article_id))
}

/// Each server tells its newest; the newest of them all are the answer.
pub(super) async fn by_writer(
    db: &Mysql,
    writer: MemberId,
    before: Option<ArticleId>,
    size: PageSize,
) -> Result<Scroll<ArticleHead, ArticleId>, StoreError> {
    let below = before.map_or(i64::MAX, ArticleId::raw);
    let part = Part {
        sql: BY_WRITER,
        values: vec![writer.raw().into()],
        read: row::summary,
        cursor: |article| article.article_id.raw(),
        shard: |article| article.article_id.shard(),
    };
    let told = from_each(db, &part, below, size.get() as usize + 1).await?;
    Ok(newest_of_all(told, size, |article| article.article_id))
}
