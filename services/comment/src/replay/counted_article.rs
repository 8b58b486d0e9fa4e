//! An article while calls are replayed: how many comments it has, and whether it is gone.

use madang_board::{ArticleId, CommentId};
use madang_kernel::{Id, StoreError};

use crate::CommentCount;

/// The counter of an article's comments, as it is stored. One that is not stored counts zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommentCounter {
    /// The article.
    pub article_id: ArticleId,
    /// How many comments it has.
    pub count: CommentCount,
    /// The greatest comment id that the article has seen; 0 before the first.
    pub greatest_id: i64,
    /// Whether the article is marked as gone.
    pub is_gone: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gone {
    No,
    /// Marked by these calls.
    Now,
    Before,
}

/// An article whose counter was loaded.
#[derive(Debug)]
pub(super) struct CountedArticle {
    pub(super) counter: CommentCounter,
    pub(super) gone: Gone,
    changed: bool,
}

impl CountedArticle {
    pub(super) fn new(counter: CommentCounter) -> Self {
        let gone = if counter.is_gone { Gone::Before } else { Gone::No };
        Self { counter, gone, changed: false }
    }

    /// Counts a comment in.
    pub(super) fn count_in(&mut self, comment: CommentId) -> CommentCount {
        let CommentCount { comment_count, row_count, .. } = self.counter.count;
        self.counter.greatest_id = self.counter.greatest_id.max(comment.raw());
        self.change(comment_count + 1, row_count + 1)
    }

    /// Counts a comment out, with the rows that go: none when it becomes a mark.
    pub(super) fn count_out(&mut self, rows: u64) -> Result<CommentCount, StoreError> {
        let CommentCount { comment_count, row_count, .. } = self.counter.count;
        let (Some(comment_count), Some(row_count)) = (comment_count.checked_sub(1), row_count.checked_sub(rows)) else {
            return Err(self.never_counted());
        };
        Ok(self.change(comment_count, row_count))
    }

    /// Counts a comment in again whose mark was counted all the time.
    pub(super) fn count_back(&mut self) -> CommentCount {
        let CommentCount { comment_count, row_count, .. } = self.counter.count;
        self.change(comment_count + 1, row_count)
    }

    /// Counts marks out that go.
    pub(super) fn count_marks_out(&mut self, rows: u64) -> Result<CommentCount, StoreError> {
        let CommentCount { comment_count, row_count, .. } = self.counter.count;
        let row_count = row_count.checked_sub(rows).ok_or_else(|| self.never_counted())?;
        Ok(self.change(comment_count, row_count))
    }

    /// Counts a change that leaves the counts as they are.
    pub(super) fn count_edit(&mut self) -> Result<CommentCount, StoreError> {
        let CommentCount { comment_count, row_count, .. } = self.counter.count;
        if comment_count == 0 {
            return Err(self.never_counted());
        }
        Ok(self.change(comment_count, row_count))
    }

    /// Closes the article to new comments, or opens it; `None` when it is so already.
    pub(super) fn set_lock(&mut self, locked: bool) -> Option<CommentCount> {
        if self.counter.count.locked == locked {
            return None;
        }
        let CommentCount { comment_count, row_count, .. } = self.counter.count;
        self.counter.count.locked = locked;
        Some(self.change(comment_count, row_count))
    }

    /// The counter, if the calls changed it and the article is still there.
    pub(super) fn changed_counter(&self) -> Option<CommentCounter> {
        (self.changed && self.gone == Gone::No).then_some(self.counter)
    }

    /// Whether there is nothing to count: the article is gone, or nobody has ever commented on it.
    pub(super) fn is_uncounted(&self) -> bool {
        self.gone != Gone::No || self.counter.count == CommentCount::default()
    }

    fn never_counted(&self) -> StoreError {
        let article = self.counter.article_id;
        let reason = format!("a comment of article {article} was never counted; run `madang check`");
        StoreError::broken("article_comment_count", reason)
    }

    fn change(&mut self, comment_count: u64, row_count: u64) -> CommentCount {
        self.changed = true;
        let CommentCount { version, locked, .. } = self.counter.count;
        self.counter.count = CommentCount { comment_count, row_count, version: version + 1, locked };
        self.counter.count
    }
}
