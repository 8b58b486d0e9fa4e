//! Words between the processes of a site, by topic, for what may be lost: nobody waits for a word to be sent, to arrive or
//! to be heard. Plain pub/sub, which every node of a cluster passes on to the others, so that it does not matter where one
//! listens.

mod listen;
mod send;

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::Redis;

/// Words that may wait to be sent; older ones give way, because a newer one says more.
const WAITING_MAX: usize = 8_192;

/// What a listener is told. Called between two reads from the connection: quick, and waits for nobody.
pub trait Hearing: Send + Sync {
    /// A word on a topic.
    fn heard(&self, topic: u64, word: &[u8]);
    /// From now on these are heard; what was said before may have been missed.
    fn listening(&self, topics: &[u64]);
    /// Nothing is heard until [`listening`](Self::listening) says so.
    fn deaf(&self);
}

/// A broadcast. Clones share it.
#[derive(Clone)]
pub struct RedisBroadcast {
    inner: Arc<Inner>,
}

struct Inner {
    redis: Redis,
    waiting: Mutex<VecDeque<(u64, Vec<u8>)>>,
    has_waiting: Notify,
    wanted: Mutex<HashSet<u64>>,
    wanted_changed: Notify,
}

impl RedisBroadcast {
    /// A broadcast among all who share the prefix of `redis`. Nothing moves until [`carry`](Self::carry) and
    /// [`listen`](Self::listen) run.
    pub fn new(redis: Redis) -> Self {
        let inner = Inner {
            redis,
            waiting: Mutex::default(),
            has_waiting: Notify::new(),
            wanted: Mutex::default(),
            wanted_changed: Notify::new(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Says a word to all who follow the topic, now or a moment later.
    pub fn say(&self, topic: u64, word: Vec<u8>) {
        let mut waiting = locked(&self.inner.waiting);
        if waiting.len() == WAITING_MAX {
            waiting.pop_front();
        }
        waiting.push_back((topic, word));
        drop(waiting);
        self.inner.has_waiting.notify_one();
    }

    /// Asks for what is said on a topic.
    pub fn follow(&self, topic: u64) {
        if locked(&self.inner.wanted).insert(topic) {
            self.inner.wanted_changed.notify_one();
        }
    }

    /// Asks for it no longer.
    pub fn leave(&self, topic: u64) {
        if locked(&self.inner.wanted).remove(&topic) {
            self.inner.wanted_changed.notify_one();
        }
    }

    fn channel(&self, topic: u64) -> String {
        format!("{}{topic}", self.channel_start())
    }

    fn channel_start(&self) -> String {
        format!("{}:live:", self.inner.redis.options().prefix)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
