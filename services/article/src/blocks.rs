//! Counted blocks: a board's articles are counted in ranges of consecutive ids, in two levels, so that a deep page is
//! found by skipping whole blocks instead of scanning an offset.
//!
//! A block holds the ids from its first id up to the next block's. Boundaries never move. The oldest block starts at
//! [`OLDEST_FIRST_ID`], so an id that arrives late and small is counted too; a new block starts above every id its
//! board has seen, so no article is ever in another block than the one that counted it. Super-blocks start only where
//! blocks start, so a block is never cut by one.

use madang_board::ArticleId;

/// The level of blocks.
pub const BLOCK: u8 = 1;
/// The level of super-blocks.
pub const SUPER_BLOCK: u8 = 2;
/// Articles after which the newest block is full.
pub const BLOCK_ARTICLES: u64 = 1_000;
/// Articles after which the newest super-block is full.
pub const SUPER_BLOCK_ARTICLES: u64 = 64_000;
/// Where the oldest block and super-block of every board start.
pub const OLDEST_FIRST_ID: i64 = 0;

const _: () = assert!(SUPER_BLOCK_ARTICLES > BLOCK_ARTICLES);

/// Whether `article_id` starts a new block, given the count of the newest one and the greatest id its board has seen.
/// A board without any block starts with one at [`OLDEST_FIRST_ID`] instead.
pub fn opens_new_block(newest_block_count: u64, article_id: ArticleId, greatest_seen: ArticleId) -> bool {
    newest_block_count >= BLOCK_ARTICLES && article_id > greatest_seen
}

/// Whether an article that starts a new block starts a new super-block as well.
pub fn opens_new_super_block(newest_super_block_count: u64, opens_block: bool) -> bool {
    opens_block && newest_super_block_count >= SUPER_BLOCK_ARTICLES
}

/// A place in a board's list, newest first: skip `remaining` articles of those with ids under `below`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Only ids under this one are left.
    pub below: i64,
    /// Articles still to skip.
    pub remaining: u64,
}

impl Position {
    /// The place `offset` articles after the newest.
    pub fn after(offset: u64) -> Self {
        Self { below: i64::MAX, remaining: offset }
    }
}

/// The same place with as many whole blocks skipped as lie before it. `blocks` are `(first_id, count)` of one level,
/// newest first, those under `from.below`; no more of them are read than needed.
pub fn skip(from: Position, blocks: impl IntoIterator<Item = (i64, u64)>) -> Position {
    let mut position = from;
    for (first_id, count) in blocks {
        let Some(remaining) = position.remaining.checked_sub(count) else { break };
        position = Position { below: first_id, remaining };
    }
    position
}

#[cfg(test)]
mod tests;
