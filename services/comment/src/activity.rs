//! Which articles were commented on last, and the notes that this is found by: beside the count of an article stand its board
//! and its newest comment. Where a version before left them out they are noted by a task, once.

use madang_board::{ArticleId, BoardId};
use madang_kernel::{PageSize, StoreError, Timestamp};

use crate::{Active, CommentService};

impl CommentService {
    /// Articles of one board, or of all, whose newest comment is at or before `until`, the last commented first. Does not ask
    /// whether they exist: whoever lists articles knows.
    pub async fn active(
        &self,
        board: Option<BoardId>,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<Active>, StoreError> {
        self.store.active(board, until, limit).await
    }

    /// Notes board and newest comment of one slice of articles, by id, that lack them; the cursor of the next slice, or `None` at
    /// the end, and how many were noted.
    pub async fn place_slice(
        &self,
        after: Option<ArticleId>,
        size: PageSize,
    ) -> Result<(Option<ArticleId>, u64), StoreError> {
        let unplaced = self.store.unplaced(after, size).await?;
        let mut placed = 0;
        for article in &unplaced {
            // What is gone or removed has no place in a list; a restored one gets its own with its next comment.
            if let Some(facts) = self.articles.facts(*article).await? {
                self.store.place(*article, facts.board_id).await?;
                placed += 1;
            }
        }
        let is_full = unplaced.len() >= size.get() as usize;
        Ok((unplaced.last().copied().filter(|_| is_full), placed))
    }
}
