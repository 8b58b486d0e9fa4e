//! The cluster as its operator sees it: which node owns a slot, how often clients were redirected, and slots that move.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use redis::AsyncConnectionConfig;
use redis::aio::MultiplexedConnection;

/// How long a node may take to answer, on a machine that does other things too.
const ANSWER_MAX: Duration = Duration::from_secs(30);
/// How long a key may take to move, in milliseconds.
const MIGRATE_TIMEOUT_MS: u32 = 5_000;
/// How long nodes may take to agree.
const AGREE_MAX: Duration = Duration::from_secs(30);
/// Between two keys of a slot that moves, so that clients meet a slot of which only a part has moved.
const BETWEEN_KEYS: Duration = Duration::from_millis(2);

/// The nodes, with a connection to each.
pub(super) struct Cluster {
    pub(super) nodes: Vec<Node>,
}

pub(super) struct Node {
    id: String,
    port: u16,
    pub(super) connection: MultiplexedConnection,
}

/// How often the nodes answered with a redirection instead of a value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Redirections {
    pub(super) moved: u64,
    pub(super) ask: u64,
    pub(super) try_again: u64,
}

impl Redirections {
    pub(super) fn since(self, before: Self) -> Self {
        let Self { moved, ask, try_again } = self;
        Self { moved: moved - before.moved, ask: ask - before.ask, try_again: try_again - before.try_again }
    }

    pub(super) fn sum(self) -> u64 {
        self.moved + self.ask + self.try_again
    }
}

impl Cluster {
    pub(super) async fn connect(urls: &[String]) -> anyhow::Result<Self> {
        let mut nodes = Vec::new();
        for url in urls {
            let config = AsyncConnectionConfig::new()
                .set_connection_timeout(Some(ANSWER_MAX))
                .set_response_timeout(Some(ANSWER_MAX));
            let client = redis::Client::open(url.as_str())?;
            let mut connection = client.get_multiplexed_async_connection_with_config(&config).await?;
            let id = redis::cmd("CLUSTER").arg("MYID").query_async(&mut connection).await?;
            let port = url.rsplit(':').next().and_then(|port| port.parse().ok()).context("a URL without a port")?;
            nodes.push(Node { id, port, connection });
        }
        let cluster = Self { nodes };
        cluster.mend().await?;
        Ok(cluster)
    }

    /// Calls off the moves that a run that was broken off left half done; what had moved of them were keys of the Lab.
    async fn mend(&self) -> anyhow::Result<()> {
        for node in &self.nodes {
            let mut connection = node.connection.clone();
            let text: String = redis::cmd("CLUSTER").arg("NODES").query_async(&mut connection).await?;
            for slot in moving(&text) {
                let mut stable = redis::cmd("CLUSTER");
                stable.arg("SETSLOT").arg(slot).arg("STABLE").exec_async(&mut connection).await?;
            }
        }
        Ok(())
    }

    /// The slot of a key.
    pub(super) async fn slot(&self, key: &str) -> anyhow::Result<u16> {
        let mut connection = self.nodes[0].connection.clone();
        Ok(redis::cmd("CLUSTER").arg("KEYSLOT").arg(key).query_async(&mut connection).await?)
    }

    /// The node that owns a slot, by its place in `nodes`.
    pub(super) async fn owner(&self, slot: u16) -> anyhow::Result<usize> {
        for (place, node) in self.nodes.iter().enumerate() {
            let mut connection = node.connection.clone();
            let text: String = redis::cmd("CLUSTER").arg("NODES").query_async(&mut connection).await?;
            // What one node says of another may be old.
            if owns(&text, slot) {
                return Ok(place);
            }
        }
        bail!("nobody owns slot {slot}")
    }

    pub(super) async fn redirections(&self) -> anyhow::Result<Redirections> {
        let mut sum = Redirections::default();
        for node in &self.nodes {
            let mut connection = node.connection.clone();
            let info: String = redis::cmd("INFO").arg("errorstats").query_async(&mut connection).await?;
            sum.moved += count_in(&info, "MOVED");
            sum.ask += count_in(&info, "ASK");
            sum.try_again += count_in(&info, "TRYAGAIN");
        }
        Ok(sum)
    }

    /// Moves a slot with its keys, one by one, while clients work.
    pub(super) async fn move_slot(&self, slot: u16, to: usize) -> anyhow::Result<()> {
        let from = self.owner(slot).await?;
        if from == to {
            bail!("slot {slot} is there already");
        }
        let (source, target) = (&self.nodes[from], &self.nodes[to]);
        set_slot(target, slot, "IMPORTING", &source.id).await?;
        set_slot(source, slot, "MIGRATING", &target.id).await?;
        loop {
            let mut connection = source.connection.clone();
            let mut keys = redis::cmd("CLUSTER");
            let keys: Vec<String> = keys.arg("GETKEYSINSLOT").arg(slot).arg(1).query_async(&mut connection).await?;
            let Some(key) = keys.first() else { break };
            let mut migrate = redis::cmd("MIGRATE");
            // What a move that was broken off left there is older.
            migrate.arg("127.0.0.1").arg(target.port).arg(key).arg(0).arg(MIGRATE_TIMEOUT_MS).arg("REPLACE");
            migrate.exec_async(&mut connection).await?;
            tokio::time::sleep(BETWEEN_KEYS).await;
        }
        // The new owner first: until it says so, the old one still sends clients there by ASK.
        set_slot(target, slot, "NODE", &target.id).await?;
        for node in self.nodes.iter().filter(|node| node.id != target.id) {
            set_slot(node, slot, "NODE", &target.id).await?;
        }
        Ok(())
    }
}

impl Cluster {
    /// Waits until all nodes say the same of who owns what. A node that takes slots gets a new epoch by itself; two that do so
    /// before they have heard of one another get the same one, and a slot may end with nobody.
    pub(super) async fn settle(&self) -> anyhow::Result<()> {
        let until = Instant::now() + AGREE_MAX;
        loop {
            let mut said = BTreeSet::new();
            for node in &self.nodes {
                let mut connection = node.connection.clone();
                let text: String = redis::cmd("CLUSTER").arg("NODES").query_async(&mut connection).await?;
                said.insert(claims(&text));
            }
            if said.len() == 1 {
                return Ok(());
            }
            ensure!(Instant::now() < until, "the nodes do not agree: {said:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// Who owns what and since which epoch, in what `CLUSTER NODES` says.
fn claims(nodes: &str) -> BTreeSet<String> {
    let claim = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        [words.get(..1), words.get(6..7), words.get(8..)]
            .into_iter()
            .flatten()
            .flatten()
            .copied()
            .collect::<Vec<_>>()
            .join(" ")
    };
    nodes.lines().map(claim).collect()
}

async fn set_slot(node: &Node, slot: u16, state: &str, other: &str) -> anyhow::Result<()> {
    let mut connection = node.connection.clone();
    let mut set = redis::cmd("CLUSTER");
    Ok(set.arg("SETSLOT").arg(slot).arg(state).arg(other).exec_async(&mut connection).await?)
}

/// Whether the node that says this of the cluster (`CLUSTER NODES`) owns a slot itself.
fn owns(nodes: &str, slot: u16) -> bool {
    let holds = |word: &str| {
        let (first, last) = word.split_once('-').unwrap_or((word, word));
        matches!((first.parse::<u16>(), last.parse::<u16>()), (Ok(first), Ok(last)) if (first..=last).contains(&slot))
    };
    // Id, address, flags, master, ping, pong, epoch and link stand before the slots; a slot that moves stands in brackets.
    let mine = nodes.lines().find(|line| line.split_whitespace().nth(2).is_some_and(|flags| flags.contains("myself")));
    mine.is_some_and(|line| line.split_whitespace().skip(8).any(holds))
}

/// The slots that a node says are on their way from it or to it.
fn moving(nodes: &str) -> Vec<u16> {
    let words = nodes.split_whitespace().filter_map(|word| word.strip_prefix('['));
    words.filter_map(|word| word.split('-').next()?.parse().ok()).collect()
}

/// How often a node answered with this error, in what `INFO errorstats` says.
fn count_in(info: &str, error: &str) -> u64 {
    let line = info.lines().find_map(|line| line.strip_prefix("errorstat_")?.strip_prefix(error)?.strip_prefix(':'));
    line.and_then(|line| line.trim().strip_prefix("count=")?.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_owns_the_slots_of_its_ranges_and_not_those_that_move() {
        let nodes = "\
a1 127.0.0.1:1@11 myself,master - 0 0 1 connected 0-99 200 [300->-b2]
b2 127.0.0.1:2@12 master - 0 1 2 connected 100-199 201-16383 [300-<-a1]
";
        assert!(owns(nodes, 0) && owns(nodes, 99) && owns(nodes, 200));
        assert_eq!(moving(nodes), [300, 300]);
        assert!(!owns(nodes, 150) && !owns(nodes, 201) && !owns(nodes, 300) && !owns("", 1));
    }

    #[test]
    fn nodes_agree_when_they_name_the_same_owners_and_epochs() {
        let one = "a1 h:1@2 myself,master - 0 7 1 connected 0-99\nb2 h:3@4 master - 0 9 2 connected 100-199\n";
        let other = "b2 h:3@4 myself,master - 0 0 2 connected 100-199\na1 h:1@2 master - 0 1 1 connected 0-99\n";
        assert_eq!(claims(one), claims(other));
        assert_ne!(claims(one), claims(&other.replace("0-99", "0-98")));
        assert_ne!(claims(one), claims(&other.replace(" 2 connected", " 3 connected")));
    }

    #[test]
    fn errors_are_counted_by_their_whole_name() {
        let info = "# Errorstats\r\nerrorstat_ASK:count=7\r\nerrorstat_ASKING:count=9\r\nerrorstat_MOVED:count=12\r\n";
        assert_eq!(count_in(info, "ASK"), 7);
        assert_eq!(count_in(info, "MOVED"), 12);
        assert_eq!(count_in(info, "TRYAGAIN"), 0);
    }
}
