//! Listens on a connection of its own, and makes it anew, at the next node, when it ends or falls silent.

use std::collections::HashSet;
use std::convert::Infallible;
use std::time::Duration;

use futures_util::StreamExt as _;
use madang_messaging::Stop;
use redis::aio::{PubSub, PubSubSink};
use redis::{Client, Msg, RedisResult};
use tracing::{info, warn};

use super::{Hearing, RedisBroadcast, locked};

/// Topics asked for at once.
const BATCH_MAX: usize = 512;
/// A connection on which nothing comes is asked so often whether it is still there.
const PING_EVERY: Duration = Duration::from_secs(2);
/// Between two attempts to connect.
const REST: Duration = Duration::from_millis(300);

impl RedisBroadcast {
    /// Tells `hearing` what is said on the topics that are followed, until `stop`.
    pub async fn listen(&self, hearing: &dyn Hearing, stop: Stop) -> Result<(), Infallible> {
        let mut is_deaf = false;
        for place in (0..self.inner.redis.options().urls.len()).cycle() {
            let ended = tokio::select! {
                () = stop.cancelled() => return Ok(()),
                ended = self.listen_at(place, hearing, &mut is_deaf) => ended,
            };
            if !std::mem::replace(&mut is_deaf, true) {
                hearing.deaf();
                warn!("other processes are not heard until redis is back: {ended}");
            }
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = tokio::time::sleep(REST) => {}
            }
        }
        Ok(())
    }

    /// Listens at one node for as long as that goes, and says why it does not any more.
    async fn listen_at(&self, place: usize, hearing: &dyn Hearing, is_deaf: &mut bool) -> String {
        match self.follow_at(place, hearing, is_deaf).await {
            Ok(never) => match never {},
            Err(reason) => reason,
        }
    }

    async fn follow_at(&self, place: usize, hearing: &dyn Hearing, is_deaf: &mut bool) -> Result<Infallible, String> {
        let (mut sink, mut words) = self.connect(place).await?.split();
        if std::mem::take(is_deaf) {
            info!("other processes are heard again");
        }
        let mut followed = HashSet::new();
        let mut ping = tokio::time::interval(PING_EVERY);
        let start = self.channel_start();
        // Also without a topic: who was deaf is not any more.
        hearing.listening(&[]);
        loop {
            self.catch_up(&mut sink, &mut followed, hearing).await?;
            tokio::select! {
                word = words.next() => hear(&word.ok_or("the connection ended")?, &start, hearing),
                () = self.inner.wanted_changed.notified() => {}
                _ = ping.tick() => self.in_time(sink.ping::<redis::Value>()).await.map(drop)?,
            }
        }
    }

    async fn connect(&self, place: usize) -> Result<PubSub, String> {
        let options = self.inner.redis.options();
        let client = Client::open(options.urls[place].as_str()).map_err(|error| error.to_string())?;
        let limit = Duration::from_millis(options.connect_timeout_ms.max(1));
        let connected = tokio::time::timeout(limit, client.get_async_pubsub()).await;
        connected.map_err(|_| format!("no connection within {limit:?}"))?.map_err(|error| error.to_string())
    }

    /// Follows what is wanted, and nothing else.
    async fn catch_up(
        &self,
        sink: &mut PubSubSink,
        followed: &mut HashSet<u64>,
        hearing: &dyn Hearing,
    ) -> Result<(), String> {
        let (new, old): (Vec<u64>, Vec<u64>) = {
            let wanted = locked(&self.inner.wanted);
            if *wanted == *followed {
                return Ok(());
            }
            (wanted.difference(followed).copied().collect(), followed.difference(&wanted).copied().collect())
        };
        for topics in new.chunks(BATCH_MAX) {
            self.in_time(sink.subscribe(self.channels(topics))).await?;
            followed.extend(topics);
            hearing.listening(topics);
        }
        for topics in old.chunks(BATCH_MAX) {
            self.in_time(sink.unsubscribe(self.channels(topics))).await?;
            followed.retain(|topic| !topics.contains(topic));
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

fn hear(word: &Msg, start: &str, hearing: &dyn Hearing) {
    let topic = word.get_channel_name().strip_prefix(start).and_then(|topic| topic.parse().ok());
    if let Some(topic) = topic {
        hearing.heard(topic, word.get_payload_bytes());
    }
}
