//! Prometheus and the exporters, as deploy/prometheus says: the very files, with the addresses of this stack, and for a test
//! of the alerts with every time in them shorter.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::part::Part;
use super::state::{Server, State, write_private};
use super::up::{self, Up};
use super::{faster, probe};
use crate::{program, workspace};

/// The name of Prometheus among the servers.
pub(crate) const PROMETHEUS: &str = "prometheus";
/// That of the exporter of this host.
pub(crate) const NODE: &str = "node-exporter";
/// That of the one that reads every Redis.
const REDIS: &str = "redis-exporter";
/// Before the name of a relational server, that of its exporter.
const MYSQLD: &str = "mysqld-exporter-";
/// Where a process answers operators unless it is told otherwise.
const MADANG: &str = "127.0.0.1:9180";
/// How long a server may take to answer.
const START_MAX: Duration = Duration::from_secs(60);
/// Parts that are read by exporters.
const READ: [Part; 5] = [Part::Mysql, Part::MysqlReplica, Part::Redis, Part::RedisCluster, Part::Kafka];

/// The names of its servers: Prometheus, and the exporters of what is ours.
pub(super) fn names(relational: impl Iterator<Item = String>) -> Vec<String> {
    let mysqld = relational.map(|server| format!("{MYSQLD}{server}"));
    [PROMETHEUS, NODE, REDIS].map(str::to_owned).into_iter().chain(mysqld).collect()
}

/// Starts those that do not run. Whom they read need not answer yet.
pub(super) fn start(up: &Up<'_>, stopped: &[Server]) -> Result<()> {
    for part in READ.into_iter().filter(|part| part.own().is_none() && up.wants(*part)) {
        up.reserve(part)?;
    }
    up::all(stopped, |server| {
        let mut command = command(up, server)?;
        up.launch(server, &mut command, START_MAX, || probe::version(server))
    })
}

fn command(up: &Up<'_>, server: &Server) -> Result<Command> {
    let state = up.state();
    let listen = format!("--web.listen-address=127.0.0.1:{}", server.port);
    if server.name == PROMETHEUS {
        let folder = up.folder(PROMETHEUS);
        configure(&folder, &state)?;
        let mut command = Command::new(program::get("prometheus")?);
        command.arg(format!("--config.file={}", folder.join("prometheus.yml").display()));
        command.arg(format!("--storage.tsdb.path={}", folder.join("data").display()));
        command.args([&listen, "--log.level=warn"]);
        return Ok(command);
    }
    if server.name == NODE {
        let mut command = Command::new(program::get("prometheus-node-exporter")?);
        command.arg(listen);
        return Ok(command);
    }
    if server.name == REDIS {
        let mut command = Command::new(program::get("prometheus-redis-exporter")?);
        command.args([&listen, "--redis.addr="]);
        return Ok(command);
    }
    let read = server.name.strip_prefix(MYSQLD).and_then(|name| find(&state, name));
    let read = read.with_context(|| format!("{} has nobody to read", server.name))?;
    let mut command = Command::new(program::get("prometheus-mysqld-exporter")?);
    // By the environment, which others cannot read, unlike a command line.
    command.env("DATA_SOURCE_NAME", format!("root:{}@(127.0.0.1:{})/", state.mysql_password, read.port)).arg(listen);
    Ok(command)
}

fn find<'a>(state: &'a State, name: &str) -> Option<&'a Server> {
    state.servers.iter().find(|server| server.name == name)
}

/// Writes the configuration of deploy/prometheus with the addresses of this stack.
fn configure(folder: &Path, state: &State) -> Result<()> {
    let deployed = workspace::root().join("deploy/prometheus");
    let speed = state.observe.unwrap_or(1);
    for name in ["rules", "targets"] {
        std::fs::create_dir_all(folder.join(name))?;
    }
    let copy = |name: &str| -> Result<()> {
        let text = std::fs::read_to_string(deployed.join(name)).with_context(|| format!("deploy/prometheus/{name}"))?;
        Ok(std::fs::write(folder.join(name), faster::by(&text, speed))?)
    };
    copy("prometheus.yml")?;
    for rules in std::fs::read_dir(deployed.join("rules"))? {
        copy(&format!("rules/{}", rules?.file_name().to_string_lossy()))?;
    }
    for (name, targets) in targets(state) {
        write_private(&folder.join(format!("targets/{name}.json")), &targets.to_string())?;
    }
    Ok(())
}

/// What is scraped, by the name of its job.
fn targets(state: &State) -> [(&'static str, Value); 5] {
    let address = |port: u16| format!("127.0.0.1:{port}");
    let exporters = state.of(Part::Observe);
    let of = |name: &str| exporters.iter().find(|server| server.name == name).map_or(0, |server| server.port);
    let mysqld = exporters.iter().filter_map(|exporter| {
        let server = exporter.name.strip_prefix(MYSQLD)?;
        Some(json!({"targets": [address(exporter.port)], "labels": {"server": server}}))
    });
    let redis = [Part::Redis, Part::RedisCluster].into_iter().flat_map(|part| state.of(part));
    let redis: Vec<_> = redis.map(|server| format!("redis://127.0.0.1:{}", server.port)).collect();
    let kafka = state.of(Part::Kafka).into_iter().filter_map(|server| {
        Some(json!({"targets": [address(server.exporter_port?)], "labels": {"server": server.name}}))
    });
    [
        ("madang", json!([{"targets": [MADANG]}])),
        ("mysqld", mysqld.collect()),
        ("redis", json!([{"targets": redis, "labels": {"exporter": address(of(REDIS))}}])),
        ("kafka", kafka.collect()),
        ("node", json!([{"targets": [address(of(NODE))]}])),
    ]
}

/// Has the Prometheus of the stack in `dir` scrape these processes.
pub(crate) fn scrape(dir: &Path, processes: &[String]) -> Result<()> {
    let targets = json!([{"targets": processes}]);
    write_private(&dir.join(PROMETHEUS).join("targets/madang.json"), &targets.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::state::tests::server;

    #[test]
    fn every_server_is_scraped_by_its_exporter() {
        let mut state = State::new(1, true);
        state.servers = vec![
            server("mariadb-1", Part::Mysql, 1),
            server("redis", Part::Redis, 2),
            Server { exporter_port: Some(4), ..server("kafka-1", Part::Kafka, 3) },
            server("mysqld-exporter-mariadb-1", Part::Observe, 5),
            server("node-exporter", Part::Observe, 6),
            server("redis-exporter", Part::Observe, 7),
        ];
        let targets = targets(&state);
        let of = |name| targets.iter().find(|(found, _)| *found == name).unwrap().1.clone();
        assert_eq!(of("mysqld"), json!([{"targets": ["127.0.0.1:5"], "labels": {"server": "mariadb-1"}}]));
        assert_eq!(of("redis"), json!([{"targets": ["redis://127.0.0.1:2"], "labels": {"exporter": "127.0.0.1:7"}}]));
        assert_eq!(of("kafka"), json!([{"targets": ["127.0.0.1:4"], "labels": {"server": "kafka-1"}}]));
        assert_eq!(of("node"), json!([{"targets": ["127.0.0.1:6"]}]));
    }
}
