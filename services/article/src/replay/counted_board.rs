//! A board while calls are replayed: its counter, and those of its counted blocks that the calls touch.

use std::collections::BTreeMap;

use madang_board::{ArticleId, BoardId};
use madang_event::BoardCount;
use madang_kernel::{Id, StoreError, Timestamp};

use crate::BoardState;
use crate::blocks::{self, BLOCK, OLDEST_FIRST_ID, SUPER_BLOCK};

/// The counter of a board, as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BoardCounter {
    /// The board.
    pub board_id: BoardId,
    /// How many articles it has.
    pub count: BoardCount,
    /// The greatest article id that the board has seen; 0 before the first.
    pub greatest_id: i64,
    /// Whether it takes changes. Written only where a call is about that, see [`super::Replayed::states`].
    pub state: BoardState,
}

impl BoardCounter {
    /// The counter of a board that was never written to.
    pub fn new(board_id: BoardId) -> Self {
        let count = BoardCount { article_count: 0, version: 0 };
        Self { board_id, count, greatest_id: 0, state: BoardState::Open }
    }

    /// When the newest article was written that the board has ever had.
    pub fn last_activity_at(&self) -> Option<Timestamp> {
        (self.greatest_id > 0).then(|| ArticleId::from_raw(self.greatest_id).issued_at())
    }

    /// An id to look a block up by that holds `article`: every id above the greatest falls into the newest block, whatever
    /// others come before it.
    pub fn id_in_block_of(&self, article: ArticleId) -> i64 {
        if article.raw() > self.greatest_id { i64::MAX } else { article.raw() }
    }
}

/// A counted block, as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountedBlock {
    /// The board.
    pub board_id: BoardId,
    /// [`BLOCK`] or [`SUPER_BLOCK`].
    pub level: u8,
    /// Where it starts.
    pub first_id: i64,
    /// Articles from there up to the next block of its level.
    pub article_count: u64,
}

/// A board whose counter was loaded.
#[derive(Debug)]
pub(super) struct CountedBoard {
    counter: BoardCounter,
    changed: bool,
    state_changed: bool,
    blocks: Level,
    super_blocks: Level,
}

/// Blocks of one level by their first ids: those that hold an id of the calls, and those that the calls open.
#[derive(Debug, Default)]
struct Level(BTreeMap<i64, Block>);

#[derive(Debug, Default)]
struct Block {
    article_count: u64,
    changed: bool,
}

impl CountedBoard {
    pub(super) fn new(counter: BoardCounter) -> Self {
        let (blocks, super_blocks) = (Level::default(), Level::default());
        Self { counter, changed: false, state_changed: false, blocks, super_blocks }
    }

    /// Adds a stored block.
    pub(super) fn load(&mut self, block: CountedBlock) {
        let level = if block.level == BLOCK { &mut self.blocks } else { &mut self.super_blocks };
        level.0.insert(block.first_id, Block { article_count: block.article_count, changed: false });
    }

    pub(super) fn count(&self) -> BoardCount {
        self.counter.count
    }

    pub(super) fn state(&self) -> BoardState {
        self.counter.state
    }

    pub(super) fn set_state(&mut self, state: BoardState) {
        self.state_changed |= self.counter.state != state;
        self.counter.state = state;
    }

    /// The state, if the calls changed it.
    pub(super) fn changed_state(&self) -> Option<(BoardId, BoardState)> {
        self.state_changed.then_some((self.counter.board_id, self.counter.state))
    }

    /// Counts an article in; returns the board's count with it.
    pub(super) fn count_in(&mut self, article: ArticleId) -> BoardCount {
        let greatest = ArticleId::from_raw(self.counter.greatest_id);
        let holder = self.blocks.holder(article);
        let opens_block = holder.is_some_and(|block| blocks::opens_new_block(block.article_count, article, greatest));
        let holder = self.super_blocks.holder(article);
        let opens_super = holder.is_some_and(|block| blocks::opens_new_super_block(block.article_count, opens_block));
        self.blocks.add(article, opens_block);
        self.super_blocks.add(article, opens_super);
        self.counter.greatest_id = self.counter.greatest_id.max(article.raw());
        self.change(self.counter.count.article_count + 1)
    }

    /// Counts an article out; returns the board's count without it. One that was never counted is refused.
    pub(super) fn count_out(&mut self, article: ArticleId) -> Result<BoardCount, StoreError> {
        let board = self.counter.board_id;
        let uncounted = || {
            let reason = format!("an article of board {board} was never counted; run `madang check`");
            StoreError::broken("article_block", reason)
        };
        let article_count = self.counter.count.article_count.checked_sub(1).ok_or_else(uncounted)?;
        let counted = |level: &mut Level| level.holder(article).is_some_and(|block| block.article_count > 0);
        if !(counted(&mut self.blocks) && counted(&mut self.super_blocks)) {
            return Err(uncounted());
        }
        self.blocks.remove(article);
        self.super_blocks.remove(article);
        Ok(self.change(article_count))
    }

    /// The counter, if the calls changed it.
    pub(super) fn changed_counter(&self) -> Option<BoardCounter> {
        self.changed.then_some(self.counter)
    }

    /// The blocks that the calls changed or opened.
    pub(super) fn changed_blocks(&self) -> impl Iterator<Item = CountedBlock> + '_ {
        let board_id = self.counter.board_id;
        let levels = [(BLOCK, &self.blocks), (SUPER_BLOCK, &self.super_blocks)];
        levels.into_iter().flat_map(move |(level, blocks)| {
            let changed = blocks.0.iter().filter(|(_, block)| block.changed);
            changed.map(move |(first_id, block)| CountedBlock {
                board_id,
                level,
                first_id: *first_id,
                article_count: block.article_count,
            })
        })
    }

    fn change(&mut self, article_count: u64) -> BoardCount {
        self.changed = true;
        self.counter.count = BoardCount { article_count, version: self.counter.count.version + 1 };
        self.counter.count
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
            Some(_) => self.0.entry(article.raw()).or_default(),
            None => self.0.entry(OLDEST_FIRST_ID).or_default(),
        };
        block.article_count += 1;
        block.changed = true;
    }

    fn remove(&mut self, article: ArticleId) {
        if let Some(block) = self.holder(article) {
            block.article_count = block.article_count.saturating_sub(1);
            block.changed = true;
        }
    }
}
