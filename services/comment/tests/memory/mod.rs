//! A store in memory that is just enough to try the use cases on; the rules are those of the replay, as in every adapter.

mod rows;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard};

use async_trait::async_trait;
use madang_board::{Act, ArticleId, BoardId, CommentId, CommentMode, MemberId};
use madang_comment::replay::CommentCounter;
use madang_comment::{
    Active, Comment, CommentCount, CommentCursor, CommentStore, Counted, CreateComment, CreateOutcome, DeleteComment,
    DeleteOutcome, EditComment, EditOutcome, LockOutcome, PurgeComment, RemovedComment, RestoreComment, RestoreOutcome,
    SetLock,
};
use madang_kernel::{EventId, Page, PageNumber, PageSize, Scroll, StoreError, Timestamp, known_count};

pub(crate) use rows::Rows;

/// No use case depends on when its event occurred.
const NOW: Timestamp = Timestamp::from_millis(1_704_067_200_000);

#[derive(Default)]
pub(crate) struct MemoryComments {
    rows: Mutex<Rows>,
    /// How many creations to answer as overtaken.
    pub(crate) late: AtomicU32,
    /// How often the store is to be away.
    pub(crate) outages: AtomicU32,
}

impl MemoryComments {
    fn rows(&self) -> MutexGuard<'_, Rows> {
        self.rows.lock().unwrap()
    }

    /// The ids of the events that would have been written.
    pub(crate) fn events(&self) -> Vec<EventId> {
        self.rows().events.iter().map(|event| event.event_id).collect()
    }

    /// What the log of moderation would say.
    pub(crate) fn acts(&self) -> Vec<Act> {
        self.rows().acts.clone()
    }

    /// Leaves the comments as a version wrote them that stored no HTML.
    pub(crate) fn forget_html(&self) {
        self.rows().comments.values_mut().for_each(|comment| comment.content_html = None);
    }

    /// Rows that are there, of articles that are gone too.
    pub(crate) fn row_count(&self) -> usize {
        self.rows().comments.len()
    }
}

fn take_one(left: &AtomicU32) -> bool {
    left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok()
}

impl Rows {
    fn in_order(&self, article: ArticleId) -> Vec<Comment> {
        let mut comments: Vec<_> = self.of(article).filter(|_| !self.gone.contains(&article)).cloned().collect();
        comments.sort_by_key(|c| (c.path.clone(), c.parent_id.unwrap_or(c.comment_id), c.comment_id));
        comments
    }
}

#[async_trait]
impl CommentStore for MemoryComments {
    async fn create(&self, new: CreateComment) -> Result<CreateOutcome, StoreError> {
        if take_one(&self.late) {
            return Ok(CreateOutcome::Late);
        }
        self.rows().transact(new.article_id, NOW, |replay| replay.create(&new))
    }

    async fn edit(&self, edit: EditComment) -> Result<EditOutcome, StoreError> {
        let mut rows = self.rows();
        let Some(article) = rows.comments.get(&edit.comment_id).map(|comment| comment.article_id) else {
            return Ok(EditOutcome::Absent);
        };
        rows.transact(article, NOW, |replay| replay.edit(&edit))
    }

    async fn delete(&self, delete: DeleteComment) -> Result<DeleteOutcome, StoreError> {
        let mut rows = self.rows();
        let Some(article) = rows.comments.get(&delete.comment_id).map(|comment| comment.article_id) else {
            return Ok(DeleteOutcome::Absent);
        };
        rows.transact(article, NOW, |replay| replay.delete(&delete))
    }

    async fn restore(&self, restore: RestoreComment) -> Result<RestoreOutcome, StoreError> {
        let mut rows = self.rows();
        let Some(article) = rows.comments.get(&restore.comment_id).map(|comment| comment.article_id) else {
            return Ok(RestoreOutcome::Absent);
        };
        rows.transact(article, NOW, |replay| replay.restore(&restore))
    }

    async fn purge(&self, purge: PurgeComment) -> Result<bool, StoreError> {
        let mut rows = self.rows();
        let Some(article) = rows.removed.get(&purge.comment_id).map(|removed| removed.article_id) else {
            return Ok(false);
        };
        rows.transact(article, NOW, |replay| replay.purge(&purge))
    }

    async fn find_removed(&self, comment: CommentId) -> Result<Option<RemovedComment>, StoreError> {
        Ok(self.rows().removed.get(&comment).cloned())
    }

    async fn removed_until(&self, until: Timestamp, limit: usize) -> Result<Vec<CommentId>, StoreError> {
        let rows = self.rows();
        let due = rows.removed.iter().filter(|(_, found)| found.removal.removed_at <= until);
        Ok(due.map(|(id, _)| *id).take(limit).collect())
    }

    async fn set_lock(&self, set: SetLock) -> Result<LockOutcome, StoreError> {
        Ok(self.rows().transact(set.article_id, NOW, |replay| replay.set_lock(&set)))
    }

    async fn find(&self, comment: CommentId) -> Result<Option<Comment>, StoreError> {
        Ok(self.rows().comments.get(&comment).cloned())
    }

    async fn find_many(&self, comments: Vec<CommentId>) -> Result<Vec<Option<Comment>>, StoreError> {
        let rows = self.rows();
        Ok(comments.iter().map(|comment| rows.comments.get(comment).cloned()).collect())
    }

    async fn page(
        &self,
        article: ArticleId,
        _mode: CommentMode,
        page: PageNumber,
        size: PageSize,
    ) -> Result<Page<Comment>, StoreError> {
        let all = self.rows().in_order(article);
        let known_count = known_count(all.len() as u64, page, size);
        let items = all.into_iter().skip(page.offset(size) as usize).take(size.get() as usize).collect();
        Ok(Page { items, known_count })
    }

    async fn scroll(
        &self,
        article: ArticleId,
        _mode: CommentMode,
        after: Option<CommentCursor>,
        size: PageSize,
    ) -> Result<Scroll<Comment, CommentCursor>, StoreError> {
        let all = self.rows().in_order(article);
        let shown = all.iter().position(|comment| Some(CommentCursor::after(comment)) == after);
        let rest = all.into_iter().skip(shown.map_or(0, |shown| shown + 1)).take(size.get() as usize + 1);
        Ok(Scroll::from_surplus(rest.collect(), size, CommentCursor::after))
    }

    async fn by_writer(
        &self,
        writer: MemberId,
        before: Option<CommentId>,
        size: PageSize,
    ) -> Result<Scroll<Comment, CommentId>, StoreError> {
        let rows = self.rows();
        let newest_first = rows.comments.values().rev().filter(|comment| {
            let theirs = comment.writer.as_ref().is_some_and(|found| found.member_id == writer);
            theirs
                && before.is_none_or(|before| comment.comment_id < before)
                && !rows.gone.contains(&comment.article_id)
        });
        let items = newest_first.take(size.get() as usize + 1).cloned().collect();
        Ok(Scroll::from_surplus(items, size, |comment| comment.comment_id))
    }

    async fn count(&self, article: ArticleId) -> Result<CommentCount, StoreError> {
        Ok(self.rows().counter(article).count)
    }

    async fn counts(&self, articles: Vec<ArticleId>) -> Result<Vec<Option<Counted>>, StoreError> {
        let rows = self.rows();
        let count = |article| (!rows.gone.contains(&article)).then(|| rows.counter(article).counted());
        Ok(articles.into_iter().map(count).collect())
    }

    async fn active(&self, board: Option<BoardId>, until: Timestamp, limit: usize) -> Result<Vec<Active>, StoreError> {
        let rows = self.rows();
        let there = rows.counters.values().filter(|counter| board.is_none() || counter.board_id == board);
        let active = there.filter_map(|counter| {
            let (article_id, last_at) = (counter.article_id, counter.last.as_ref()?.created_at);
            (last_at <= until).then_some(Active { article_id, last_at, version: counter.count.version })
        });
        let mut active: Vec<_> = active.collect();
        active.sort_by_key(|active| std::cmp::Reverse((active.last_at, active.article_id)));
        active.truncate(limit);
        Ok(active)
    }

    async fn unplaced(&self, after: Option<ArticleId>, size: PageSize) -> Result<Vec<ArticleId>, StoreError> {
        let rows = self.rows();
        let lacking = |counter: &&CommentCounter| counter.board_id.is_none() && counter.count.comment_count > 0;
        let later = rows.counters.values().filter(lacking).map(|counter| counter.article_id);
        Ok(later.filter(|id| after.is_none_or(|after| *id > after)).take(size.get() as usize).collect())
    }

    async fn place(&self, article: ArticleId, board: BoardId) -> Result<(), StoreError> {
        self.rows().transact(article, NOW, |replay| replay.place(article, board));
        Ok(())
    }

    async fn mark_article_gone(&self, article: ArticleId) -> Result<(), StoreError> {
        if take_one(&self.outages) {
            return Err(StoreError::unavailable("memory", "asleep"));
        }
        self.rows().transact(article, NOW, |replay| replay.mark_gone(article));
        Ok(())
    }

    async fn clean_up(&self, article: ArticleId, slice_rows: u32) -> Result<u32, StoreError> {
        let mut rows = self.rows();
        let ids: Vec<_> = rows.of(article).map(|comment| comment.comment_id).take(slice_rows as usize).collect();
        for id in &ids {
            rows.comments.remove(id);
            rows.removed.remove(id);
        }
        Ok(ids.len() as u32)
    }

    async fn counted_articles(&self, after: Option<ArticleId>, size: PageSize) -> Result<Vec<ArticleId>, StoreError> {
        let rows = self.rows();
        let articles: BTreeSet<_> = rows.comments.values().map(|comment| comment.article_id).collect();
        let later = articles.into_iter().filter(|article| after.is_none_or(|after| *article > after));
        Ok(later.take(size.get() as usize).collect())
    }

    async fn gone_articles(&self, after: Option<ArticleId>, size: PageSize) -> Result<Vec<ArticleId>, StoreError> {
        let rows = self.rows();
        let mut later: Vec<_> = rows.gone.iter().copied().filter(|id| after.is_none_or(|after| *id > after)).collect();
        later.sort_unstable();
        later.truncate(size.get() as usize);
        Ok(later)
    }

    async fn restore_article(&self, article: ArticleId) -> Result<(), StoreError> {
        self.rows().gone.remove(&article);
        Ok(())
    }
}
