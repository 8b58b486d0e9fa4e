//! A store in memory that is just enough to try the rules of the use cases on; adapters have their own suite.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard};

use async_trait::async_trait;
use madang_board::{Act, ArticleId, CommentId, CommentMode, MemberId};
use madang_comment::{
    Comment, CommentCount, CommentCursor, CommentPath, CommentStore, CreateComment, CreateOutcome, DeleteComment,
    DeleteOutcome, Parent, Refusal, place,
};
use madang_kernel::{Created, EventId, Page, PageNumber, PageSize, Scroll, StoreError, known_count};

#[derive(Default)]
pub(crate) struct MemoryComments {
    kept: Mutex<Kept>,
    /// How many creations to answer as overtaken.
    pub(crate) late: AtomicU32,
    /// How often the store is to be away.
    pub(crate) outages: AtomicU32,
}

#[derive(Default)]
struct Kept {
    comments: BTreeMap<CommentId, Comment>,
    gone: HashSet<ArticleId>,
    events: Vec<EventId>,
    acts: Vec<Act>,
}

impl MemoryComments {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap()
    }

    /// The ids of the events that would have been written.
    pub(crate) fn events(&self) -> Vec<EventId> {
        self.kept().events.clone()
    }

    /// What the log of moderation would say.
    pub(crate) fn acts(&self) -> Vec<Act> {
        self.kept().acts.clone()
    }

    /// Rows that are there, of articles that are gone too.
    pub(crate) fn rows(&self) -> usize {
        self.kept().comments.len()
    }
}

fn take_one(left: &AtomicU32) -> bool {
    left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok()
}

impl Kept {
    fn of(&self, article: ArticleId) -> impl Iterator<Item = &Comment> {
        let gone = self.gone.contains(&article);
        self.comments.values().filter(move |comment| comment.article_id == article && !gone)
    }

    fn in_order(&self, article: ArticleId) -> Vec<Comment> {
        let mut comments: Vec<_> = self.of(article).cloned().collect();
        comments.sort_by_key(|c| (c.path.clone(), c.parent_id.unwrap_or(c.comment_id), c.comment_id));
        comments
    }

    fn last_below(&self, article: ArticleId, path: &CommentPath) -> Option<CommentPath> {
        let paths = self.of(article).filter_map(|comment| comment.path.clone());
        paths.filter(|below| below > path && below.as_str() < path.end_of_descendants().as_str()).max()
    }

    fn count(&self, article: ArticleId) -> CommentCount {
        let comment_count = self.of(article).filter(|comment| !comment.deleted).count() as u64;
        CommentCount { comment_count, row_count: self.of(article).count() as u64, version: 0 }
    }
}

#[async_trait]
impl CommentStore for MemoryComments {
    async fn create(&self, new: CreateComment) -> Result<CreateOutcome, StoreError> {
        if take_one(&self.late) {
            return Ok(CreateOutcome::Late);
        }
        let mut kept = self.kept();
        if kept.gone.contains(&new.article_id) {
            return Ok(CreateOutcome::Gone);
        }
        let parent = match new.parent_id {
            None => None,
            Some(id) => match kept.comments.get(&id).filter(|parent| parent.article_id == new.article_id) {
                Some(parent) => Some(Parent {
                    comment_id: id,
                    depth: parent.depth,
                    path: parent.path.clone(),
                    deleted: parent.deleted,
                }),
                None => return Ok(CreateOutcome::Refused(Refusal::NoParent)),
            },
        };
        let last = |path: &CommentPath| Ok::<_, Refusal>(kept.last_below(new.article_id, path));
        let place = match place(new.mode, new.depth_max, parent.as_ref(), last) {
            Ok(place) => place,
            Err(refusal) => return Ok(CreateOutcome::Refused(refusal)),
        };
        let comment = Comment {
            comment_id: new.comment_id,
            article_id: new.article_id,
            parent_id: new.parent_id,
            depth: place.depth,
            path: place.path,
            content: Some(new.content),
            deleted: false,
            writer: Some(new.writer),
            created_at: new.created_at,
        };
        kept.comments.insert(new.comment_id, comment.clone());
        kept.events.push(new.event_id);
        Ok(CreateOutcome::Created(Created::Now(comment)))
    }

    async fn delete(&self, delete: DeleteComment) -> Result<DeleteOutcome, StoreError> {
        let mut kept = self.kept();
        let Some(comment) = kept.comments.get(&delete.comment_id).filter(|comment| !comment.deleted).cloned() else {
            return Ok(DeleteOutcome::Absent);
        };
        let (id, article) = (comment.comment_id, comment.article_id);
        if kept.comments.values().any(|child| child.parent_id == Some(id)) {
            kept.comments.insert(id, comment.into_mark());
        } else {
            kept.comments.remove(&id);
        }
        kept.events.push(delete.event_id);
        kept.acts.extend(delete.act);
        Ok(DeleteOutcome::Deleted(kept.count(article)))
    }

    async fn find(&self, comment: CommentId) -> Result<Option<Comment>, StoreError> {
        Ok(self.kept().comments.get(&comment).cloned())
    }

    async fn page(
        &self,
        article: ArticleId,
        _mode: CommentMode,
        page: PageNumber,
        size: PageSize,
    ) -> Result<Page<Comment>, StoreError> {
        let all = self.kept().in_order(article);
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
        let all = self.kept().in_order(article);
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
        let kept = self.kept();
        let newest_first = kept.comments.values().rev().filter(|comment| {
            let theirs = comment.writer.as_ref().is_some_and(|found| found.member_id == writer);
            theirs
                && before.is_none_or(|before| comment.comment_id < before)
                && !kept.gone.contains(&comment.article_id)
        });
        let items = newest_first.take(size.get() as usize + 1).cloned().collect();
        Ok(Scroll::from_surplus(items, size, |comment| comment.comment_id))
    }

    async fn count(&self, article: ArticleId) -> Result<CommentCount, StoreError> {
        Ok(self.kept().count(article))
    }

    async fn counts(&self, articles: Vec<ArticleId>) -> Result<Vec<Option<CommentCount>>, StoreError> {
        let kept = self.kept();
        let count = |article| (!kept.gone.contains(&article)).then(|| kept.count(article));
        Ok(articles.into_iter().map(count).collect())
    }

    async fn mark_article_gone(&self, article: ArticleId) -> Result<(), StoreError> {
        if take_one(&self.outages) {
            return Err(StoreError::unavailable("memory", "asleep"));
        }
        self.kept().gone.insert(article);
        Ok(())
    }

    async fn clean_up(&self, article: ArticleId, slice_rows: u32) -> Result<u32, StoreError> {
        let mut kept = self.kept();
        let rows = kept.comments.values().filter(|comment| comment.article_id == article);
        let ids: Vec<_> = rows.map(|comment| comment.comment_id).take(slice_rows as usize).collect();
        for id in &ids {
            kept.comments.remove(id);
        }
        Ok(ids.len() as u32)
    }

    async fn counted_articles(&self, after: Option<ArticleId>, size: PageSize) -> Result<Vec<ArticleId>, StoreError> {
        let kept = self.kept();
        let articles: BTreeSet<_> = kept.comments.values().map(|comment| comment.article_id).collect();
        let later = articles.into_iter().filter(|article| after.is_none_or(|after| *article > after));
        Ok(later.take(size.get() as usize).collect())
    }
}
