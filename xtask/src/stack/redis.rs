//! One Redis, and a Redis Cluster of three nodes, each with a replica where asked for; neither writes to disk, as everything in them can be made again.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};

use super::part::Part;
use super::probe;
use super::state::Server;
use super::up::{self, Up};
use crate::program;

/// The file that says that the nodes were made a cluster once.
const JOINED: &str = "redis-cluster.joined";
/// How long a server may take to answer.
const START_MAX: Duration = Duration::from_secs(30);
/// How long the nodes may take to agree on who owns what.
const JOIN_MAX: Duration = Duration::from_secs(60);

/// Starts the single Redis, or one node.
pub(crate) fn start(up: &Up<'_>, server: &Server) -> Result<()> {
    let folder = up.folder(&server.name);
    let file = folder.join("redis.conf");
    std::fs::write(&file, settings(server, &folder))?;
    let mut command = Command::new(program::get("redis-server")?);
    up.launch(server, command.arg(file), START_MAX, || probe::version(server))
}

/// Starts the nodes that do not run, and makes a cluster of them unless they are one.
pub(crate) fn start_cluster(up: &Up<'_>, nodes: &[Server], stopped: &[Server]) -> Result<()> {
    let joined = up.dir.join(JOINED);
    if !joined.exists() {
        // A cluster that was broken off half made cannot be made again with what the nodes know of one another.
        stopped.iter().for_each(|node| drop(std::fs::remove_file(up.folder(&node.name).join("nodes.conf"))));
    }
    up::all(stopped, |node| start(up, node))?;
    if !joined.exists() {
        up.say(Part::RedisCluster.name(), "sharing out the slots");
        let mut command = Command::new(program::get("redis-cli")?);
        command.args(["--cluster", "create"]);
        command.args(nodes.iter().map(|node| format!("127.0.0.1:{}", node.port)));
        let replicas = if up.state().shape().has_redis_replicas() { "1" } else { "0" };
        command.args(["--cluster-replicas", replicas, "--cluster-yes"]);
        program::run(&mut command, &up.dir.join("redis-cluster.log"), JOIN_MAX, up.interrupt)?;
    }
    // Every node, not only the one that was told first, must see the whole cluster.
    for node in nodes {
        if up.wait(JOIN_MAX, || probe::version_with_peers(node, 0), || true)?.is_none() {
            bail!("{}: no cluster within {} s", node.name, JOIN_MAX.as_secs());
        }
    }
    up.say(Part::RedisCluster.name(), "is whole");
    std::fs::write(joined, "")?;
    Ok(())
}

fn settings(server: &Server, folder: &Path) -> String {
    let cluster = server.peer_port.map_or_else(String::new, |peers| {
        format!(
            "\
cluster-enabled yes
cluster-port {peers}
cluster-config-file nodes.conf
cluster-node-timeout 5000
"
        )
    });
    format!(
        "\
# Written by `cargo xtask stack up`.
bind 127.0.0.1
port {port}
dir \"{folder}\"
daemonize no
save \"\"
appendonly no
{cluster}",
        port = server.port,
        folder = folder.display(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::state::tests::server;

    #[test]
    fn only_a_node_of_the_cluster_is_told_of_one() {
        let single = server("redis", Part::Redis, 26_379);
        let folder = Path::new("/scratch/redis");
        assert!(!settings(&single, folder).contains("cluster"));
        let node = Server { peer_port: Some(26_380), ..single };
        assert!(settings(&node, folder).contains("cluster-enabled yes\ncluster-port 26380\n"));
    }
}
