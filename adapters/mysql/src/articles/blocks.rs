//! A board while a batch is decided: its counter and those of its counted blocks that the batch touches. The rules are
//! `madang_article::blocks`; here they run in memory.

use std::collections::BTreeMap;

use madang_article::blocks::{self, OLDEST_FIRST_ID};
use madang_board::{ArticleId, BoardId};
use madang_engine_mysql::Values;
use madang_event::BoardCount;
use madang_kernel::{Id, StoreError};

/// Blocks of about 1,000 articles.
pub(crate) const BLOCK: u8 = 1;
/// Super-blocks of about 64,000.
pub(crate) const SUPER_BLOCK: u8 = 2;

/// A board whose counter is locked.
pub(super) struct BoardTally {
    board: BoardId,
    count: BoardCount,
    greatest_id: i64,
    changed: bool,
    blocks: Level,
    super_blocks: Level,
}

/// Blocks of one level by their first ids: those that hold an id of the batch, and those that the batch opens.
#[derive(Default)]
struct Level(BTreeMap<i64, Block>);

struct Block {
    count: u64,
    changed: bool,
}

impl BoardTally {
    pub(super) fn new(board: BoardId, count: BoardCount, greatest_id: i64) -> Self {
        let (blocks, super_blocks) = (Level::default(), Level::default());
        Self { board, count, greatest_id, changed: false, blocks, super_blocks }
    }

    pub(super) fn count(&self) -> BoardCount {
        self.count
    }

    /// An id whose block is the one that counts `article`: every id above the greatest falls into the newest.
    pub(super) fn place_of(&self, article: ArticleId) -> i64 {
        if article.raw() > self.greatest_id { i64::MAX } else { article.raw() }
    }

    /// Adds a stored block.
    pub(super) fn load(&mut self, level: u8, first_id: i64, count: u64) {
        self.level(level).0.insert(first_id, Block { count, changed: false });
    }

    /// Counts an article in; returns the board's count with it.
    pub(super) fn count_in(&mut self, article: ArticleId) -> BoardCount {
        let greatest = ArticleId::from_raw(self.greatest_id);
        let opens_block =
            self.blocks.holder(article).is_some_and(|block| blocks::opens_new_block(block.count, article, greatest));
        let opens_super = self
            .super_blocks
            .holder(article)
            .is_some_and(|block| blocks::opens_new_super_block(block.count, opens_block));
        self.blocks.add(article, opens_block);
        self.super_blocks.add(article, opens_super);
        self.greatest_id = self.greatest_id.max(article.raw());
        self.change(self.count.article_count + 1)
    }

    /// Counts an article out; returns the board's count without it. One that was never counted is refused.
    pub(super) fn count_out(&mut self, article: ArticleId) -> Result<BoardCount, StoreError> {
        let uncounted = || {
            let board = self.board;
            StoreError::broken("article_block", format!("an article of board {board} was never counted"))
        };
        let article_count = self.count.article_count.checked_sub(1).ok_or_else(uncounted)?;
        let counted = |level: &mut Level| level.holder(article).is_some_and(|block| block.count > 0);
        if !(counted(&mut self.blocks) && counted(&mut self.super_blocks)) {
            return Err(uncounted());
        }
        self.blocks.remove(article);
        self.super_blocks.remove(article);
        Ok(self.change(article_count))
    }

    /// The counter, if the batch changed it.
    pub(super) fn changed_count(&self) -> Option<Values> {
        let Self { board, count, greatest_id, .. } = self;
        self.changed.then(|| {
            let key = [board.shard().number().into(), board.raw().into()];
            let count = [count.article_count.into(), count.version.into(), (*greatest_id).into()];
            key.into_iter().chain(count).collect()
        })
    }

    /// The blocks that the batch changed or opened.
    pub(super) fn changed_blocks(&self) -> impl Iterator<Item = Values> {
        let board = self.board;
        let levels = [(BLOCK, &self.blocks), (SUPER_BLOCK, &self.super_blocks)];
        let changed = levels.into_iter().flat_map(|(level, blocks)| blocks.0.iter().map(move |block| (level, block)));
        changed.filter(|(_, (_, block))| block.changed).map(move |(level, (first_id, block))| {
            vec![
                board.shard().number().into(),
                board.raw().into(),
                level.into(),
                (*first_id).into(),
                block.count.into(),
            ]
        })
    }

    fn change(&mut self, article_count: u64) -> BoardCount {
        self.changed = true;
        self.count = BoardCount { article_count, version: self.count.version + 1 };
        self.count
    }

    fn level(&mut self, level: u8) -> &mut Level {
        if level == BLOCK { &mut self.blocks } else { &mut self.super_blocks }
    }
}

impl Level {
    /// The block that holds an id: its own was loaded, and none between them exists.
    fn holder(&mut self, article: ArticleId) -> Option<&mut Block> {
        self.0.range_mut(..=article.raw()).next_back().map(|(_, block)| block)
    }

    /// Adds one to the block that holds the article, or opens one: at the article, or as the board's first.
    fn add(&mut self, article: ArticleId, opens: bool) {
        let block = match self.holder(article) {
            Some(block) if !opens => block,
            Some(_) => self.0.entry(article.raw()).or_insert(Block { count: 0, changed: true }),
            None => self.0.entry(OLDEST_FIRST_ID).or_insert(Block { count: 0, changed: true }),
        };
        block.count += 1;
        block.changed = true;
    }

    fn remove(&mut self, article: ArticleId) {
        if let Some(block) = self.holder(article) {
            block.count = block.count.saturating_sub(1);
            block.changed = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use madang_article::blocks::BLOCK_ARTICLES;

    use super::*;

    fn tally() -> BoardTally {
        BoardTally::new(BoardId::from_raw(1), BoardCount { article_count: 0, version: 0 }, 0)
    }

    #[test]
    fn a_full_block_is_followed_by_the_next() {
        let mut tally = tally();
        for id in 1..=BLOCK_ARTICLES as i64 + 1 {
            tally.count_in(ArticleId::from_raw(id));
        }
        let starts: Vec<i64> = tally.blocks.0.keys().copied().collect();
        assert_eq!(starts, [OLDEST_FIRST_ID, BLOCK_ARTICLES as i64 + 1]);
        assert_eq!(tally.super_blocks.0.len(), 1);
        assert_eq!(tally.count(), BoardCount { article_count: BLOCK_ARTICLES + 1, version: BLOCK_ARTICLES + 1 });
    }

    #[test]
    fn what_was_never_counted_is_not_counted_out() {
        let mut tally = tally();
        assert!(tally.count_out(ArticleId::from_raw(5)).is_err());
        tally.count_in(ArticleId::from_raw(5));
        assert_eq!(tally.count_out(ArticleId::from_raw(5)).unwrap(), BoardCount { article_count: 0, version: 2 });
    }
}
