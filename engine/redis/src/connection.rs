//! The connection: one multiplexed one to a server, or one to each node of a cluster. Every command has a time-out. What
//! is away fails at once for a moment instead of gathering callers, and is then tried again by whoever comes next.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use madang_kernel::StoreError;
use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::cluster::ClusterClient;
use redis::cluster_async::ClusterConnection;
use redis::cluster_routing::{Route, RoutingInfo, SingleNodeRoutingInfo, SlotAddr};
use redis::{AsyncConnectionConfig, Client, Cmd, IntoConnectionInfo, Pipeline, RedisResult, Value};
use tokio::sync::Mutex as AsyncMutex;
use tokio::time::Instant;
use tracing::{info, warn};

use crate::errors::{Failure, Meaning, meaning};
use crate::slots::{SLOTS, slot};
use crate::{Command, Mode, OptionsError, RedisOptions, Tag};

/// How long a part that failed is left alone.
const BACKOFF_MS: u64 = 200;
/// A cluster connection that answered nothing for so long is made anew, whatever it believes of its nodes.
const ANEW_AFTER_MS: u64 = 2_000;
/// Commands that may wait in a connection's queue before further ones wait to get in.
const QUEUE_MAX: usize = 1_024;
/// Commands sent in one pipeline.
const PIPELINE_MAX: usize = 512;
/// Redirections and reconnections inside a cluster command; its time-out bounds them anyway. Few, because a node that is away
/// is given up after them; a slot that moves needs more ([`settled`]).
const CLUSTER_RETRIES: u32 = 3;
/// Between two attempts of a command whose slot moves, in milliseconds, at most.
const MOVING_PAUSE_MS: u64 = 8;
/// Parts of a cluster that are left alone one by one: a node that is away does not keep callers from the others.
const PARTS: usize = 64;

/// A connection to Redis. Clones share it.
#[derive(Clone)]
pub struct Redis {
    inner: Arc<Inner>,
}

struct Inner {
    options: RedisOptions,
    target: Target,
    link: Mutex<Option<(u64, Link)>>,
    /// Whoever holds it connects; the others fail at once.
    connecting: AsyncMutex<u64>,
    started: Instant,
    parts: Vec<Part>,
    /// When the connection was last given up.
    given_up_at: AtomicU64,
    /// What runs on every new connection before anything else does.
    first: OnceLock<Box<First>>,
}

/// Commands for a new connection.
type First = dyn Fn() -> Vec<Command> + Send + Sync;

/// What is known of one part. Moments are milliseconds since `started`.
#[derive(Default)]
struct Part {
    left_alone_until: AtomicU64,
    /// 0 while it answers.
    silent_since: AtomicU64,
}

enum Target {
    Single(Box<Client>),
    Cluster(Box<ClusterClient>),
}

#[derive(Clone)]
enum Link {
    Single(MultiplexedConnection),
    Cluster(ClusterConnection),
}

impl std::fmt::Debug for Redis {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Redis").field(&self.inner.options).finish()
    }
}

impl Redis {
    /// Connects, or succeeds without: a server that is away now is tried again by the commands that need it. Only options
    /// that can never work are an error.
    pub async fn connect(options: &RedisOptions) -> Result<Self, OptionsError> {
        options.check()?;
        let parts = if options.mode == Mode::Cluster { PARTS } else { 1 };
        let inner = Inner {
            target: target(options)?,
            options: options.clone(),
            link: Mutex::new(None),
            connecting: AsyncMutex::new(0),
            started: Instant::now(),
            parts: (0..parts).map(|_| Part::default()).collect(),
            given_up_at: AtomicU64::new(0),
            first: OnceLock::new(),
        };
        let redis = Self { inner: Arc::new(inner) };
        if let Err(failure) = redis.inner.link().await {
            warn!("redis: cannot be reached yet, retrying at each call: {failure}");
        }
        Ok(redis)
    }

    /// Has these commands run first on every connection that is made from now on: a server that is another one than before is
    /// met by them. In a cluster that is where all connections are made anew. Only the first call counts.
    pub fn on_connect(&self, first: impl Fn() -> Vec<Command> + Send + Sync + 'static) {
        let _ = self.inner.first.set(Box::new(first));
    }

    /// Whether Redis answers.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.run(vec![Command::new(Tag::new("ping"), "PING")]).await?;
        Ok(())
    }

    /// How it is reached.
    pub fn options(&self) -> &RedisOptions {
        &self.inner.options
    }

    /// A key of a tag under the program's prefix.
    pub fn key(&self, tag: &Tag, name: &str) -> String {
        let prefix = &self.inner.options.prefix;
        let mut key = String::with_capacity(prefix.len() + tag.as_str().len() + name.len() + 1);
        key.push_str(prefix);
        key.push(':');
        key.push_str(tag.as_str());
        key.push_str(name);
        key
    }

    /// Runs one command.
    pub async fn ask(&self, command: Command) -> Result<Value, Failure> {
        self.run(vec![command]).await?.pop().ok_or_else(|| Failure::reply("none"))
    }

    /// Runs many commands at once, in one round trip to each node, and answers in order. Those of one tag run in the order
    /// given. The first failure is the failure of all, though others may have happened.
    pub async fn run(&self, commands: Vec<Command>) -> Result<Vec<Value>, Failure> {
        if commands.is_empty() {
            return Ok(Vec::new());
        }
        let parts: Vec<usize> = commands.iter().map(|command| self.inner.part(&command.tag)).collect();
        if let Some(part) = parts.iter().find(|part| self.inner.is_left_alone(**part)) {
            return Err(Failure::Away(format!("part {part} did not answer a moment ago")));
        }
        let (number, link) = self.inner.link().await?;
        let mut answers = self.inner.send(&link, &commands).await;
        let unknown: Vec<usize> = (0..commands.len()).filter(|index| is_unknown_script(&answers[*index])).collect();
        if !unknown.is_empty() {
            let texts: Vec<Command> = unknown.iter().filter_map(|index| commands[*index].with_text()).collect();
            let again = self.inner.send(&link, &texts).await;
            for (index, answer) in unknown.into_iter().zip(again) {
                answers[index] = answer;
            }
        }
        let mut values = Vec::with_capacity(answers.len());
        let mut failure = None;
        for (answer, part) in answers.into_iter().zip(parts) {
            match answer.and_then(Value::extract_error) {
                Ok(value) => {
                    self.inner.answered(part);
                    values.push(value);
                }
                Err(error) => failure = failure.or(Some(self.inner.failed(&error, number, part))),
            }
        }
        failure.map_or(Ok(values), Err)
    }
}

fn is_unknown_script(answer: &RedisResult<Value>) -> bool {
    has_meaning(answer, Meaning::UnknownScript)
}

fn has_meaning(answer: &RedisResult<Value>, what: Meaning) -> bool {
    let error = match answer {
        Ok(Value::ServerError(error)) => error.clone().into(),
        Ok(_) => return false,
        Err(error) => error.clone(),
    };
    meaning(&error) == what
}

/// Sends a command until its slot has come to rest. redis-rs follows redirections itself, but asks for leave (ASKING) in a
/// request of its own: on a shared connection another command may use that up, as often as the connection is busy. What is
/// redirected was not done, so it can be sent again; the caller's time-out ends it.
async fn settled(connection: &mut ClusterConnection, cmd: &Cmd, route: &SingleNodeRoutingInfo) -> RedisResult<Value> {
    loop {
        let answer = connection.route_command(cmd.clone(), RoutingInfo::SingleNode(route.clone())).await;
        if !has_meaning(&answer, Meaning::Moving) {
            return answer;
        }
        // Not all at once, or they disturb one another again.
        tokio::time::sleep(Duration::from_millis(rand::random_range(1..=MOVING_PAUSE_MS))).await;
    }
}

impl Inner {
    fn now_ms(&self) -> u64 {
        // Never 0, which says "nothing".
        u64::try_from(self.started.elapsed().as_millis()).map_or(u64::MAX, |ms| ms.saturating_add(1))
    }

    fn part(&self, tag: &Tag) -> usize {
        match self.parts.len() {
            1 => 0,
            // Nodes hold ranges of slots, so neighbours are likely to share one.
            parts => usize::from(slot(tag)) * parts / usize::from(SLOTS),
        }
    }

    fn is_left_alone(&self, part: usize) -> bool {
        self.parts[part].left_alone_until.load(Ordering::Relaxed) > self.now_ms()
    }

    fn link_now(&self) -> MutexGuard<'_, Option<(u64, Link)>> {
        self.link.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection that stands, or a new one.
    async fn link(&self) -> Result<(u64, Link), Failure> {
        if let Some(link) = self.link_now().clone() {
            return Ok(link);
        }
        let Ok(mut number) = self.connecting.try_lock() else {
            return Err(Failure::Away("is being connected to".to_owned()));
        };
        if let Some(link) = self.link_now().clone() {
            return Ok(link);
        }
        match self.connect_and_greet().await {
            Ok(link) => {
                *number += 1;
                let link = (*number, link);
                *self.link_now() = Some(link.clone());
                Ok(link)
            }
            Err(reason) => {
                let until = self.now_ms() + BACKOFF_MS;
                self.parts.iter().for_each(|part| part.left_alone_until.store(until, Ordering::Relaxed));
                Err(Failure::Away(reason))
            }
        }
    }

    async fn connect_and_greet(&self) -> Result<Link, String> {
        let link = self.connect().await?;
        let first = self.first.get().map(|first| first()).unwrap_or_default();
        // A server that was just started knows no script yet.
        let first: Vec<Command> = first.into_iter().map(|command| command.with_text().unwrap_or(command)).collect();
        for answer in self.send(&link, &first).await {
            answer.and_then(Value::extract_error).map_err(|error| error.to_string())?;
        }
        Ok(link)
    }

    async fn connect(&self) -> Result<Link, String> {
        let limit = Duration::from_millis(self.options.connect_timeout_ms.max(1));
        let connect = async {
            match &self.target {
                Target::Single(client) => {
                    let config = AsyncConnectionConfig::new()
                        .set_connection_timeout(Some(limit))
                        .set_response_timeout(Some(self.response_timeout()))
                        .set_pipeline_buffer_size(QUEUE_MAX);
                    client.get_multiplexed_async_connection_with_config(&config).await.map(Link::Single)
                }
                Target::Cluster(client) => client.get_async_connection().await.map(Link::Cluster),
            }
        };
        match tokio::time::timeout(limit, Box::pin(connect)).await {
            Ok(connected) => connected.map_err(|error| error.to_string()),
            Err(_) => Err(format!("no connection within {limit:?}")),
        }
    }

    fn response_timeout(&self) -> Duration {
        Duration::from_millis(self.options.response_timeout_ms.max(1))
    }

    async fn send(&self, link: &Link, commands: &[Command]) -> Vec<RedisResult<Value>> {
        match link {
            Link::Single(connection) => {
                let slices = commands.chunks(PIPELINE_MAX).map(|slice| {
                    let mut connection = connection.clone();
                    async move {
                        if let [command] = slice {
                            return vec![self.in_time(connection.req_packed_command(&command.cmd)).await];
                        }
                        let pipeline = pipeline(slice);
                        spread(
                            self.in_time(connection.req_packed_commands(&pipeline, 0, slice.len())).await,
                            slice.len(),
                        )
                    }
                });
                join_all(slices).await.into_iter().flatten().collect()
            }
            Link::Cluster(connection) => self.send_by_tags(connection, commands).await,
        }
    }

    /// One pipeline a tag, all at once: those of one node share its connection.
    async fn send_by_tags(&self, connection: &ClusterConnection, commands: &[Command]) -> Vec<RedisResult<Value>> {
        let mut indexes: Vec<usize> = (0..commands.len()).collect();
        indexes.sort_by(|a, b| commands[*a].tag.cmp(&commands[*b].tag));
        let groups =
            indexes.chunk_by(|a, b| commands[*a].tag == commands[*b].tag).flat_map(|group| group.chunks(PIPELINE_MAX));
        let sent = groups.map(|group| {
            let mut connection = connection.clone();
            let route =
                SingleNodeRoutingInfo::SpecificNode(Route::with_key(commands[group[0]].tag.as_str(), SlotAddr::Master));
            async move {
                let answers = if let [index] = group {
                    vec![self.in_time(settled(&mut connection, &commands[*index].cmd, &route)).await]
                } else {
                    let pipeline = pipeline(group.iter().map(|index| &commands[*index]));
                    let answers = connection.route_pipeline(pipeline, 0, group.len(), route);
                    spread(self.in_time(answers).await, group.len())
                };
                group.iter().copied().zip(answers).collect::<Vec<_>>()
            }
        });
        let mut answers: Vec<_> = join_all(sent).await.into_iter().flatten().collect();
        answers.sort_by_key(|(index, _)| *index);
        answers.into_iter().map(|(_, answer)| answer).collect()
    }

    /// Includes the time in the connection's own queue.
    async fn in_time<T>(&self, answer: impl Future<Output = RedisResult<T>>) -> RedisResult<T> {
        match tokio::time::timeout(self.response_timeout(), Box::pin(answer)).await {
            Ok(answer) => answer,
            Err(_) => Err(std::io::Error::from(std::io::ErrorKind::TimedOut).into()),
        }
    }

    fn answered(&self, part: usize) {
        let silent_since = &self.parts[part].silent_since;
        // Looked at first, because everybody comes by here.
        if silent_since.load(Ordering::Relaxed) == 0 {
            return;
        }
        let since = silent_since.swap(0, Ordering::Relaxed);
        if since > 0 {
            info!(part, "redis: responds again after {} ms", self.now_ms().saturating_sub(since));
        }
    }

    /// Notes a failure of a command on the connection of that number.
    fn failed(&self, error: &redis::RedisError, number: u64, part: usize) -> Failure {
        let what = meaning(error);
        match what {
            Meaning::Defect | Meaning::UnknownScript => return Failure::Defect(error.to_string()),
            // Everybody answers, and the next command may find the slot at its new place.
            Meaning::Moving => return Failure::Away(error.to_string()),
            Meaning::Lost | Meaning::Refused => {}
        }
        let now = self.now_ms();
        let Part { left_alone_until, silent_since } = &self.parts[part];
        // A connection that was cut is made anew at once; if that fails, the part is left alone then.
        let is_cut = self.parts.len() == 1 && what == Meaning::Lost && !error.is_timeout();
        if !is_cut {
            left_alone_until.store(now + BACKOFF_MS, Ordering::Relaxed);
        }
        let since = match silent_since.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => {
                warn!(part, "redis: does not respond, calls to it fail at once until it does: {error}");
                now
            }
            Err(since) => since,
        };
        let is_spent = match self.target {
            Target::Single(_) => what == Meaning::Lost,
            // It mends itself, node by node, unless it does not.
            Target::Cluster(_) => {
                let long_ago = now.saturating_sub(ANEW_AFTER_MS);
                since <= long_ago && self.given_up_at.load(Ordering::Relaxed) <= long_ago
            }
        };
        let mut link = self.link_now();
        if is_spent && link.as_ref().is_some_and(|(standing, _)| *standing == number) {
            *link = None;
            self.given_up_at.store(now, Ordering::Relaxed);
        }
        drop(link);
        Failure::Away(error.to_string())
    }
}

fn pipeline<'a>(commands: impl IntoIterator<Item = &'a Command>) -> Pipeline {
    let mut pipeline = Pipeline::new();
    for command in commands {
        pipeline.add_command(command.cmd.clone());
    }
    pipeline
}

/// An answer to each command of a pipeline, also when there is one failure for all.
fn spread(answers: RedisResult<Vec<Value>>, count: usize) -> Vec<RedisResult<Value>> {
    match answers {
        Ok(values) if values.len() == count => values.into_iter().map(Ok).collect(),
        Ok(_) => vec![Err((redis::ErrorKind::Parse, "a pipeline with another number of answers").into()); count],
        Err(error) => vec![Err(error); count],
    }
}

fn target(options: &RedisOptions) -> Result<Target, OptionsError> {
    let invalid = |number, error: &redis::RedisError| OptionsError::Url { number, reason: error.category().to_owned() };
    let mut infos = Vec::with_capacity(options.urls.len());
    for (number, url) in (1..).zip(&options.urls) {
        infos.push(url.as_str().into_connection_info().map_err(|error| invalid(number, &error))?);
    }
    match options.mode {
        Mode::Single => {
            let info = infos.remove(0);
            Client::open(info).map(|client| Target::Single(Box::new(client))).map_err(|error| invalid(1, &error))
        }
        Mode::Cluster => {
            let limit = Duration::from_millis(options.response_timeout_ms.max(1));
            let builder = ClusterClient::builder(infos)
                .retries(CLUSTER_RETRIES)
                .min_retry_wait(1)
                .max_retry_wait(BACKOFF_MS)
                .connection_timeout(Duration::from_millis(options.connect_timeout_ms.max(1)))
                .response_timeout(limit)
                .overall_response_timeout(Some(limit));
            builder.build().map(|client| Target::Cluster(Box::new(client))).map_err(|error| invalid(1, &error))
        }
    }
}
