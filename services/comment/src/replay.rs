//! Calls that change the comments of articles, decided one after another on what was loaded: each sees what those before it
//! have done and is answered as if it had come alone. Every adapter loads, asks here and writes.

mod counted_article;
mod removed;

use std::collections::{BTreeMap, BTreeSet};

use madang_board::{Act, ArticleId, BoardId, CommentId, CommentMode, Removal};
use madang_event::{Envelope, LastComment};
use madang_kernel::{
    Created, Id, IdempotencyRecords, NewIdempotencyRecord, RowChanges, ShardId, StagedRows, StoreError, Timestamp,
};

use crate::position::position_of_new;
use crate::{
    Comment, CommentPath, CreateComment, CreateOutcome, DeleteComment, DeleteOutcome, EditComment, EditOutcome,
    LockOutcome, Parent, Position, Refusal, RemovedComment, SetLock, events,
};
pub use counted_article::CommentCounter;
use counted_article::{CountedArticle, Gone};

/// What the calls of a transaction are decided by.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The counters of the articles that the calls are about.
    pub counters: Vec<CommentCounter>,
    /// The comments to edit, those to delete or purge with the marks above them, those to restore, those to reply to, and those
    /// that a repeated request created.
    pub comments: Vec<Comment>,
    /// What moderators removed of those comments.
    pub removed: Vec<RemovedComment>,
    /// Replies of the comments that may go: all of them, or one more than the calls can remove.
    pub replies: BTreeMap<CommentId, BTreeSet<CommentId>>,
    /// The greatest path below each path that gets a reply: see [`path_above`].
    pub last_descendants: BTreeMap<(ArticleId, CommentPath), CommentPath>,
    /// The newest visible comments of articles whose counter does not tell, or of which calls may take comments away: one more
    /// than they can, or all.
    pub newest: Vec<(ArticleId, LastComment)>,
    /// The idempotency records of the calls.
    pub records: IdempotencyRecords,
}

/// What the calls of a transaction come to: rows to write, each list in the order of its keys, and events to report.
#[derive(Debug, Clone)]
pub struct Replayed {
    /// The comments that come, change or go; an update is a new text, or what is left when a comment becomes a mark.
    pub comments: RowChanges<CommentId, Comment>,
    /// What moderators removed, and what of that is restored or purged; an update is written whether there is a row or not.
    pub removed: RowChanges<CommentId, RemovedComment>,
    /// The counters that changed.
    pub counters: Vec<CommentCounter>,
    /// Articles that are to be marked as gone. Their counters go too.
    pub gone_now: Vec<ArticleId>,
    /// Articles whose counter need not be stored: they are gone, or nobody has ever commented on them.
    pub uncounted: Vec<ArticleId>,
    /// The answers to keep.
    pub records: Vec<NewIdempotencyRecord>,
    /// What the log of moderation says.
    pub acts: Vec<Act>,
    /// In the order of the calls.
    pub events: Vec<Envelope>,
}

/// Comments while the calls of a transaction are applied to them in memory, in their order.
#[derive(Debug)]
pub struct Replay {
    articles: BTreeMap<ArticleId, CountedArticle>,
    comments: StagedRows<CommentId, Comment>,
    removed: StagedRows<CommentId, RemovedComment>,
    replies: BTreeMap<CommentId, BTreeSet<CommentId>>,
    last_descendants: BTreeMap<(ArticleId, CommentPath), CommentPath>,
    records: IdempotencyRecords,
    acts: Vec<Act>,
    events: Vec<Envelope>,
    now: Timestamp,
}

/// The path below which a new comment comes, given its parent as it is stored; `None` where there are no paths.
pub fn path_above(new: &CreateComment, parent: Option<&Comment>) -> Option<CommentPath> {
    match (new.mode, new.parent_id) {
        (CommentMode::TwoLevel, _) => None,
        (CommentMode::Tree, None) => Some(CommentPath::of_article()),
        (CommentMode::Tree, Some(_)) => parent?.path.clone(),
    }
}

impl Loaded {
    /// Nothing yet, for an adapter to add to.
    pub fn nothing(records: IdempotencyRecords) -> Self {
        let (counters, comments) = (Vec::new(), Vec::new());
        let (removed, replies, last_descendants) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        Self { counters, comments, removed, replies, last_descendants, newest: Vec::new(), records }
    }
}

impl Replay {
    /// Starts from what was loaded; events will have occurred at `now`.
    pub fn new(loaded: Loaded, now: Timestamp) -> Self {
        let Loaded { counters, comments, removed, replies, last_descendants, newest, records } = loaded;
        let counted = counters.into_iter().map(|counter| (counter.article_id, CountedArticle::new(counter)));
        let mut articles: BTreeMap<_, _> = counted.collect();
        for (article, last) in newest {
            if let Some(article) = articles.get_mut(&article) {
                article.add_newest(last);
            }
        }
        let comments = StagedRows::stored(comments.into_iter().map(|comment| (comment.comment_id, comment)));
        let removed = StagedRows::stored(removed.into_iter().map(|removed| (removed.comment_id, removed)));
        let (acts, events) = (Vec::new(), Vec::new());
        Self { articles, comments, removed, replies, last_descendants, records, acts, events, now }
    }

    /// Creates a comment, where it may be.
    pub fn create(&mut self, new: &CreateComment) -> Result<CreateOutcome, StoreError> {
        let Some(article) = self.articles.get(&new.article_id).filter(|article| article.gone == Gone::No) else {
            return Ok(CreateOutcome::Gone);
        };
        match self.records.replay::<Comment>(new.idempotency.as_ref())? {
            // The comment as it is now, or what is left of it.
            Some(Created::Before(mark)) => {
                let found = self.comments.find(mark.comment_id).cloned();
                return Ok(CreateOutcome::Created(Created::Before(
                    found.unwrap_or_else(|| Comment::from_answer(mark)),
                )));
            }
            Some(answered) => return Ok(CreateOutcome::Created(answered)),
            None => {}
        }
        if article.counter.count.locked && !new.despite_lock {
            return Ok(CreateOutcome::Locked);
        }
        if new.mode == CommentMode::TwoLevel && new.comment_id.raw() <= article.counter.greatest_id {
            return Ok(CreateOutcome::Late);
        }
        if self.comments.has_seen(new.comment_id) {
            return Err(StoreError::broken("comment", format!("comment {} exists", new.comment_id)));
        }
        let comment = match self.position(new) {
            Ok(position) => new_comment(new, position),
            Err(refusal) => return Ok(CreateOutcome::Refused(refusal)),
        };
        // The text is kept in the row alone: once that is edited or deleted, no answer of then may still tell it.
        let mark = comment.clone().into_mark();
        self.records.remember(ShardId::of_parts(new.article_id), new.idempotency.as_ref(), &mark)?;
        self.add(&comment, new);
        Ok(CreateOutcome::Created(Created::Now(comment)))
    }

    /// Changes the text of a comment, if it is there at the version expected.
    pub fn edit(&mut self, edit: &EditComment) -> Result<EditOutcome, StoreError> {
        let Some(before) = self.comments.find(edit.comment_id) else {
            return Ok(EditOutcome::Absent);
        };
        let Some(article) = self.articles.get_mut(&before.article_id).filter(|article| article.gone == Gone::No) else {
            return Ok(EditOutcome::Gone);
        };
        if before.deleted {
            return Ok(EditOutcome::Absent);
        }
        if edit.expected_version.is_some_and(|expected| expected != before.version) {
            return Ok(EditOutcome::Changed);
        }
        let comment = Comment {
            content: Some(edit.content.clone()),
            content_html: Some(edit.content_html.clone()),
            // A clock that stepped back does not make an edit older than what it changes; and no edit is as old as the
            // comment, because that tells whether there was one.
            modified_at: edit
                .modified_at
                .max(before.modified_at)
                .max(Timestamp::from_millis(before.created_at.as_millis() + 1)),
            version: before.version + 1,
            ..before.clone()
        };
        let count = article.count_edit()?;
        self.events.push(events::edited(&comment, edit.event_id, self.now, count));
        self.acts.extend(edit.act.clone());
        self.comments.update(comment.comment_id, comment.clone());
        Ok(EditOutcome::Edited(comment))
    }

    /// Deletes a comment, if it is there at the version expected. One with replies becomes a mark; one without goes, and with it every mark above it
    /// that is left without replies. What a moderator removes becomes a mark in any case, and is kept, to be restored.
    pub fn delete(&mut self, delete: &DeleteComment) -> Result<DeleteOutcome, StoreError> {
        let Some(comment) = self.comments.find(delete.comment_id).cloned() else {
            return Ok(DeleteOutcome::Absent);
        };
        let going = if delete.act.is_some() { Vec::new() } else { self.going_with(&comment) };
        let Some(article) = self.articles.get_mut(&comment.article_id).filter(|article| article.gone == Gone::No)
        else {
            return Ok(DeleteOutcome::Gone);
        };
        if comment.deleted {
            return Ok(DeleteOutcome::Absent);
        }
        if delete.expected_version.is_some_and(|expected| expected != comment.version) {
            return Ok(DeleteOutcome::Changed);
        }
        let counter = article.count_out(comment.comment_id, going.len() as u64)?;
        let count = counter.count;
        self.events.push(events::deleted(&comment, delete.event_id, self.now, counter));
        if let Some(act) = &delete.act {
            self.keep_removed(&comment, Removal::of(act, self.now));
            self.acts.push(act.clone());
        }
        if going.is_empty() {
            self.comments.update(comment.comment_id, comment.into_mark());
        } else {
            going.into_iter().for_each(|comment| self.remove(comment));
        }
        Ok(DeleteOutcome::Deleted(count))
    }

    /// Closes an article to new comments, or opens it again.
    pub fn set_lock(&mut self, set: &SetLock) -> LockOutcome {
        let Some(article) = self.articles.get_mut(&set.article_id).filter(|article| article.gone == Gone::No) else {
            return LockOutcome::Gone;
        };
        if let Some(count) = article.set_lock(set.locked) {
            self.events.push(events::lock_changed(set.article_id, set.event_id, self.now, count));
            self.acts.push(set.act.clone());
        }
        LockOutcome::Set(article.counter.count)
    }

    /// Notes the board of an article and its newest comment beside its count.
    pub fn place(&mut self, article: ArticleId, board: BoardId) {
        if let Some(article) = self.articles.get_mut(&article).filter(|article| article.gone == Gone::No) {
            article.place(board);
        }
    }

    /// Marks an article as gone; nothing of it is counted any more. Doing it again changes nothing.
    pub fn mark_gone(&mut self, article: ArticleId) {
        if let Some(article) = self.articles.get_mut(&article).filter(|article| article.gone == Gone::No) {
            article.gone = Gone::Now;
        }
    }

    /// Whether an article is gone, so that its comments may be cleaned up.
    pub fn is_gone(&self, article: ArticleId) -> bool {
        self.articles.get(&article).is_some_and(|article| article.gone != Gone::No)
    }

    /// What all calls come to.
    pub fn finish(self) -> Replayed {
        let ids = |is_meant: fn(&CountedArticle) -> bool| {
            self.articles.iter().filter(|(_, article)| is_meant(article)).map(|(id, _)| *id).collect()
        };
        Replayed {
            counters: self.articles.values().filter_map(CountedArticle::changed_counter).collect(),
            gone_now: ids(|article| article.gone == Gone::Now),
            uncounted: ids(CountedArticle::is_uncounted),
            comments: self.comments.into_changes(),
            removed: self.removed.into_changes(),
            records: self.records.into_new(),
            acts: self.acts,
            events: self.events,
        }
    }

    fn position(&self, new: &CreateComment) -> Result<Position, Refusal> {
        let parent = match new.parent_id {
            None => None,
            Some(parent) => match self.comments.find(parent) {
                // A comment of another article is no parent here.
                Some(found) if found.article_id == new.article_id => Some(Parent {
                    comment_id: parent,
                    depth: found.depth,
                    path: found.path.clone(),
                    deleted: found.deleted,
                }),
                _ => return Err(Refusal::NoParent),
            },
        };
        position_of_new(new.mode, new.depth_max, parent.as_ref(), |above| {
            self.last_descendants.get(&(new.article_id, above.clone()))
        })
    }

    fn add(&mut self, comment: &Comment, new: &CreateComment) {
        if let Some(article) = self.articles.get_mut(&comment.article_id) {
            let count = article.count_in(comment, new.board_id);
            self.events.push(events::created(comment, new.event_id, self.now, count));
        }
        let parent = comment.parent_id.and_then(|parent| self.comments.find(parent));
        if let Some((above, path)) = path_above(new, parent).zip(comment.path.clone()) {
            self.last_descendants.insert((comment.article_id, above), path);
        }
        if let Some(parent) = comment.parent_id {
            self.replies.entry(parent).or_default().insert(comment.comment_id);
        }
        self.comments.insert(comment.comment_id, comment.clone());
    }

    /// What goes with a comment: itself and every mark above it that is left without replies; nothing when it has replies.
    fn going_with(&self, leaf: &Comment) -> Vec<CommentId> {
        let replies = |comment: CommentId| self.replies.get(&comment).map_or(0, BTreeSet::len);
        if replies(leaf.comment_id) > 0 {
            return Vec::new();
        }
        let mut going = vec![leaf.comment_id];
        let mut above = leaf.parent_id;
        while let Some(mark) = above.and_then(|id| self.comments.find(id)).filter(|comment| comment.deleted) {
            // The one that goes below it is still among its replies; and what may be restored keeps its place.
            if replies(mark.comment_id) > 1 || self.removed.find(mark.comment_id).is_some() {
                break;
            }
            going.push(mark.comment_id);
            above = mark.parent_id;
        }
        going
    }

    fn remove(&mut self, comment: CommentId) {
        let parent = self.comments.find(comment).and_then(|found| found.parent_id);
        if let Some(replies) = parent.and_then(|parent| self.replies.get_mut(&parent)) {
            replies.remove(&comment);
        }
        self.comments.delete(comment);
    }
}

fn new_comment(new: &CreateComment, Position { depth, path }: Position) -> Comment {
    Comment {
        comment_id: new.comment_id,
        article_id: new.article_id,
        parent_id: new.parent_id,
        depth,
        path,
        content: Some(new.content.clone()),
        content_html: Some(new.content_html.clone()),
        deleted: false,
        writer: Some(new.writer.clone()),
        created_at: new.created_at,
        modified_at: new.created_at,
        version: 1,
    }
}
