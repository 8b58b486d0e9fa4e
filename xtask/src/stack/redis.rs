//! One Redis, and a Redis Cluster of three nodes; neither writes to disk, as everything in them can be made again.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use super::part::Part;
use super::site::{Plan, Site};
use super::state::Server;
use super::{answers, programs};

/// The smallest cluster that Redis calls one.
const NODES: usize = 3;
/// The file that says that the nodes were made a cluster once.
const JOINED: &str = "redis-cluster.joined";
/// How long a server may take to answer.
const START_LIMIT_S: u64 = 30;
/// How long the nodes may take to agree on who owns what.
const JOIN_LIMIT_S: u64 = 60;
/// How often they are asked.
const ASK_MS: u64 = 100;

/// Starts the single Redis unless it runs.
pub(crate) fn up(site: &Site<'_>) -> Result<()> {
    let plan = Plan { name: "redis".into(), part: Part::Redis, has_peers: false };
    let servers = super::up::not_running(site, site.place(&[plan])?)?;
    if servers.is_empty() {
        return Ok(());
    }
    site.installer.ensure(Part::Redis, site)?;
    servers.iter().try_for_each(|server| start(site, server))
}

/// Starts the nodes that do not run, and makes a cluster of them unless they are one.
pub(crate) fn cluster_up(site: &Site<'_>) -> Result<()> {
    let plan = |number| Plan { name: format!("redis-cluster-{number}"), part: Part::RedisCluster, has_peers: true };
    let plans: Vec<_> = (1..=NODES).map(plan).collect();
    let nodes = site.place(&plans)?;
    let servers = super::up::not_running(site, nodes.clone())?;
    let joined = site.dir().join(JOINED);
    if servers.is_empty() && joined.exists() {
        return agree(site, &nodes);
    }
    site.installer.ensure(Part::RedisCluster, site)?;
    if !joined.exists() {
        forget(site, &servers);
    }
    super::up::all(servers.iter().map(|server| move || start(site, server)))?;
    if !joined.exists() {
        join(site, &nodes)?;
    }
    agree(site, &nodes)?;
    std::fs::write(joined, "")?;
    Ok(())
}

/// Removes what the nodes know of one another: a cluster that was broken off half made cannot be made again.
fn forget(site: &Site<'_>, nodes: &[Server]) {
    for node in nodes {
        let _ = std::fs::remove_file(site.folder(&node.name).join("nodes.conf"));
    }
}

fn start(site: &Site<'_>, server: &Server) -> Result<()> {
    let folder = site.folder(&server.name);
    let file = folder.join("redis.conf");
    std::fs::write(&file, settings(server, &folder))?;
    let mut command = Command::new(programs::get("redis-server")?);
    command.arg(file);
    site.launch(server, &mut command, Duration::from_secs(START_LIMIT_S), || answers::redis(server.port))
}

fn join(site: &Site<'_>, nodes: &[Server]) -> Result<()> {
    site.say(Part::RedisCluster.name(), "sharing out the slots");
    let mut command = Command::new(programs::get("redis-cli")?);
    command.args(["--cluster", "create"]);
    command.args(nodes.iter().map(|node| format!("127.0.0.1:{}", node.port)));
    command.args(["--cluster-replicas", "0", "--cluster-yes"]);
    let log = site.dir().join("redis-cluster.log");
    programs::run(&mut command, &log, Duration::from_secs(JOIN_LIMIT_S), site.interrupt())
}

/// Waits until every node, not only the one that was told first, sees the whole cluster.
fn agree(site: &Site<'_>, nodes: &[Server]) -> Result<()> {
    let began = std::time::Instant::now();
    for node in nodes {
        while let Err(error) = answers::redis_cluster(node.port) {
            if began.elapsed() >= Duration::from_secs(JOIN_LIMIT_S) {
                return Err(error).with_context(|| format!("{}: no cluster within {JOIN_LIMIT_S} s", node.name));
            }
            site.interrupt().pause(Duration::from_millis(ASK_MS))?;
        }
    }
    site.say(Part::RedisCluster.name(), "is whole");
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
