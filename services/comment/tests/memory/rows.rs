//! Tables in memory that do what a database does for the replay: load what calls need, and take what they write.

use std::collections::{BTreeMap, BTreeSet};

use madang_board::{Act, ArticleId, CommentId};
use madang_comment::replay::{CommentCounter, Loaded, Replay, Replayed};
use madang_comment::{Comment, CommentPath, RemovedComment};
use madang_event::Envelope;
use madang_kernel::{IdempotencyKey, IdempotencyRecord, IdempotencyRecords, Timestamp};

#[derive(Default)]
pub(crate) struct Rows {
    pub(crate) comments: BTreeMap<CommentId, Comment>,
    pub(crate) removed: BTreeMap<CommentId, RemovedComment>,
    pub(crate) counters: BTreeMap<ArticleId, CommentCounter>,
    pub(crate) gone: BTreeSet<ArticleId>,
    pub(crate) records: BTreeMap<IdempotencyKey, IdempotencyRecord>,
    pub(crate) acts: Vec<Act>,
    pub(crate) events: Vec<Envelope>,
}

impl Rows {
    /// Decides calls about an article and writes what they come to.
    pub(crate) fn transact<T>(
        &mut self,
        article: ArticleId,
        now: Timestamp,
        calls: impl FnOnce(&mut Replay) -> T,
    ) -> T {
        let mut replay = Replay::new(self.load(article, now), now);
        let outcome = calls(&mut replay);
        self.write(replay.finish());
        outcome
    }

    pub(crate) fn counter(&self, article: ArticleId) -> CommentCounter {
        let is_gone = self.gone.contains(&article);
        self.counters.get(&article).cloned().unwrap_or_else(|| CommentCounter::zero(article, is_gone))
    }

    /// The comments of an article, those of one that is gone too.
    pub(crate) fn of(&self, article: ArticleId) -> impl Iterator<Item = &Comment> {
        self.comments.values().filter(move |comment| comment.article_id == article)
    }

    /// Everything that could decide about any call.
    fn load(&self, article: ArticleId, now: Timestamp) -> Loaded {
        let mut records = IdempotencyRecords::new(now);
        for (key, record) in &self.records {
            records.load(key.clone(), record.clone());
        }
        let mut loaded = Loaded::nothing(records);
        loaded.counters.push(self.counter(article));
        loaded.comments = self.comments.values().cloned().collect();
        loaded.removed = self.removed.values().cloned().collect();
        for comment in self.of(article) {
            if let Some(parent) = comment.parent_id {
                loaded.replies.entry(parent).or_default().insert(comment.comment_id);
            }
        }
        let visible = self.of(article).filter_map(Comment::as_last);
        loaded.newest = visible.map(|last| (article, last)).collect();
        let paths: BTreeSet<CommentPath> = self.of(article).filter_map(|comment| comment.path.clone()).collect();
        let above = paths.iter().cloned().chain([CommentPath::of_article()]);
        let last = |above: &CommentPath| {
            let end = above.end_of_descendants();
            paths.iter().rev().find(|path| path.as_str() < end.as_str() && *path > above).cloned()
        };
        loaded.last_descendants = above.filter_map(|above| Some(((article, above.clone()), last(&above)?))).collect();
        loaded
    }

    fn write(&mut self, replayed: Replayed) {
        for id in replayed.comments.deletes {
            assert!(self.comments.remove(&id).is_some(), "only what is stored is deleted");
        }
        for comment in replayed.comments.updates {
            let version = comment.version;
            let before = self.comments.insert(comment.comment_id, comment).expect("only what is stored is updated");
            assert!(before.version < version, "a change is a new version");
            let is_back = before.deleted && self.removed.contains_key(&before.comment_id);
            assert!(!before.deleted || is_back, "a mark is the last, unless a moderator left it");
        }
        for comment in replayed.comments.inserts {
            assert!(self.comments.insert(comment.comment_id, comment).is_none(), "nothing is inserted twice");
        }
        self.removed.retain(|id, _| !replayed.removed.deletes.contains(id));
        let kept = replayed.removed.inserts.into_iter().chain(replayed.removed.updates);
        self.removed.extend(kept.map(|removed| (removed.comment_id, removed)));
        self.counters.extend(replayed.counters.into_iter().map(|counter| (counter.article_id, counter)));
        for article in replayed.gone_now {
            assert!(self.gone.insert(article), "an article is marked once");
        }
        for article in replayed.uncounted {
            self.counters.remove(&article);
        }
        self.records.extend(replayed.records.into_iter().map(|new| (new.key, new.record)));
        self.acts.extend(replayed.acts);
        self.events.extend(replayed.events);
    }
}
