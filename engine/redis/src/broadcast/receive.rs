//! Receives on a connection of its own, and makes it anew, at the next node, when it ends or falls silent.

use std::collections::HashSet;
use std::convert::Infallible;
use std::time::Duration;

use futures_util::StreamExt as _;
use madang_messaging::Stop;
use redis::aio::{PubSub, PubSubSink};
use redis::{Client, Msg, RedisResult};
use tracing::{info, warn};

use super::{RedisBroadcast, Subscriber, locked};

/// Topics subscribed to at once.
const BATCH_MAX: usize = 512;
/// A connection on which nothing comes is asked so often whether it is still there.
const PING_EVERY: Duration = Duration::from_secs(2);
/// Between two attempts to connect.
const RECONNECT_AFTER: Duration = Duration::from_millis(300);

impl RedisBroadcast {
    /// Hands `subscriber` what is published on the topics subscribed to, until `stop`.
    pub async fn receive(&self, subscriber: &dyn Subscriber, stop: Stop) -> Result<(), Infallible> {
        let mut is_disconnected = false;
        for node in (0..self.inner.redis.options().urls.len()).cycle() {
            let ended = tokio::select! {
                () = stop.cancelled() => return Ok(()),
                ended = self.receive_at(node, subscriber, &mut is_disconnected) => ended,
            };
            if !std::mem::replace(&mut is_disconnected, true) {
                subscriber.disconnected();
                warn!("broadcast: no messages from other processes arrive until redis is back: {ended}");
            }
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = tokio::time::sleep(RECONNECT_AFTER) => {}
            }
        }
        Ok(())
    }

    /// Receives from one node for as long as that goes, and tells why it does not any more.
    async fn receive_at(&self, node: usize, subscriber: &dyn Subscriber, is_disconnected: &mut bool) -> String {
        match self.receive_until_lost(node, subscriber, is_disconnected).await {
            Ok(never) => match never {},
            Err(reason) => reason,
        }
    }

    async fn receive_until_lost(
        &self,
        node: usize,
        subscriber: &dyn Subscriber,
        is_disconnected: &mut bool,
    ) -> Result<Infallible, String> {
        let (mut sink, mut messages) = self.connect(node).await?.split();
        if std::mem::take(is_disconnected) {
            info!("broadcast: messages from other processes arrive again");
        }
        let mut subscribed = HashSet::new();
        let mut ping = tokio::time::interval(PING_EVERY);
        let start = self.channel_start();
        // Also without a topic: who was disconnected is not any more.
        subscriber.subscribed(&[]);
        loop {
            self.catch_up(&mut sink, &mut subscribed, subscriber).await?;
            tokio::select! {
                message = messages.next() => hand_on(&message.ok_or("the connection ended")?, &start, subscriber),
                () = self.inner.wanted_changed.notified() => {}
                _ = ping.tick() => self.in_time(sink.ping::<redis::Value>()).await.map(drop)?,
            }
        }
    }

    async fn connect(&self, node: usize) -> Result<PubSub, String> {
        let options = self.inner.redis.options();
        let client = Client::open(options.urls[node].as_str()).map_err(|error| error.to_string())?;
        let limit = Duration::from_millis(options.connect_timeout_ms.max(1));
        let connected = tokio::time::timeout(limit, client.get_async_pubsub()).await;
        connected.map_err(|_| format!("no connection within {limit:?}"))?.map_err(|error| error.to_string())
    }

    /// Subscribes to what is wanted, and to nothing else.
    async fn catch_up(
        &self,
        sink: &mut PubSubSink,
        subscribed: &mut HashSet<u64>,
        subscriber: &dyn Subscriber,
    ) -> Result<(), String> {
        let (new, old): (Vec<u64>, Vec<u64>) = {
            let wanted = locked(&self.inner.wanted);
            if *wanted == *subscribed {
                return Ok(());
            }
            (wanted.difference(subscribed).copied().collect(), subscribed.difference(&wanted).copied().collect())
        };
        for topics in new.chunks(BATCH_MAX) {
            self.in_time(sink.subscribe(self.channels(topics))).await?;
            subscribed.extend(topics);
            subscriber.subscribed(topics);
        }
        for topics in old.chunks(BATCH_MAX) {
            self.in_time(sink.unsubscribe(self.channels(topics))).await?;
            subscribed.retain(|topic| !topics.contains(topic));
        }
        Ok(())
    }

    fn channels(&self, topics: &[u64]) -> Vec<String> {
        topics.iter().map(|topic| self.channel(*topic)).collect()
    }

    async fn in_time<T>(&self, answer: impl Future<Output = RedisResult<T>>) -> Result<T, String> {
        let limit = Duration::from_millis(self.inner.redis.options().response_timeout_ms.max(1));
        let answer = tokio::time::timeout(limit, answer).await;
        answer.map_err(|_| format!("no answer within {limit:?}"))?.map_err(|error| error.to_string())
    }
}

fn hand_on(message: &Msg, start: &str, subscriber: &dyn Subscriber) {
    let topic = message.get_channel_name().strip_prefix(start).and_then(|topic| topic.parse().ok());
    if let Some(topic) = topic {
        subscriber.received(topic, message.get_payload_bytes());
    }
}
