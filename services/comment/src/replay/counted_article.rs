//! An article while calls are replayed: how many comments it has, and whether it is gone.

use std::collections::BTreeMap;

use madang_board::{ArticleId, BoardId, CommentId};
use madang_event::LastComment;
use madang_kernel::{Id, StoreError};

use crate::{Comment, CommentCount, Counted};

/// The counter of an article's comments, as it is stored. One that is not stored counts zeros.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommentCounter {
    /// The article.
    pub article_id: ArticleId,
    /// How many comments it has.
    pub count: CommentCount,
    /// The greatest comment id that the article has seen; 0 before the first.
    pub greatest_id: i64,
    /// Whether the article is marked as gone.
    pub is_gone: bool,
    /// The board of the article, once it is noted.
    pub board_id: Option<BoardId>,
    /// The newest visible comment. A counter that a version before wrote does not tell; then it is among the comments that
    /// were loaded as the newest.
    pub last: Option<LastComment>,
}

impl CommentCounter {
    /// The counter of an article that nobody has commented on.
    pub fn zero(article_id: ArticleId, is_gone: bool) -> Self {
        Self { article_id, count: CommentCount::default(), greatest_id: 0, is_gone, board_id: None, last: None }
    }

    /// What lists tell.
    pub fn counted(self) -> Counted {
        Counted { count: self.count, last: self.last }
    }
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
    /// The newest visible comments: more of them than the calls can take away, or all.
    newest: BTreeMap<CommentId, LastComment>,
    changed: bool,
}

impl CountedArticle {
    pub(super) fn new(counter: CommentCounter) -> Self {
        let gone = if counter.is_gone { Gone::Before } else { Gone::No };
        let newest = counter.last.iter().map(|last| (last.comment_id, last.clone())).collect();
        Self { counter, gone, newest, changed: false }
    }

    /// Takes over one of the newest visible comments, which was loaded.
    pub(super) fn add_newest(&mut self, last: LastComment) {
        self.newest.insert(last.comment_id, last);
        self.counter.last = self.newest.last_key_value().map(|(_, last)| last.clone());
    }

    /// Notes the board, and the newest comment as it was loaded. Nothing that is told changes.
    pub(super) fn place(&mut self, board: BoardId) {
        if self.counter.count.comment_count > 0 {
            self.counter.board_id = Some(board);
            self.changed = true;
        }
    }

    /// Counts a comment in.
    pub(super) fn count_in(&mut self, comment: &Comment, board: BoardId) -> &CommentCounter {
        let CommentCount { comment_count, row_count, .. } = self.counter.count;
        self.counter.greatest_id = self.counter.greatest_id.max(comment.comment_id.raw());
        self.counter.board_id = Some(board);
        self.newest.extend(comment.as_last().map(|last| (last.comment_id, last)));
        self.change(comment_count + 1, row_count + 1)
    }

    /// Counts a comment out, with the rows that go: none when it becomes a mark.
    pub(super) fn count_out(&mut self, comment: CommentId, rows: u64) -> Result<&CommentCounter, StoreError> {
        let CommentCount { comment_count, row_count, .. } = self.counter.count;
        let (Some(comment_count), Some(row_count)) = (comment_count.checked_sub(1), row_count.checked_sub(rows)) else {
            return Err(self.never_counted());
        };
        self.newest.remove(&comment);
        Ok(self.change(comment_count, row_count))
    }

    /// Counts a comment in again whose mark was counted all the time.
    pub(super) fn count_back(&mut self, comment: &Comment) -> &CommentCounter {
        let CommentCount { comment_count, row_count, .. } = self.counter.count;
        self.newest.extend(comment.as_last().map(|last| (last.comment_id, last)));
        self.change(comment_count + 1, row_count)
    }

    /// Counts marks out that go.
    pub(super) fn count_marks_out(&mut self, rows: u64) -> Result<&CommentCounter, StoreError> {
        let CommentCount { comment_count, row_count, .. } = self.counter.count;
        let row_count = row_count.checked_sub(rows).ok_or_else(|| self.never_counted())?;
        Ok(self.change(comment_count, row_count))
    }

    /// Counts a change that leaves the counts as they are.
    pub(super) fn count_edit(&mut self) -> Result<&CommentCounter, StoreError> {
        let CommentCount { comment_count, row_count, .. } = self.counter.count;
        if comment_count == 0 {
            return Err(self.never_counted());
        }
        Ok(self.change(comment_count, row_count))
    }

    /// Closes the article to new comments, or opens it; `None` when it is so already.
    pub(super) fn set_lock(&mut self, locked: bool) -> Option<&CommentCounter> {
        if self.counter.count.locked == locked {
            return None;
        }
        let CommentCount { comment_count, row_count, .. } = self.counter.count;
        self.counter.count.locked = locked;
        Some(self.change(comment_count, row_count))
    }

    /// The counter, if the calls changed it and the article is still there.
    pub(super) fn changed_counter(&self) -> Option<CommentCounter> {
        (self.changed && self.gone == Gone::No).then(|| self.counter.clone())
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

    fn change(&mut self, comment_count: u64, row_count: u64) -> &CommentCounter {
        self.changed = true;
        let CommentCount { version, locked, .. } = self.counter.count;
        self.counter.count = CommentCount { comment_count, row_count, version: version + 1, locked };
        self.counter.last = self.newest.last_key_value().map(|(_, last)| last.clone());
        &self.counter
    }
}
