//! What moderators removed: brought back above its tombstone while it can be, and ended by a second tombstone after that.
//! Versions go on where they were, so whatever arrives late or twice changes nothing.

use madang_event::BoardCount;
use madang_kernel::StoreError;

use super::Replay;
use super::counted_board::CountedBoard;
use crate::events::{self, Removed};
use crate::{Article, BoardState, PurgeArticle, RemovedArticle, RestoreArticle, RestoreOutcome};

/// The count of a board that is gone: older than any that was told.
const NO_COUNT: BoardCount = BoardCount { article_count: 0, version: 0 };

impl Replay {
    /// Brings an article back, if it can be, to where it was.
    pub fn restore(&mut self, restore: &RestoreArticle) -> Result<RestoreOutcome, StoreError> {
        let article_id = restore.article_id;
        let Some(RemovedArticle { article, removal }) = self.removed.find(article_id) else {
            return Ok(RestoreOutcome::Absent);
        };
        // One that these calls have seen is there, or was removed by one of them: then this call came before that one.
        if !removal.is_restorable(self.now) || self.articles.has_seen(article_id) {
            return Ok(RestoreOutcome::Absent);
        }
        match self.boards.get(&article.board_id).map(CountedBoard::state) {
            Some(BoardState::Open) => {}
            Some(BoardState::Archived) => return Ok(RestoreOutcome::Archived),
            Some(BoardState::Deleted) | None => return Ok(RestoreOutcome::Absent),
        }
        let article = Article { version: article.version + 2, ..article.clone() };
        let Some(board) = self.boards.get_mut(&article.board_id) else { return Ok(RestoreOutcome::Absent) };
        let count = board.count_in(article_id);
        self.events.push(events::restored(&article, restore.event_id, self.now, count));
        self.acts.push(restore.act.clone());
        self.removed.delete(article_id);
        self.articles.insert(article_id, article.clone());
        Ok(RestoreOutcome::Restored(article))
    }

    /// Destroys what was removed long enough ago; false when there is no such thing.
    pub fn purge(&mut self, purge: &PurgeArticle) -> bool {
        let article_id = purge.article_id;
        let Some(RemovedArticle { article, removal }) = self.removed.find(article_id) else { return false };
        if removal.removed_at > purge.removed_until {
            return false;
        }
        let count = self.boards.get(&article.board_id).map_or(NO_COUNT, CountedBoard::count);
        // One above the tombstone of the removal.
        let last_version = article.version + 1;
        let removed = Removed { article_id, board_id: article.board_id, last_version, restorable: false };
        self.events.push(events::deleted(removed, purge.event_id, self.now, count));
        self.removed.delete(article_id);
        true
    }
}
