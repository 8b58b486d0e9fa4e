//! The feed of one process: called for every commit, it passes on what concerns an article that somebody has open, and costs
//! next to nothing while nobody has.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use madang_board::ArticleId;
use madang_event::Envelope;
use tokio::sync::watch;

use super::{Change, Changes, LiveFeed, State, Subscription};

/// Streams open at the same time in one process; each is a connection.
const STREAMS_MAX: usize = 4_096;

/// Is told which articles somebody has open here, so as to ask other processes for their changes. Called under the hub's
/// lock: quick, and waits for nobody.
pub trait LiveInterest: Send + Sync {
    /// Somebody has the article open, and nobody had before.
    fn opened(&self, article: ArticleId);
    /// Nobody has it open any more.
    fn closed(&self, article: ArticleId);
}

/// The hub. Clones share it.
#[derive(Clone, Default)]
pub struct LiveHub(Arc<Inner>);

#[derive(Default)]
struct Inner {
    /// How many streams there are: read before the lock is taken, on the thread that commits.
    streams: AtomicUsize,
    open: Mutex<Open>,
    /// Of the site that several processes share.
    interest: Option<Arc<dyn LiveInterest>>,
}

#[derive(Default)]
struct Open {
    articles: HashMap<ArticleId, watch::Sender<Changes>>,
    is_closed: bool,
}

impl LiveHub {
    /// The hub of a process that is not alone: `interest` is told what is open here.
    pub fn shared(interest: Arc<dyn LiveInterest>) -> Self {
        Self(Arc::new(Inner { interest: Some(interest), ..Inner::default() }))
    }

    /// Takes events as they are committed here. Quick, and waits for nobody.
    pub fn publish(&self, events: &[Envelope]) {
        if self.0.streams.load(Ordering::Acquire) == 0 {
            return;
        }
        let open = self.0.lock();
        for envelope in events {
            if let Some(article) = open.articles.get(&envelope.key)
                && let Some(change) = Change::of(envelope)
            {
                article.send_if_modified(|changes| changes.merge(&change));
            }
        }
    }

    /// Takes a change of another process.
    pub fn hear(&self, article: ArticleId, change: &Change) {
        if let Some(article) = self.0.lock().articles.get(&article) {
            article.send_if_modified(|changes| changes.merge(change));
        }
    }

    /// Takes in what the owners say of an article, for changes that never arrived. `at_once` after a time in which
    /// nothing could arrive: see [`Changes::settle`].
    pub fn settle(&self, article: ArticleId, state: &State, at_once: bool) {
        if let Some(article) = self.0.lock().articles.get(&article) {
            article.send_if_modified(|changes| changes.settle(state, at_once));
        }
    }

    /// The owners say that an article is not there.
    pub fn lose(&self, article: ArticleId) {
        self.hear(article, &Change::Gone);
    }

    /// The articles that somebody has open here.
    pub fn open_articles(&self) -> Vec<ArticleId> {
        self.0.lock().articles.keys().copied().collect()
    }

    /// Ends every stream and opens no more: a server that stops need not wait for people to close their browsers.
    pub fn close(&self) {
        let mut open = self.0.lock();
        open.is_closed = true;
        let articles = std::mem::take(&mut open.articles);
        if let Some(interest) = &self.0.interest {
            articles.keys().for_each(|article| interest.closed(*article));
        }
    }

    /// How many streams there are.
    pub fn streams(&self) -> usize {
        self.0.streams.load(Ordering::Acquire)
    }
}

impl LiveFeed for LiveHub {
    fn subscribe(&self, article: ArticleId) -> Option<Subscription> {
        let mut open = self.0.lock();
        if open.is_closed || self.0.streams.load(Ordering::Acquire) >= STREAMS_MAX {
            return None;
        }
        self.0.streams.fetch_add(1, Ordering::AcqRel);
        let opened = || {
            if let Some(interest) = &self.0.interest {
                interest.opened(article);
            }
            watch::channel(Changes::default()).0
        };
        let receiver = open.articles.entry(article).or_insert_with(opened).subscribe();
        let inner = Arc::clone(&self.0);
        Some(Subscription::new(receiver, move || inner.left(article)))
    }
}

impl Inner {
    fn left(&self, article: ArticleId) {
        let mut open = self.lock();
        self.streams.fetch_sub(1, Ordering::AcqRel);
        if open.articles.get(&article).is_some_and(|sender| sender.receiver_count() == 0) {
            open.articles.remove(&article);
            if let Some(interest) = &self.interest {
                interest.closed(article);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use madang_board::CommentId;
    use madang_event::{ArticleLikes, CommentChange, Event};
    use madang_kernel::{EventId, Id, Timestamp};

    use super::*;

    fn envelope(article: i64, version: u64, event: Event) -> Envelope {
        let (event_id, key) = (EventId::from_raw(1), ArticleId::from_raw(article));
        Envelope { event_id, occurred_at: Timestamp::from_millis(0), key, version, event }
    }

    fn likes(article: i64, version: u64, like_count: u64) -> Envelope {
        let article_id = ArticleId::from_raw(article);
        let likes = ArticleLikes { article_id, liked: vec![], unliked: vec![], like_count };
        envelope(article, version, Event::ArticleLikesChanged(likes))
    }

    fn comment(article: i64, version: u64) -> Envelope {
        let (article_id, comment_id) = (ArticleId::from_raw(article), CommentId::from_raw(version as i64));
        let change = CommentChange {
            article_id,
            comment_id,
            parent_id: None,
            comment_count: version,
            locked: false,
            board_id: None,
            last: None,
        };
        envelope(article, version, Event::CommentCreated(change))
    }

    #[tokio::test]
    async fn a_follower_hears_of_its_article_alone() {
        let hub = LiveHub::default();
        let mut one = hub.subscribe(ArticleId::from_raw(1)).unwrap();
        let mut two = hub.subscribe(ArticleId::from_raw(2)).unwrap();
        hub.publish(&[likes(1, 5, 3)]);
        assert_eq!(one.changed().await.unwrap().likes.count, 3);
        hub.publish(&[likes(2, 1, 9)]);
        assert_eq!(two.changed().await.unwrap().likes.count, 9);
    }

    #[tokio::test]
    async fn a_slow_follower_skips_to_the_latest_and_holds_nothing_back() {
        let hub = LiveHub::default();
        let mut slow = hub.subscribe(ArticleId::from_raw(1)).unwrap();
        for version in 1..=10_000 {
            hub.publish(&[likes(1, version, version), comment(1, version)]);
        }
        let changes = slow.changed().await.unwrap();
        assert_eq!((changes.likes.count, changes.comments.count), (10_000, 10_000));
        assert!(changes.created.len() <= 64 && changes.created_before == 10_000 - 64);
    }

    #[tokio::test]
    async fn what_arrives_late_changes_nothing() {
        let hub = LiveHub::default();
        let mut follower = hub.subscribe(ArticleId::from_raw(1)).unwrap();
        hub.publish(&[likes(1, 5, 3), likes(1, 4, 2)]);
        assert_eq!(follower.changed().await.unwrap().likes.count, 3);
    }

    #[tokio::test]
    async fn an_article_nobody_follows_is_forgotten() {
        let hub = LiveHub::default();
        let (one, other) = (hub.subscribe(ArticleId::from_raw(1)), hub.subscribe(ArticleId::from_raw(1)));
        drop(one);
        assert_eq!((hub.streams(), hub.0.lock().articles.len()), (1, 1));
        drop(other);
        assert_eq!((hub.streams(), hub.0.lock().articles.len()), (0, 0));
    }

    #[derive(Default)]
    struct Told(Mutex<Vec<(ArticleId, bool)>>);

    impl LiveInterest for Told {
        fn opened(&self, article: ArticleId) {
            self.0.lock().unwrap().push((article, true));
        }
        fn closed(&self, article: ArticleId) {
            self.0.lock().unwrap().push((article, false));
        }
    }

    #[tokio::test]
    async fn others_are_asked_for_an_article_while_somebody_has_it_open() {
        let told = Arc::new(Told::default());
        let hub = LiveHub::shared(told.clone());
        let article = ArticleId::from_raw(1);
        let (mut one, other) = (hub.subscribe(article).unwrap(), hub.subscribe(article).unwrap());
        hub.hear(article, &Change::Liked(crate::Reading { count: 2, version: 9 }));
        assert_eq!(one.changed().await.unwrap().likes.count, 2);
        drop((one, other));
        assert_eq!(*told.0.lock().unwrap(), [(article, true), (article, false)]);
        let _left_open = hub.subscribe(article).unwrap();
        hub.close();
        assert_eq!(told.0.lock().unwrap().len(), 4);
    }

    #[tokio::test]
    async fn a_closed_hub_ends_every_stream() {
        let hub = LiveHub::default();
        let mut follower = hub.subscribe(ArticleId::from_raw(1)).unwrap();
        hub.close();
        assert_eq!(follower.changed().await, None);
        assert!(hub.subscribe(ArticleId::from_raw(1)).is_none());
    }
}
