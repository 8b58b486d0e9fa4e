//! Open pages in one process, changes in another: every process broadcasts what it committed, and one with pages subscribes to
//! the articles that somebody has open there. A broadcast may be lost, so what is open is also refreshed from its owners now
//! and then; more often while the process is disconnected.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use madang_board::ArticleId;
use madang_engine_redis::{RedisBroadcast, Subscriber};
use madang_event::Envelope;
use madang_kernel::Id;
use madang_messaging::{OnError, Stop, Supervisor};
use madang_web::{Change, LiveHub, LiveInterest, LiveState, Reading};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::composition::site::Services;

/// Between two refreshes of what is open, while changes are received.
const REFRESH_EVERY: Duration = Duration::from_secs(15);
/// The same while they are not.
const REFRESH_EVERY_DISCONNECTED: Duration = Duration::from_secs(2);
/// Articles refreshed by one query to each of their owners.
const REFRESH_MAX: usize = 64;

/// The broadcast of changes, as its channels are named.
pub(super) const BROADCAST: &str = "live";

/// The articles open here are subscribed to there.
pub(super) struct Subscriptions(pub(super) RedisBroadcast);

impl LiveInterest for Subscriptions {
    fn opened(&self, article: ArticleId) {
        self.0.subscribe(topic(article));
    }

    fn closed(&self, article: ArticleId) {
        self.0.unsubscribe(topic(article));
    }
}

/// Broadcasts what was committed here to the other processes.
pub(super) fn publish(broadcast: &RedisBroadcast, events: &[Envelope]) {
    for envelope in events {
        if let Some(change) = Change::of(envelope) {
            broadcast.publish(topic(envelope.key), change.encode());
        }
    }
}

/// Starts what sends broadcasts and, where the process has pages, what receives those of others.
pub(super) fn start(
    background: &Supervisor,
    broadcast: &RedisBroadcast,
    hub: &LiveHub,
    services: &Services,
    is_web: bool,
) {
    let sender = broadcast.clone();
    background.spawn("live-send", OnError::Restart, move |stop| {
        let sender = sender.clone();
        async move { sender.send(stop).await }
    });
    if !is_web {
        return;
    }
    let updates = Arc::new(LiveUpdates {
        hub: hub.clone(),
        services: services.clone(),
        is_disconnected: AtomicBool::new(true),
        subscribed: Mutex::default(),
        has_subscribed: Notify::new(),
    });
    let (broadcast, receiver) = (broadcast.clone(), updates.clone());
    background.spawn("live-receive", OnError::Restart, move |stop| {
        let (broadcast, receiver) = (broadcast.clone(), receiver.clone());
        async move { broadcast.receive(receiver.as_ref(), stop).await }
    });
    background.spawn("live-refresh", OnError::Restart, move |stop| {
        let updates = updates.clone();
        async move { updates.keep_fresh(stop).await }
    });
}

/// Receives the changes of other processes.
struct LiveUpdates {
    hub: LiveHub,
    services: Services,
    is_disconnected: AtomicBool,
    /// Articles subscribed to since the last refresh: what happened before is not received.
    subscribed: Mutex<BTreeSet<ArticleId>>,
    has_subscribed: Notify,
}

impl Subscriber for LiveUpdates {
    fn received(&self, topic: u64, message: &[u8]) {
        if let (Some(article), Some(change)) = (article(topic), Change::decode(message)) {
            self.hub.hear(article, &change);
        }
    }

    fn subscribed(&self, topics: &[u64]) {
        self.is_disconnected.store(false, Ordering::Release);
        self.subscribed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(topics.iter().filter_map(|topic| article(*topic)));
        self.has_subscribed.notify_one();
    }

    fn disconnected(&self) {
        self.is_disconnected.store(true, Ordering::Release);
        self.has_subscribed.notify_one();
    }
}

impl LiveUpdates {
    /// Refreshes what was just subscribed to at once, and everything that is open now and then.
    async fn keep_fresh(&self, stop: Stop) -> Result<(), Infallible> {
        let mut refreshed = Instant::now();
        loop {
            let every =
                if self.is_disconnected.load(Ordering::Acquire) { REFRESH_EVERY_DISCONNECTED } else { REFRESH_EVERY };
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = self.has_subscribed.notified() => {
                    let subscribed = std::mem::take(&mut *self.subscribed.lock().unwrap_or_else(PoisonError::into_inner));
                    self.refresh(&subscribed.into_iter().collect::<Vec<_>>(), true).await;
                }
                () = tokio::time::sleep_until(refreshed + every) => {
                    self.refresh(&self.hub.open_articles(), false).await;
                    refreshed = Instant::now();
                }
            }
        }
    }

    async fn refresh(&self, articles: &[ArticleId], at_once: bool) {
        // While disconnected nothing is under way either.
        let at_once = at_once || self.is_disconnected.load(Ordering::Acquire);
        for articles in articles.chunks(REFRESH_MAX) {
            match self.states(articles).await {
                Ok(states) => {
                    for (article, state) in articles.iter().zip(states) {
                        match state {
                            Some(state) => self.hub.settle(*article, &state, at_once),
                            None => self.hub.lose(*article),
                        }
                    }
                }
                // The next refresh tries again.
                Err(error) => tracing::debug!("open articles could not be refreshed: {error:#}"),
            }
        }
    }

    /// The articles as their owners have them; `None` for one that is gone.
    async fn states(&self, articles: &[ArticleId]) -> anyhow::Result<Vec<Option<LiveState>>> {
        let (likes, comments) = (self.services.likes()?, self.services.comments()?);
        let (texts, likes, comments) = tokio::join!(
            self.services.read()?.articles(articles),
            likes.counts(articles.to_vec()),
            comments.counts(articles.to_vec()),
        );
        let states = texts?.into_iter().zip(likes?).zip(comments?).map(|((text, likes), comments)| {
            let (text, likes, comments) = (text?, likes?, comments?);
            Some(LiveState {
                text_version: text.text.head.version,
                likes: Reading { count: likes.like_count, version: likes.version },
                comments: Reading { count: comments.count.comment_count, version: comments.count.version },
            })
        });
        Ok(states.collect())
    }
}

fn topic(article: ArticleId) -> u64 {
    u64::try_from(article.raw()).unwrap_or_default()
}

fn article(topic: u64) -> Option<ArticleId> {
    i64::try_from(topic).ok().map(ArticleId::from_raw)
}
