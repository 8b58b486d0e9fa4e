//! The newest entries of the log in memory, so that groups that keep up ask no database, and those whose topics got
//! nothing are not even woken.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use madang_messaging::Message;
use tokio::sync::Notify;

/// What an entry costs beside its payload, roughly, in bytes.
const ENTRY_OVERHEAD_BYTES: usize = 256;

/// An entry with its position. Shared, so that nobody copies text while the lock is held.
pub(super) type Entry = (i64, Arc<Message>);

/// How far somebody has read a topic: everything up to `polled` is polled, or was never there.
#[derive(Debug, Clone)]
pub(super) struct Cursor {
    pub(super) topic: String,
    pub(super) polled: i64,
}

/// What the tail has for a reader.
pub(super) enum Taken {
    /// Everything after the cursors, oldest first, as far as asked.
    Entries(Vec<Entry>),
    /// The tail does not reach back to the cursors: the table does.
    OutOfReach,
    /// Nothing will come any more.
    Closed,
}

/// The end of the log. One writer pushes, any number of followers take.
pub(crate) struct Tail {
    state: Mutex<State>,
    /// Grows whenever some group was marked as fallen behind.
    marks: AtomicU64,
    entries_max: usize,
    bytes_max: usize,
}

struct State {
    topics: HashMap<String, TopicTail>,
    /// All entries in commit order: what leaves first.
    entries: VecDeque<Entry>,
    bytes: usize,
    head: i64,
    /// Up to here entries of any topic may be missing.
    missing_to: i64,
    followers: u64,
    closed: bool,
}

#[derive(Default)]
struct TopicTail {
    entries: VecDeque<Entry>,
    /// Up to here entries of this topic may be missing: a quiet topic stays in reach however busy the others are.
    missing_to: i64,
    followers: Vec<(u64, Arc<Notify>)>,
}

impl Tail {
    /// Begins after `head`, the last position in the table.
    pub(crate) fn after(head: i64, entries_max: usize, bytes_max: usize) -> Self {
        let state = State {
            topics: HashMap::new(),
            entries: VecDeque::new(),
            bytes: 0,
            head,
            missing_to: head,
            followers: 0,
            closed: false,
        };
        Self { state: Mutex::new(state), marks: AtomicU64::new(0), entries_max, bytes_max }
    }

    /// Takes over what a transaction appended, and wakes those who follow its topics.
    pub(crate) fn push(&self, appended: Vec<(i64, Message)>, head: i64) {
        let mut state = self.lock();
        if appended.is_empty() && head == state.head {
            return;
        }
        let mut woken = Vec::new();
        if follows(state.head, &appended, head) {
            for (position, message) in appended {
                state.keep(position, message, &mut woken);
            }
        } else {
            // Somebody appended behind our back. The table knows what; everyone reads there.
            state.forget_all(head);
            woken.extend(state.topics.values().flat_map(|topic| &topic.followers).map(|(_, one)| Arc::clone(one)));
        }
        state.head = head;
        while state.entries.len() > self.entries_max || state.bytes > self.bytes_max {
            state.evict();
        }
        drop(state);
        for follower in woken {
            follower.notify_one();
        }
    }

    /// What comes after the cursors: at most `max` entries, and no more payload than `bytes_max`, the last aside.
    pub(super) fn take(&self, cursors: &[Cursor], max: usize, bytes_max: usize) -> Taken {
        let state = self.lock();
        if state.closed {
            return Taken::Closed;
        }
        let mut topics: Vec<_> = Vec::with_capacity(cursors.len());
        for Cursor { topic, polled } in cursors {
            let Some(tail) = state.topics.get(topic) else { return Taken::OutOfReach };
            if *polled < tail.missing_to {
                return Taken::OutOfReach;
            }
            let first = tail.entries.partition_point(|(position, _)| position <= polled);
            topics.push(tail.entries.range(first..).peekable());
        }
        let mut taken = Vec::new();
        let mut bytes = 0;
        while taken.len() < max && bytes < bytes_max {
            let position_of = |topic: &mut std::iter::Peekable<_>| topic.peek().map(|(position, _): &&Entry| *position);
            let oldest =
                topics.iter_mut().filter_map(|topic| Some((position_of(topic)?, topic))).min_by_key(|(at, _)| *at);
            let Some((position, message)) = oldest.and_then(|(_, topic)| topic.next()) else { break };
            bytes += message.payload.len();
            taken.push((*position, Arc::clone(message)));
        }
        Taken::Entries(taken)
    }

    /// How often some group was marked as fallen behind. Whoever has seen the same number before has seen every mark.
    pub(super) fn marks(&self) -> u64 {
        self.marks.load(Ordering::Acquire)
    }

    pub(crate) fn marked(&self) {
        self.marks.fetch_add(1, Ordering::AcqRel);
    }

    /// Wakes everybody for the last time.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        for (_, follower) in state.topics.values().flat_map(|topic| &topic.followers) {
            follower.notify_one();
        }
    }

    /// Wakes the caller whenever one of the topics gets something, from now on.
    pub(super) fn follow(self: &Arc<Self>, topics: &[String]) -> Follower {
        let wake = Arc::new(Notify::new());
        let mut state = self.lock();
        state.followers += 1;
        let number = state.followers;
        for topic in topics {
            state.topic(topic).followers.push((number, Arc::clone(&wake)));
        }
        Follower { tail: Arc::clone(self), topics: topics.to_vec(), number, wake }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that could panic runs under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn topic(&mut self, name: &str) -> &mut TopicTail {
        let missing_to = self.missing_to;
        self.topics.entry(name.to_owned()).or_insert_with(|| TopicTail { missing_to, ..TopicTail::default() })
    }

    fn keep(&mut self, position: i64, message: Message, woken: &mut Vec<Arc<Notify>>) {
        let message = Arc::new(message);
        self.bytes += message.payload.len() + ENTRY_OVERHEAD_BYTES;
        self.entries.push_back((position, Arc::clone(&message)));
        let topic = match self.topics.get_mut(&message.topic) {
            Some(topic) => topic,
            None => self.topic(&message.topic),
        };
        topic.entries.push_back((position, message));
        // Each once: in a batch the first entry of a topic wakes for all of it.
        for (_, follower) in &topic.followers {
            if !woken.iter().any(|known| Arc::ptr_eq(known, follower)) {
                woken.push(Arc::clone(follower));
            }
        }
    }

    fn evict(&mut self) {
        let Some((position, message)) = self.entries.pop_front() else { return };
        self.bytes = self.bytes.saturating_sub(message.payload.len() + ENTRY_OVERHEAD_BYTES);
        self.missing_to = position;
        if let Some(topic) = self.topics.get_mut(&message.topic) {
            topic.entries.pop_front();
            topic.missing_to = position;
            if topic.entries.is_empty() && topic.followers.is_empty() {
                self.topics.remove(&message.topic);
            }
        }
    }

    fn forget_all(&mut self, head: i64) {
        self.entries.clear();
        self.bytes = 0;
        self.missing_to = head;
        self.topics.retain(|_, topic| !topic.followers.is_empty());
        for topic in self.topics.values_mut() {
            topic.entries.clear();
            topic.missing_to = head;
        }
    }
}

/// Whether these entries, without a gap, are all that came between the two heads.
fn follows(before: i64, appended: &[(i64, Message)], head: i64) -> bool {
    let first = before.saturating_add(1);
    appended.iter().zip(first..).all(|((position, _), expected)| *position == expected)
        && head.checked_sub(before).and_then(|count| usize::try_from(count).ok()) == Some(appended.len())
}

/// Somebody who reads topics of the tail.
pub(super) struct Follower {
    tail: Arc<Tail>,
    topics: Vec<String>,
    number: u64,
    wake: Arc<Notify>,
}

impl Follower {
    /// Returns when something came since the last call.
    pub(super) async fn woken(&self) {
        self.wake.notified().await;
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let mut state = self.tail.lock();
        for name in &self.topics {
            if let Some(topic) = state.topics.get_mut(name) {
                topic.followers.retain(|(number, _)| *number != self.number);
                if topic.entries.is_empty() && topic.followers.is_empty() {
                    state.topics.remove(name);
                }
            }
        }
    }
}
