//! Another Redis than before: one that was restored from an older snapshot, or a replica that took over. What it holds may have
//! been changed since, so a new epoch begins in each part of it, and everything is read from its owners again.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use madang_engine_redis::{Command, Failure, Mode, Redis, Script, Tag, Value, reply};
use madang_kernel::{ShardId, StoreError};

/// What a tag's epoch is called.
pub(crate) const EPOCH: &str = ":epoch";
/// The tags whose content is of an epoch: the query model's and those of live views, one a shard.
const KINDS: [&str; 2] = ["r", "v"];

static RENEW: LazyLock<Script> = script!("epoch/renew");

/// Notices another Redis.
pub struct RedisEpochs {
    redis: Redis,
    /// Every tag with the key of its epoch.
    epochs: Arc<[(Tag, String)]>,
    /// The run of the server that each tag was on when it was last looked at.
    runs: Mutex<HashMap<Tag, String>>,
}

impl RedisEpochs {
    /// Watches over what is kept under the prefix of `redis`: from the first command of every connection on, and where servers
    /// change behind a connection, as the nodes of a cluster do, by [`Self::renew`].
    pub fn new(redis: Redis) -> Self {
        let tags =
            KINDS.iter().flat_map(|kind| ShardId::all().map(move |shard| Tag::new(format_args!("{kind}{shard}"))));
        let epochs: Arc<[(Tag, String)]> = tags.map(|tag| (tag.clone(), redis.key(&tag, EPOCH))).collect();
        let of_connections = Arc::clone(&epochs);
        redis.on_connect(move || of_connections.iter().map(renewal).collect());
        Self { redis, epochs, runs: Mutex::default() }
    }

    /// Begins a new epoch wherever the server is another one than its content was written to; tells whether this process saw
    /// another server before. Every process may look, as often as it likes: of one server one epoch is begun.
    pub async fn renew(&self) -> Result<bool, StoreError> {
        Ok(self.renew_now().await?)
    }

    async fn renew_now(&self) -> Result<bool, Failure> {
        // One server is asked once, the nodes of a cluster by each tag that may be on them.
        let asked = if self.redis.options().mode == Mode::Single { &self.epochs[..1] } else { &self.epochs[..] };
        let questions = asked.iter().map(|(tag, _)| Command::new(tag.clone(), "INFO").arg("server"));
        let runs = self.redis.run(questions.collect()).await?.iter().map(run_of).collect::<Result<Vec<_>, _>>()?;
        let run_at = |place: usize| runs.get(place).or(runs.first()).cloned().unwrap_or_default();
        let changed: Vec<(&(Tag, String), String)> = {
            let known = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
            let of_now = self.epochs.iter().enumerate().map(|(place, epoch)| (epoch, run_at(place)));
            of_now.filter(|((tag, _), run)| known.get(tag) != Some(run)).collect()
        };
        self.redis.run(changed.iter().map(|(epoch, _)| renewal(epoch)).collect()).await?;
        let mut known = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let seen_before = changed.into_iter().filter_map(|((tag, _), run)| known.insert(tag.clone(), run)).count();
        Ok(seen_before > 0)
    }
}

fn renewal((tag, epoch): &(Tag, String)) -> Command {
    Command::script(tag.clone(), &RENEW, std::slice::from_ref(epoch))
}

/// The id of a server's run.
fn run_of(info: &Value) -> Result<String, Failure> {
    let text = reply::text(info)?.unwrap_or_default();
    let run = text.lines().find_map(|line| line.strip_prefix("run_id:"));
    run.map(|run| run.trim().to_owned()).ok_or_else(|| Failure::reply("a server without a run"))
}
