//! What is pinned, as lists and articles show it. Pins are asked of their owner, who answers from memory. While it cannot be
//! asked, whatever the reason, they are as they were last: what stands on top of a list must not cost the list, and whoever
//! owns pins reports its failures itself.

use std::collections::HashSet;
use std::sync::Arc;

use madang_board::{ArticleId, BoardId, Pin, pinned};
use madang_kernel::Clock;
use quick_cache::sync::Cache;

use crate::ArticleOwner;

/// Boards whose pins are kept for an outage of their owner.
const BOARDS_MAX: usize = 4_096;

pub(crate) struct Pins {
    owner: Arc<dyn ArticleOwner>,
    clock: Arc<dyn Clock>,
    last: Cache<BoardId, Arc<[Pin]>>,
}

impl Pins {
    pub(crate) fn new(owner: Arc<dyn ArticleOwner>, clock: Arc<dyn Clock>) -> Self {
        Self { owner, clock, last: Cache::new(BOARDS_MAX) }
    }

    /// The articles that are pinned on a board now, in the order in which they stand.
    pub(crate) async fn of(&self, board: BoardId) -> Vec<ArticleId> {
        let pins = match self.owner.pins(board).await {
            Ok(pins) => {
                // Most boards have none, and need no place.
                if !pins.is_empty() || self.last.peek(&board).is_some() {
                    self.last.insert(board, Arc::clone(&pins));
                }
                pins
            }
            Err(_) => self.last.get(&board).unwrap_or_default(),
        };
        if pins.is_empty() { Vec::new() } else { pinned(&pins, self.clock.now()) }
    }

    /// Of the articles of some boards, those that are pinned.
    pub(crate) async fn among(&self, boards: impl Iterator<Item = BoardId>) -> HashSet<ArticleId> {
        let boards: HashSet<BoardId> = boards.collect();
        let mut pinned = HashSet::new();
        for board in boards {
            pinned.extend(self.of(board).await);
        }
        pinned
    }
}
