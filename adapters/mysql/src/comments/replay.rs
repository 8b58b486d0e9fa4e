//! The calls of a batch, decided one after another in memory: each sees what those before it have done.

use std::collections::{BTreeMap, HashMap, HashSet};

use madang_board::{Act, ArticleId, CommentId, CommentMode};
use madang_comment::{
    Comment, CommentCount, CommentPath, CreateComment, CreateOutcome, DeleteComment, DeleteOutcome, Parent, Place,
    Refusal, events, place as place_rule,
};
use madang_engine_mysql::{Decision, Earlier, IdempotencyRecords};
use madang_event::Envelope;
use madang_kernel::{Created, Id, ShardId, StoreError, Timestamp};

use super::load::{Loaded, Tally};

/// A batch while it is decided.
pub(super) struct Replay {
    pub(super) articles: BTreeMap<ArticleId, Article>,
    pub(super) held: HashMap<CommentId, Held>,
    pub(super) keys: IdempotencyRecords,
    pub(super) events: Vec<Envelope>,
    pub(super) acts: Vec<Act>,
    replies: HashMap<CommentId, HashSet<CommentId>>,
    last: HashMap<(ArticleId, CommentPath), CommentPath>,
    now: Timestamp,
}

/// One article of a batch.
pub(super) struct Article {
    pub(super) count: CommentCount,
    pub(super) greatest_id: i64,
    pub(super) gone: Gone,
    /// Whether the batch counts differently.
    pub(super) changed: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Gone {
    No,
    /// Marked by this batch.
    Now,
    Before,
}

/// A comment as a batch sees it.
pub(super) enum Held {
    /// As it is stored.
    Stored(Comment),
    /// Stored, and to become a mark.
    Marked(Comment),
    /// To be inserted; a mark, if it was deleted since.
    New(Comment),
    /// Stored, and to be removed.
    Removed,
    /// Came and went within the batch.
    Passed,
}

impl Held {
    fn comment(&self) -> Option<&Comment> {
        match self {
            Self::Stored(comment) | Self::Marked(comment) | Self::New(comment) => Some(comment),
            Self::Removed | Self::Passed => None,
        }
    }
}

impl From<Tally> for Article {
    fn from(Tally { count, greatest_id, is_gone }: Tally) -> Self {
        let gone = if is_gone { Gone::Before } else { Gone::No };
        Self { count, greatest_id, gone, changed: false }
    }
}

impl Article {
    /// Counts a comment in.
    fn count_in(&mut self, comment: CommentId) -> CommentCount {
        let CommentCount { comment_count, row_count, version } = self.count;
        self.count = CommentCount { comment_count: comment_count + 1, row_count: row_count + 1, version: version + 1 };
        self.greatest_id = self.greatest_id.max(comment.raw());
        self.changed = true;
        self.count
    }

    /// Counts a comment out, with the rows that go: none when it becomes a mark.
    fn count_out(&mut self, article: ArticleId, rows: u64) -> Result<CommentCount, StoreError> {
        let CommentCount { comment_count, row_count, version } = self.count;
        let (Some(comment_count), Some(row_count)) = (comment_count.checked_sub(1), row_count.checked_sub(rows)) else {
            let reason = format!("a comment of article {article} was never counted; run `madang check`");
            return Err(StoreError::broken("article_comment_count", reason));
        };
        self.count = CommentCount { comment_count, row_count, version: version + 1 };
        self.changed = true;
        Ok(self.count)
    }
}

impl Replay {
    pub(super) fn new(loaded: Loaded, now: Timestamp) -> Self {
        let Loaded { articles, comments, replies, last, keys } = loaded;
        let articles = articles.into_iter().map(|(id, tally)| (id, tally.into())).collect();
        let held = comments.into_iter().map(|(id, comment)| (id, Held::Stored(comment))).collect();
        Self { articles, held, keys, events: Vec::new(), acts: Vec::new(), replies, last, now }
    }

    pub(super) fn create(&mut self, new: &CreateComment) -> Decision<CreateOutcome> {
        let Some(article) = self.articles.get(&new.article_id).filter(|article| article.gone == Gone::No) else {
            return Ok(CreateOutcome::Gone);
        };
        match self.keys.earlier::<Comment>(new.idempotency.as_ref())? {
            Earlier::None => {}
            Earlier::OtherBody => return Ok(CreateOutcome::Created(Created::KeyReused)),
            Earlier::Answered(mark) => {
                let found = self.held.get(&mark.comment_id).and_then(Held::comment).cloned();
                return Ok(CreateOutcome::Created(Created::Before(found.unwrap_or(mark))));
            }
        }
        if new.mode == CommentMode::TwoLevel && new.comment_id.raw() <= article.greatest_id {
            return Ok(CreateOutcome::Late);
        }
        if self.held.contains_key(&new.comment_id) {
            return Err(StoreError::broken("comment", format!("comment {} exists", new.comment_id)));
        }
        let Place { depth, path } = match self.place(new) {
            Ok(place) => place,
            Err(refusal) => return Ok(CreateOutcome::Refused(refusal)),
        };
        let comment = Comment {
            comment_id: new.comment_id,
            article_id: new.article_id,
            parent_id: new.parent_id,
            depth,
            path,
            content: Some(new.content.clone()),
            deleted: false,
            writer: Some(new.writer.clone()),
            created_at: new.created_at,
        };
        // The text is kept in the row alone: once that is deleted, no answer of then may still tell it.
        let mark = comment.clone().into_mark();
        self.keys.remember(ShardId::of_parts(new.article_id), new.idempotency.as_ref(), &mark)?;
        self.add(comment.clone(), new);
        Ok(CreateOutcome::Created(Created::Now(comment)))
    }

    pub(super) fn delete(&mut self, delete: &DeleteComment) -> Decision<DeleteOutcome> {
        let Some(comment) = self.held.get(&delete.comment_id).and_then(Held::comment).cloned() else {
            return Ok(DeleteOutcome::Absent);
        };
        let Some(article) = self.articles.get_mut(&comment.article_id).filter(|article| article.gone == Gone::No)
        else {
            return Ok(DeleteOutcome::Gone);
        };
        if comment.deleted {
            return Ok(DeleteOutcome::Absent);
        }
        let going = going_with(&self.held, &self.replies, &comment);
        let count = article.count_out(comment.article_id, going.len() as u64)?;
        self.events.push(events::deleted(&comment, delete.event_id, self.now, count));
        self.acts.extend(delete.act.clone());
        if going.is_empty() {
            self.mark(comment);
        } else {
            going.into_iter().for_each(|comment| self.remove(comment));
        }
        Ok(DeleteOutcome::Deleted(count))
    }

    /// Comments of an article that is gone are not counted any more.
    pub(super) fn mark_gone(&mut self, article: ArticleId) {
        if let Some(article) = self.articles.get_mut(&article).filter(|article| article.gone == Gone::No) {
            article.gone = Gone::Now;
        }
    }

    fn place(&self, new: &CreateComment) -> Result<Place, Refusal> {
        let parent = match new.parent_id {
            None => None,
            Some(parent) => match self.held.get(&parent).and_then(Held::comment) {
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
        place_rule(new.mode, new.depth_max, parent.as_ref(), |above| {
            Ok(self.last.get(&(new.article_id, above.clone())).cloned())
        })
    }

    fn add(&mut self, comment: Comment, new: &CreateComment) {
        let article = comment.article_id;
        if let Some(tally) = self.articles.get_mut(&article) {
            let count = tally.count_in(comment.comment_id);
            self.events.push(events::created(&comment, new.event_id, self.now, count));
        }
        if let Some(parent) = comment.parent_id {
            self.replies.entry(parent).or_default().insert(comment.comment_id);
        }
        if let Some(path) = comment.path.clone() {
            let parent = comment.parent_id.and_then(|parent| self.held.get(&parent)).and_then(Held::comment);
            let above = parent.and_then(|parent| parent.path.clone()).unwrap_or_else(CommentPath::of_article);
            self.last.insert((article, above), path);
        }
        self.held.insert(comment.comment_id, Held::New(comment));
    }

    fn mark(&mut self, comment: Comment) {
        let is_new = matches!(self.held.get(&comment.comment_id), Some(Held::New(_)));
        let mark = comment.into_mark();
        let id = mark.comment_id;
        self.held.insert(id, if is_new { Held::New(mark) } else { Held::Marked(mark) });
    }

    fn remove(&mut self, comment: CommentId) {
        let Some(held) = self.held.get_mut(&comment) else { return };
        let parent = held.comment().and_then(|comment| comment.parent_id);
        *held = if matches!(held, Held::New(_)) { Held::Passed } else { Held::Removed };
        if let Some(replies) = parent.and_then(|parent| self.replies.get_mut(&parent)) {
            replies.remove(&comment);
        }
    }
}

/// What goes with a comment: itself and every mark above it that is left without replies; nothing when it has replies.
fn going_with(
    held: &HashMap<CommentId, Held>,
    replies: &HashMap<CommentId, HashSet<CommentId>>,
    leaf: &Comment,
) -> Vec<CommentId> {
    let count = |comment: CommentId| replies.get(&comment).map_or(0, HashSet::len);
    if count(leaf.comment_id) > 0 {
        return Vec::new();
    }
    let mut going = vec![leaf.comment_id];
    let mut above = leaf.parent_id;
    while let Some(mark) = above.and_then(|id| held.get(&id)).and_then(Held::comment).filter(|mark| mark.deleted) {
        // The one that goes below it is still among its replies.
        if count(mark.comment_id) > 1 {
            break;
        }
        going.push(mark.comment_id);
        above = mark.parent_id;
    }
    going
}
