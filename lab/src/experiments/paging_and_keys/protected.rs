//! Pages by counted blocks: two levels of counts say where a page begins, and at most one small block is skipped. Counts
//! by a limit, or by a counter that is kept.

use mysql_async::Conn;
use mysql_async::prelude::Queryable as _;

use super::PAGE;

/// A run of articles with neighbouring ids: where it begins, and how many it has.
pub(super) type Block = (i64, u64);

/// Where to go on after some blocks were passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// The first id of the block that holds the place.
    pub(super) from: i64,
    /// The first id of the block before it, which is newer: ids of the place lie below. `None` in the newest.
    pub(super) below: Option<i64>,
    /// Articles to skip inside.
    pub(super) skip: u64,
}

/// Passes blocks, newest first, as long as all of their articles are to be skipped; `None` behind the last.
pub(super) fn locate(blocks: &[Block], mut skip: u64) -> Option<Place> {
    let mut below = None;
    for (from, count) in blocks.iter().copied() {
        if skip < count {
            return Some(Place { from, below, skip });
        }
        skip -= count;
        below = Some(from);
    }
    None
}

/// A page by two levels of blocks.
pub(super) async fn blocks(conn: &mut Conn, skip: u64) -> mysql_async::Result<Vec<i64>> {
    let large = "SELECT first_id, articles FROM large_block WHERE board_id = 1 ORDER BY first_id DESC";
    let Some(large) = locate(&conn.exec::<Block, _, _>(large, ()).await?, skip) else { return Ok(Vec::new()) };
    let small = "SELECT first_id, articles FROM small_block \
                 WHERE board_id = 1 AND first_id >= ? AND first_id < ? ORDER BY first_id DESC";
    let below = large.below.unwrap_or(i64::MAX);
    let Some(small) = locate(&conn.exec::<Block, _, _>(small, (large.from, below)).await?, large.skip) else {
        return Ok(Vec::new());
    };
    // Without the hint the planner walks from the newest row of the board.
    let page = "SELECT article_id, title, writer_id FROM article FORCE INDEX (board_article) \
                WHERE board_id = 1 AND article_id < ? ORDER BY article_id DESC LIMIT ? OFFSET ?";
    let below = small.below.or(large.below).unwrap_or(i64::MAX);
    let rows: Vec<(i64, String, i64)> = conn.exec(page, (below, PAGE, small.skip)).await?;
    Ok(rows.into_iter().map(|(id, ..)| id).collect())
}

/// Counts as far as a reader can go by the links of a page: ten pages, and whether there is more.
pub(super) async fn limited_count(conn: &mut Conn) -> mysql_async::Result<u64> {
    let count = "SELECT COUNT(*) FROM (SELECT article_id FROM article FORCE INDEX (board_article) \
                 WHERE board_id = 1 LIMIT ?) AS some";
    Ok(conn.exec_first(count, (PAGE * 10 + 1,)).await?.unwrap_or(0))
}

/// Reads the counter of a board.
pub(super) async fn counter(conn: &mut Conn) -> mysql_async::Result<u64> {
    Ok(conn.exec_first("SELECT articles FROM board_count WHERE board_id = 1", ()).await?.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCKS: [Block; 3] = [(200, 3), (100, 5), (0, 2)];

    #[test]
    fn a_place_is_found_in_the_block_that_holds_it() {
        assert_eq!(locate(&BLOCKS, 0), Some(Place { from: 200, below: None, skip: 0 }));
        assert_eq!(locate(&BLOCKS, 2), Some(Place { from: 200, below: None, skip: 2 }));
        assert_eq!(locate(&BLOCKS, 3), Some(Place { from: 100, below: Some(200), skip: 0 }));
        assert_eq!(locate(&BLOCKS, 9), Some(Place { from: 0, below: Some(100), skip: 1 }));
    }

    #[test]
    fn behind_the_last_block_there_is_no_place() {
        assert_eq!(locate(&BLOCKS, 10), None);
        assert_eq!(locate(&[], 0), None);
    }
}
