//! The state file: what `up` started, so that `status`, `config` and `down` know it, and nothing else is ever touched.

use std::io::Write as _;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::part::Part;
use super::process::Process;

/// The name of the file in the scratch directory.
pub(crate) const FILE: &str = "stack.json";
/// Grows when an older `xtask` could not read the file.
const FORMAT: u32 = 2;
/// Ports of servers; outgoing connections use 32,768 and up on Linux, so a killed server finds its port free again.
const PORTS: std::ops::Range<u16> = 21_000..31_000;

/// What runs, or ran, in one scratch directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct State {
    format: u32,
    /// How many Kafka brokers there are; their quorum is fixed when they are formatted.
    pub(crate) brokers: u8,
    /// Whether each MariaDB server has a replica; what a primary has purged from its binary log no new replica could get.
    #[serde(default)]
    pub(crate) replicas: bool,
    /// Whether Prometheus and exporters run, and how many times as fast as deployed: brokers tell their figures only when
    /// they were started to.
    #[serde(default)]
    pub(crate) observe: Option<u32>,
    /// The password of `root` on both MariaDB servers: hexadecimal, so that it needs no escaping anywhere.
    pub(crate) mysql_password: String,
    pub(crate) servers: Vec<Server>,
}

/// What a stack consists of; fixed when it is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    /// How many Kafka brokers.
    pub(crate) brokers: u8,
    /// Whether each MariaDB server has a replica.
    pub(crate) replicas: bool,
    /// Whether it is observed, and how many times as fast as deployed.
    pub(crate) observe: Option<u32>,
}

impl Shape {
    /// Whether each node of the Redis Cluster has a replica. An observed stack is about figures, and has enough servers.
    pub(crate) fn has_redis_replicas(self) -> bool {
        self.replicas && self.observe.is_none()
    }
}

/// One server process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Server {
    /// The name in progress lines, and of its folder.
    pub(crate) name: String,
    pub(crate) part: Part,
    /// Where clients connect, on 127.0.0.1.
    pub(crate) port: u16,
    /// Where its peers connect: Redis Cluster's bus, Kafka's controller.
    pub(crate) peer_port: Option<u16>,
    /// Where its figures are told by itself: the JMX exporter in a broker.
    #[serde(default)]
    pub(crate) exporter_port: Option<u16>,
    /// What it said of itself.
    pub(crate) version: String,
    /// The process, once it was started; it may have ended since.
    pub(crate) process: Option<Process>,
    pub(crate) log: PathBuf,
}

impl Server {
    /// Whether the process that `up` started still runs.
    pub(crate) fn runs(&self) -> bool {
        self.process.as_ref().is_some_and(Process::runs)
    }
}

impl State {
    /// A stack of which nothing runs yet.
    pub(crate) fn new(brokers: u8, replicas: bool) -> Self {
        let mysql_password = format!("{:032x}", rand::random::<u128>());
        Self { format: FORMAT, brokers, replicas, observe: None, mysql_password, servers: Vec::new() }
    }

    /// A stack of this shape of which nothing runs yet.
    pub(crate) fn of_shape(shape: Shape) -> Self {
        Self { observe: shape.observe, ..Self::new(shape.brokers, shape.replicas) }
    }

    /// What it consists of.
    pub(crate) fn shape(&self) -> Shape {
        Shape { brokers: self.brokers, replicas: self.replicas, observe: self.observe }
    }

    /// Reads the state of the stack in `dir`; nothing where there is none.
    pub(crate) fn load(dir: &Path) -> Result<Option<Self>> {
        let path = dir.join(FILE);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| format!("could not read {}", path.display())),
        };
        let state: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        if state["format"] != FORMAT {
            bail!("{} has format {}, and this `xtask` reads {FORMAT}", path.display(), state["format"]);
        }
        serde_json::from_value(state).with_context(|| format!("{} is not a state file", path.display()))
    }

    /// Replaces the state file as a whole; only its owner can read it, since it holds a password.
    pub(crate) fn save(&self, dir: &Path) -> Result<()> {
        write_private(&dir.join(FILE), &serde_json::to_string_pretty(self)?)
    }

    /// The servers of a part, in the order of their names.
    pub(crate) fn of(&self, part: Part) -> Vec<&Server> {
        let mut servers: Vec<_> = self.servers.iter().filter(|server| server.part == part).collect();
        servers.sort_by(|a, b| a.name.cmp(&b.name));
        servers
    }

    /// The server of that name; a new one gets ports that it keeps.
    pub(crate) fn reserve(&mut self, name: &str, part: Part, log: PathBuf) -> Result<Server> {
        if let Some(known) = self.servers.iter().find(|server| server.name == name) {
            return Ok(known.clone());
        }
        let port = self.free_port(&[])?;
        let peer_port = part.has_peers().then(|| self.free_port(&[port])).transpose()?;
        let tells = part == Part::Kafka && self.observe.is_some();
        let exporter_port = tells.then(|| self.free_port(&[port, peer_port.unwrap_or(port)])).transpose()?;
        let (name, version) = (name.to_owned(), String::new());
        let server = Server { name, part, port, peer_port, exporter_port, version, process: None, log };
        self.servers.push(server.clone());
        Ok(server)
    }

    /// A port that no server of ours has and that nobody listens on, from a random one on. Nothing holds it until the server
    /// binds: a server that finds its port taken says so in its log.
    pub(crate) fn free_port(&self, besides: &[u16]) -> Result<u16> {
        let ours = self.servers.iter().flat_map(|server| [Some(server.port), server.peer_port, server.exporter_port]);
        let ours: Vec<u16> = ours.flatten().chain(besides.iter().copied()).collect();
        let start = rand::random_range(PORTS);
        let mut ports = (start..PORTS.end).chain(PORTS.start..start);
        let found = ports.find(|port| !ours.contains(port) && is_free(*port));
        found.with_context(|| format!("no port between {} and {} is free on 127.0.0.1", PORTS.start, PORTS.end))
    }

    /// As [`Self::addresses`], with the replica of a MariaDB server in the address of its server: the one that takes writes is used.
    pub(crate) fn members(&self, part: Part, own: Option<&str>) -> Vec<String> {
        let mut servers = self.addresses(part, own);
        if part == Part::Mysql && own.is_none() {
            let replicas = self.of(Part::MysqlReplica);
            for (url, replica) in servers.iter_mut().zip(replicas) {
                url.push_str(&format!(",127.0.0.1:{}", replica.port));
            }
        }
        servers
    }

    /// Where the servers of a part are: a developer's own, or ours if all of them run.
    pub(crate) fn addresses(&self, part: Part, own: Option<&str>) -> Vec<String> {
        if let Some(own) = own {
            return own.split(',').map(|item| item.trim().to_owned()).filter(|item| !item.is_empty()).collect();
        }
        let scheme = match part {
            Part::Mysql | Part::MysqlReplica => format!("mysql://root:{}@", self.mysql_password),
            Part::Redis | Part::RedisCluster => "redis://".to_owned(),
            Part::Kafka | Part::Nginx | Part::Browser | Part::Promtool | Part::HostTools | Part::Observe => {
                String::new()
            }
        };
        let servers = self.of(part);
        if !servers.iter().all(|server| server.runs()) {
            return Vec::new();
        }
        servers.iter().map(|server| format!("{scheme}127.0.0.1:{}", server.port)).collect()
    }
}

/// Whether nobody listens on a port.
pub(crate) fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

/// Writes a file as a whole that nobody but its owner can read, also not for a moment.
pub(crate) fn write_private(path: &Path, text: &str) -> Result<()> {
    let folder = path.parent().context("a file without a folder")?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path).with_context(|| format!("could not write {}", path.display()))?;
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// A server that was never started.
    pub(crate) fn server(name: &str, part: Part, port: u16) -> Server {
        let (name, version) = (name.into(), "1".into());
        Server { name, part, port, peer_port: None, exporter_port: None, version, process: None, log: "log".into() }
    }

    fn running(name: &str, part: Part, port: u16) -> Server {
        Server { process: Process::of(std::process::id()), ..server(name, part, port) }
    }

    #[test]
    fn a_saved_state_is_read_back_whole_and_is_private() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(State::load(dir.path()).unwrap(), None);
        let mut state = State::new(3, true);
        state.servers.push(running("redis-cluster-1", Part::RedisCluster, 1));
        state.save(dir.path()).unwrap();
        state.save(dir.path()).unwrap();
        let read = State::load(dir.path()).unwrap().unwrap();
        assert_eq!(read, state);
        assert!(read.servers[0].runs());
        assert_eq!(std::fs::metadata(dir.path().join(FILE)).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_file_of_another_format_or_of_somebody_else_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        State { format: FORMAT + 1, ..State::new(1, false) }.save(dir.path()).unwrap();
        assert!(State::load(dir.path()).unwrap_err().to_string().contains("has format 3"));
        std::fs::write(dir.path().join(FILE), "notes").unwrap();
        assert!(State::load(dir.path()).is_err());
    }

    #[test]
    fn a_server_keeps_its_ports_which_no_other_has() {
        let mut state = State::new(1, false);
        let names: Vec<String> = (1..=50).map(|number| format!("kafka-{number}")).collect();
        for name in names.iter().chain(&names) {
            state.reserve(name, Part::Kafka, "log".into()).unwrap();
        }
        let ports: std::collections::BTreeSet<_> =
            state.servers.iter().flat_map(|server| [server.port, server.peer_port.unwrap()]).collect();
        assert_eq!(ports.len(), 100);
        assert!(ports.iter().all(|port| PORTS.contains(port)));
    }

    #[test]
    fn a_part_is_found_by_our_servers_if_all_run_or_by_a_developers_own() {
        let mut state = State { mysql_password: "secret".into(), ..State::new(1, false) };
        state.servers = vec![
            running("mariadb-2", Part::Mysql, 2),
            running("mariadb-1", Part::Mysql, 1),
            running("redis-cluster-1", Part::RedisCluster, 3),
            server("redis-cluster-2", Part::RedisCluster, 4),
        ];
        let mysql = ["mysql://root:secret@127.0.0.1:1", "mysql://root:secret@127.0.0.1:2"];
        assert_eq!(state.addresses(Part::Mysql, None), mysql);
        state
            .servers
            .extend([5, 6].map(|port| running(&format!("mariadb-{}-replica", port - 4), Part::MysqlReplica, port)));
        let members = ["mysql://root:secret@127.0.0.1:1,127.0.0.1:5", "mysql://root:secret@127.0.0.1:2,127.0.0.1:6"];
        assert_eq!(state.members(Part::Mysql, None), members);
        assert_eq!(state.addresses(Part::Mysql, None), mysql, "tests use the primaries");
        assert!(state.addresses(Part::RedisCluster, None).is_empty(), "one of them does not run");
        assert_eq!(state.addresses(Part::Kafka, Some("one:9092, two:9092,")), ["one:9092", "two:9092"]);
    }
}
