//! Messages between processes: they reach those who subscribed to their topic, are lost while Redis is away, and come again
//! when it is back.

use std::sync::{Arc, Mutex};

use madang_engine_redis::{Redis, RedisBroadcast, Subscriber};
use madang_messaging::{OnError, Supervisor};

use crate::own_server::OwnServer;
use crate::support::{OneServer, TestRedis, ThreeNodes, Topology, eventually};

/// Notes what it is told.
#[derive(Default)]
struct Notes {
    received: Mutex<Vec<(u64, String)>>,
    subscribed: Mutex<Vec<u64>>,
    disconnected: Mutex<usize>,
}

impl Subscriber for Notes {
    fn received(&self, topic: u64, message: &[u8]) {
        self.received.lock().unwrap().push((topic, String::from_utf8_lossy(message).into_owned()));
    }

    fn subscribed(&self, topics: &[u64]) {
        self.subscribed.lock().unwrap().extend(topics);
    }

    fn disconnected(&self) {
        *self.disconnected.lock().unwrap() += 1;
    }
}

impl Notes {
    fn has(&self, topic: u64, message: &str) -> bool {
        self.received.lock().unwrap().iter().any(|received| *received == (topic, message.to_owned()))
    }

    fn times_subscribed(&self, topic: u64) -> usize {
        self.subscribed.lock().unwrap().iter().filter(|found| **found == topic).count()
    }
}

/// A process that publishes and receives.
struct Process {
    broadcast: RedisBroadcast,
    notes: Arc<Notes>,
    _tasks: Supervisor,
}

impl Process {
    fn new(redis: Redis) -> Self {
        let (broadcast, notes, tasks) =
            (RedisBroadcast::new(redis, "live"), Arc::new(Notes::default()), Supervisor::new("test"));
        let sending = broadcast.clone();
        tasks.spawn("send", OnError::Restart, move |stop| {
            let sending = sending.clone();
            async move { sending.send(stop).await }
        });
        let (receiving, subscriber) = (broadcast.clone(), notes.clone());
        tasks.spawn("receive", OnError::Restart, move |stop| {
            let (receiving, subscriber) = (receiving.clone(), subscriber.clone());
            async move { receiving.receive(subscriber.as_ref(), stop).await }
        });
        Self { broadcast, notes, _tasks: tasks }
    }

    async fn subscribe(&self, topic: u64) {
        let before = self.notes.times_subscribed(topic);
        self.broadcast.subscribe(topic);
        eventually("it is subscribed", || async { self.notes.times_subscribed(topic) > before }).await;
    }
}

async fn messages_reach_who_subscribed_and_nobody_else<T: Topology>() {
    let test = TestRedis::fresh::<T>().await;
    let (one, other) = (Process::new(test.redis.clone()), Process::new(test.another().await));
    // Topics of every part of a cluster.
    for topic in 0..50 {
        other.subscribe(topic).await;
    }
    for topic in 0..100 {
        one.broadcast.publish(topic, format!("of {topic}").into_bytes());
    }
    eventually("every message comes", || async { other.notes.received.lock().unwrap().len() == 50 }).await;
    assert!((0..50).all(|topic| other.notes.has(topic, &format!("of {topic}"))));
    assert!(one.notes.received.lock().unwrap().is_empty(), "one subscribed to nothing");

    other.broadcast.unsubscribe(7);
    one.subscribe(7).await;
    other.subscribe(1_000).await;
    one.broadcast.publish(7, b"again".to_vec());
    eventually("who subscribed receives", || async { one.notes.has(7, "again") }).await;
    one.broadcast.publish(1_000, b"last".to_vec());
    eventually("the last message comes", || async { other.notes.has(1_000, "last") }).await;
    assert!(!other.notes.has(7, "again"), "who left receives no more");
}

#[tokio::test]
async fn messages_reach_who_subscribed_and_nobody_else_on_one_server() {
    messages_reach_who_subscribed_and_nobody_else::<OneServer>().await;
}

#[tokio::test]
async fn messages_reach_who_subscribed_and_nobody_else_on_a_cluster() {
    messages_reach_who_subscribed_and_nobody_else::<ThreeNodes>().await;
}

#[tokio::test]
async fn messages_of_one_topic_keep_their_order() {
    let test = TestRedis::fresh::<ThreeNodes>().await;
    let (one, other) = (Process::new(test.redis.clone()), Process::new(test.another().await));
    other.subscribe(1).await;
    for number in 0..2_000 {
        one.broadcast.publish(1, number.to_string().into_bytes());
    }
    eventually("every message comes", || async { other.notes.received.lock().unwrap().len() == 2_000 }).await;
    let received: Vec<_> =
        other.notes.received.lock().unwrap().iter().map(|(_, message)| message.parse::<u32>().unwrap()).collect();
    assert!(received.is_sorted());
}

#[tokio::test]
async fn a_server_that_was_away_is_subscribed_at_again() {
    let mut server = OwnServer::not_running();
    server.start().await;
    let process = Process::new(Redis::connect(&server.options()).await.unwrap());
    process.subscribe(5).await;
    server.kill();
    eventually("it notices", || async { *process.notes.disconnected.lock().unwrap() > 0 }).await;
    // Nobody waits for a server that is away, and what is published meanwhile fills no memory.
    for number in 0..100_000 {
        process.broadcast.publish(5, format!("lost {number}").into_bytes());
    }
    server.start().await;
    eventually("it is subscribed again", || async { process.notes.times_subscribed(5) == 2 }).await;
    eventually("messages come again", || async {
        process.broadcast.publish(5, b"back".to_vec());
        process.notes.has(5, "back")
    })
    .await;
}

#[tokio::test]
async fn a_server_that_hangs_is_noticed() {
    let mut server = OwnServer::not_running();
    server.start().await;
    let process = Process::new(Redis::connect(&server.options()).await.unwrap());
    process.subscribe(5).await;
    server.hang();
    eventually("it notices", || async { *process.notes.disconnected.lock().unwrap() > 0 }).await;
}
