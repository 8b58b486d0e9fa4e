//! Open pages in one process, changes in another: every process says what it committed, and one with pages listens for the
//! articles that somebody has open there. Words may be lost, so what is open is also looked at now and then; more often
//! while nothing can be heard.

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

/// Between two looks at what is open, while changes are heard.
const LOOK_EVERY: Duration = Duration::from_secs(15);
/// The same while they are not.
const LOOK_EVERY_DEAF: Duration = Duration::from_secs(2);
/// Articles looked at by one question to each of their owners.
const LOOK_MAX: usize = 64;

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

/// Tells other processes what was committed here.
pub(super) fn say(broadcast: &RedisBroadcast, events: &[Envelope]) {
    for envelope in events {
        if let Some(change) = Change::of(envelope) {
            broadcast.publish(topic(envelope.key), change.encode());
        }
    }
}

/// Starts what carries words out and, where the process has pages, what hears those of others.
pub(super) fn start(
    background: &Supervisor,
    broadcast: &RedisBroadcast,
    hub: &LiveHub,
    services: &Services,
    is_web: bool,
) {
    let carrying = broadcast.clone();
    background.spawn("live-words", OnError::Restart, move |stop| {
        let carrying = carrying.clone();
        async move { carrying.send(stop).await }
    });
    if !is_web {
        return;
    }
    let ear = Arc::new(Ear {
        hub: hub.clone(),
        services: services.clone(),
        is_deaf: AtomicBool::new(true),
        anew: Mutex::default(),
        has_anew: Notify::new(),
    });
    let (broadcast, hearing) = (broadcast.clone(), ear.clone());
    background.spawn("live-hearing", OnError::Restart, move |stop| {
        let (broadcast, hearing) = (broadcast.clone(), hearing.clone());
        async move { broadcast.receive(hearing.as_ref(), stop).await }
    });
    background.spawn("live-looks", OnError::Restart, move |stop| {
        let ear = ear.clone();
        async move { ear.look_after(stop).await }
    });
}

/// Hears other processes.
struct Ear {
    hub: LiveHub,
    services: Services,
    is_deaf: AtomicBool,
    /// Articles that are heard of from now on, and were not a moment ago.
    anew: Mutex<BTreeSet<ArticleId>>,
    has_anew: Notify,
}

impl Subscriber for Ear {
    fn received(&self, topic: u64, message: &[u8]) {
        if let (Some(article), Some(change)) = (article(topic), Change::decode(message)) {
            self.hub.hear(article, &change);
        }
    }

    fn subscribed(&self, topics: &[u64]) {
        self.is_deaf.store(false, Ordering::Release);
        self.anew
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(topics.iter().filter_map(|topic| article(*topic)));
        self.has_anew.notify_one();
    }

    fn disconnected(&self) {
        self.is_deaf.store(true, Ordering::Release);
        self.has_anew.notify_one();
    }
}

impl Ear {
    /// Looks at what is heard of anew at once, and at everything that is open now and then.
    async fn look_after(&self, stop: Stop) -> Result<(), Infallible> {
        let mut looked = Instant::now();
        loop {
            let every = if self.is_deaf.load(Ordering::Acquire) { LOOK_EVERY_DEAF } else { LOOK_EVERY };
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = self.has_anew.notified() => {
                    let anew = std::mem::take(&mut *self.anew.lock().unwrap_or_else(PoisonError::into_inner));
                    self.look(&anew.into_iter().collect::<Vec<_>>(), true).await;
                }
                () = tokio::time::sleep_until(looked + every) => {
                    self.look(&self.hub.open_articles(), false).await;
                    looked = Instant::now();
                }
            }
        }
    }

    async fn look(&self, articles: &[ArticleId], at_once: bool) {
        // While nothing is heard nothing is under way either.
        let at_once = at_once || self.is_deaf.load(Ordering::Acquire);
        for articles in articles.chunks(LOOK_MAX) {
            match self.states(articles).await {
                Ok(states) => {
                    for (article, state) in articles.iter().zip(states) {
                        match state {
                            Some(state) => self.hub.settle(*article, &state, at_once),
                            None => self.hub.lose(*article),
                        }
                    }
                }
                // The next look asks again.
                Err(error) => tracing::debug!("open articles could not be looked at: {error:#}"),
            }
        }
    }

    /// The articles as their owners tell; `None` for one that is gone.
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
                comments: Reading { count: comments.comment_count, version: comments.version },
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
