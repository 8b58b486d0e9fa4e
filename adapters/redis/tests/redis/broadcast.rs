//! Words between processes: heard by those who follow their topic, lost while Redis is away, heard again when it is back.

use std::sync::{Arc, Mutex};

use madang_messaging::{OnError, Supervisor};
use madang_redis::{Hearing, Redis, RedisBroadcast};

use crate::own_server::OwnServer;
use crate::support::{OneServer, TestRedis, ThreeNodes, Topology, eventually};

/// Notes what it hears.
#[derive(Default)]
struct Notes {
    heard: Mutex<Vec<(u64, String)>>,
    listening: Mutex<Vec<u64>>,
    deaf: Mutex<usize>,
}

impl Hearing for Notes {
    fn heard(&self, topic: u64, word: &[u8]) {
        self.heard.lock().unwrap().push((topic, String::from_utf8_lossy(word).into_owned()));
    }

    fn listening(&self, topics: &[u64]) {
        self.listening.lock().unwrap().extend(topics);
    }

    fn deaf(&self) {
        *self.deaf.lock().unwrap() += 1;
    }
}

impl Notes {
    fn has(&self, topic: u64, word: &str) -> bool {
        self.heard.lock().unwrap().iter().any(|heard| *heard == (topic, word.to_owned()))
    }

    fn times_listening(&self, topic: u64) -> usize {
        self.listening.lock().unwrap().iter().filter(|found| **found == topic).count()
    }
}

/// A process that says and hears.
struct Process {
    broadcast: RedisBroadcast,
    notes: Arc<Notes>,
    _tasks: Supervisor,
}

impl Process {
    fn new(redis: Redis) -> Self {
        let (broadcast, notes, tasks) =
            (RedisBroadcast::new(redis), Arc::new(Notes::default()), Supervisor::new("test"));
        let carrying = broadcast.clone();
        tasks.spawn("carry", OnError::Restart, move |stop| {
            let carrying = carrying.clone();
            async move { carrying.carry(stop).await }
        });
        let (listening, hearing) = (broadcast.clone(), notes.clone());
        tasks.spawn("listen", OnError::Restart, move |stop| {
            let (listening, hearing) = (listening.clone(), hearing.clone());
            async move { listening.listen(hearing.as_ref(), stop).await }
        });
        Self { broadcast, notes, _tasks: tasks }
    }

    async fn follow(&self, topic: u64) {
        let before = self.notes.times_listening(topic);
        self.broadcast.follow(topic);
        eventually("it listens", || async { self.notes.times_listening(topic) > before }).await;
    }
}

async fn words_reach_who_follows_and_nobody_else<T: Topology>() {
    let test = TestRedis::fresh::<T>().await;
    let (one, other) = (Process::new(test.redis.clone()), Process::new(test.another().await));
    // Topics of every part of a cluster.
    for topic in 0..50 {
        other.follow(topic).await;
    }
    for topic in 0..100 {
        one.broadcast.say(topic, format!("of {topic}").into_bytes());
    }
    eventually("every word is heard", || async { other.notes.heard.lock().unwrap().len() == 50 }).await;
    assert!((0..50).all(|topic| other.notes.has(topic, &format!("of {topic}"))));
    assert!(one.notes.heard.lock().unwrap().is_empty(), "one follows nothing");

    other.broadcast.leave(7);
    one.follow(7).await;
    other.follow(1_000).await;
    one.broadcast.say(7, b"again".to_vec());
    eventually("who follows hears", || async { one.notes.has(7, "again") }).await;
    one.broadcast.say(1_000, b"last".to_vec());
    eventually("the last word is heard", || async { other.notes.has(1_000, "last") }).await;
    assert!(!other.notes.has(7, "again"), "who left hears no more");
}

#[tokio::test]
async fn words_reach_who_follows_and_nobody_else_on_one_server() {
    words_reach_who_follows_and_nobody_else::<OneServer>().await;
}

#[tokio::test]
async fn words_reach_who_follows_and_nobody_else_on_a_cluster() {
    words_reach_who_follows_and_nobody_else::<ThreeNodes>().await;
}

#[tokio::test]
async fn words_of_one_topic_keep_their_order() {
    let test = TestRedis::fresh::<ThreeNodes>().await;
    let (one, other) = (Process::new(test.redis.clone()), Process::new(test.another().await));
    other.follow(1).await;
    for number in 0..2_000 {
        one.broadcast.say(1, number.to_string().into_bytes());
    }
    eventually("every word is heard", || async { other.notes.heard.lock().unwrap().len() == 2_000 }).await;
    let heard: Vec<_> =
        other.notes.heard.lock().unwrap().iter().map(|(_, word)| word.parse::<u32>().unwrap()).collect();
    assert!(heard.is_sorted());
}

#[tokio::test]
async fn a_server_that_was_away_is_listened_to_again() {
    let mut server = OwnServer::not_running();
    server.start().await;
    let process = Process::new(Redis::connect(&server.options()).await.unwrap());
    process.follow(5).await;
    server.kill();
    eventually("it notices", || async { *process.notes.deaf.lock().unwrap() > 0 }).await;
    // Nobody waits for a server that is away, and what is said meanwhile fills no memory.
    for number in 0..100_000 {
        process.broadcast.say(5, format!("lost {number}").into_bytes());
    }
    server.start().await;
    eventually("it listens again", || async { process.notes.times_listening(5) == 2 }).await;
    eventually("words are heard again", || async {
        process.broadcast.say(5, b"back".to_vec());
        process.notes.has(5, "back")
    })
    .await;
}

#[tokio::test]
async fn a_server_that_hangs_is_noticed() {
    let mut server = OwnServer::not_running();
    server.start().await;
    let process = Process::new(Redis::connect(&server.options()).await.unwrap());
    process.follow(5).await;
    server.hang();
    eventually("it notices", || async { *process.notes.deaf.lock().unwrap() > 0 }).await;
}
