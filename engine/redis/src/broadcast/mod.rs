//! Messages between the processes of a program, by topic, for what may be lost: nobody waits for one to be sent or to
//! arrive. Plain pub/sub, which every node of a cluster passes on to the others, so that it does not matter to which of
//! them one connects.

mod receive;
mod send;

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::Redis;

/// Messages that may wait to be sent; older ones give way, because a newer one tells more.
const PENDING_MAX: usize = 8_192;

/// What is told of a subscription. Called between two reads from the connection: quick, and waits for nobody.
pub trait Subscriber: Send + Sync {
    /// A message came on a topic.
    fn received(&self, topic: u64, message: &[u8]);
    /// From now on messages on these topics come; what was published before may have been missed.
    fn subscribed(&self, topics: &[u64]);
    /// Nothing comes until [`subscribed`](Self::subscribed) is called again.
    fn disconnected(&self);
}

/// A broadcast. Clones share it.
#[derive(Clone)]
pub struct RedisBroadcast {
    inner: Arc<Inner>,
}

struct Inner {
    redis: Redis,
    name: &'static str,
    pending: Mutex<VecDeque<(u64, Vec<u8>)>>,
    has_pending: Notify,
    wanted: Mutex<HashSet<u64>>,
    wanted_changed: Notify,
}

impl RedisBroadcast {
    /// The broadcast of that name among all who share the prefix of `redis`. Nothing moves until [`send`](Self::send) and
    /// [`receive`](Self::receive) run.
    pub fn new(redis: Redis, name: &'static str) -> Self {
        let inner = Inner {
            redis,
            name,
            pending: Mutex::default(),
            has_pending: Notify::new(),
            wanted: Mutex::default(),
            wanted_changed: Notify::new(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Publishes a message to all who subscribed to the topic, now or a moment later.
    pub fn publish(&self, topic: u64, message: Vec<u8>) {
        let mut pending = locked(&self.inner.pending);
        if pending.len() == PENDING_MAX {
            pending.pop_front();
        }
        pending.push_back((topic, message));
        drop(pending);
        self.inner.has_pending.notify_one();
    }

    /// Asks for what is published on a topic.
    pub fn subscribe(&self, topic: u64) {
        if locked(&self.inner.wanted).insert(topic) {
            self.inner.wanted_changed.notify_one();
        }
    }

    /// Asks for it no longer.
    pub fn unsubscribe(&self, topic: u64) {
        if locked(&self.inner.wanted).remove(&topic) {
            self.inner.wanted_changed.notify_one();
        }
    }

    fn channel(&self, topic: u64) -> String {
        format!("{}{topic}", self.channel_start())
    }

    fn channel_start(&self) -> String {
        format!("{}:{}:", self.inner.redis.options().prefix, self.inner.name)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
