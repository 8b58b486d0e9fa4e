//! The state file: what `up` started, so that `status`, `config` and `down` know it, and nothing else is ever touched.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::part::Part;
use super::process::Process;
use super::secret;

/// The name of the file in the scratch directory.
pub(crate) const FILE: &str = "stack.json";

/// Grows when an older `xtask` could not read the file.
const FORMAT: u32 = 1;

/// What runs, or ran, in one scratch directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct State {
    format: u32,
    /// How many Kafka brokers there are; their quorum is fixed when they are formatted.
    pub(crate) brokers: u8,
    /// The password of `root` on both MariaDB servers.
    pub(crate) mysql_password: String,
    /// The name under which the brokers' directories are formatted.
    pub(crate) kafka_cluster_id: String,
    pub(crate) servers: Vec<Server>,
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
    /// What it said of itself, or the version of what it was made from.
    pub(crate) version: String,
    /// The process, once it was started; it may have ended since.
    pub(crate) process: Option<Process>,
    /// How it was started, program first, for tests that end and restart it.
    pub(crate) command: Vec<String>,
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
    pub(crate) fn new(brokers: u8) -> Result<Self> {
        Ok(Self {
            format: FORMAT,
            brokers,
            mysql_password: secret::password()?,
            kafka_cluster_id: secret::cluster_id()?,
            servers: Vec::new(),
        })
    }

    /// Reads the state of the stack in `dir`; nothing where there is none.
    pub(crate) fn load(dir: &Path) -> Result<Option<Self>> {
        let path = dir.join(FILE);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| format!("could not read {}", path.display())),
        };
        let state: Self =
            serde_json::from_str(&text).with_context(|| format!("{} is not a state file", path.display()))?;
        if state.format != FORMAT {
            bail!("{} has format {}, and this `xtask` reads {FORMAT}", path.display(), state.format);
        }
        Ok(Some(state))
    }

    /// Replaces the state file as a whole; only its owner can read it, since it holds a password.
    pub(crate) fn save(&self, dir: &Path) -> Result<()> {
        let next = dir.join(format!("{FILE}.next"));
        secret::write_private(&next, &serde_json::to_string_pretty(self)?)?;
        std::fs::rename(&next, dir.join(FILE)).with_context(|| format!("could not replace {FILE}"))
    }

    /// The server of that name.
    pub(crate) fn server(&self, name: &str) -> Option<&Server> {
        self.servers.iter().find(|server| server.name == name)
    }

    /// The servers of a part, in the order of their names.
    pub(crate) fn of(&self, part: Part) -> Vec<&Server> {
        let mut servers: Vec<_> = self.servers.iter().filter(|server| server.part == part).collect();
        servers.sort_by(|a, b| a.name.cmp(&b.name));
        servers
    }

    /// The same without the parts of which a server does not run.
    pub(crate) fn running(&self) -> Self {
        let is_whole = |part| self.of(part).into_iter().all(Server::runs);
        let servers = self.servers.iter().filter(|server| is_whole(server.part)).cloned().collect();
        Self { servers, ..self.clone() }
    }

    /// Every port that belongs to this stack, whether its server runs or not.
    pub(crate) fn ports(&self) -> Vec<u16> {
        self.servers.iter().flat_map(|server| [Some(server.port), server.peer_port]).flatten().collect()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// A server that was never started.
    pub(crate) fn server(name: &str, part: Part, port: u16) -> Server {
        Server {
            name: name.into(),
            part,
            port,
            peer_port: None,
            version: "1".into(),
            process: None,
            command: vec!["cat".into()],
            log: "log".into(),
        }
    }

    fn scratch() -> PathBuf {
        let dir = std::env::temp_dir().join(format!("madang-state-{}", secret::password().unwrap()));
        std::fs::create_dir(&dir).unwrap();
        dir
    }

    #[test]
    fn a_saved_state_is_read_back_whole_and_is_private() {
        let dir = scratch();
        assert_eq!(State::load(&dir).unwrap(), None);
        let mut state = State::new(3).unwrap();
        state.servers.push(Server {
            peer_port: Some(2),
            process: Process::of(std::process::id()),
            ..server("redis-cluster-1", Part::RedisCluster, 1)
        });
        state.save(&dir).unwrap();
        state.save(&dir).unwrap();
        let read = State::load(&dir).unwrap().unwrap();
        assert_eq!(read, state);
        assert!(read.servers[0].runs());
        assert_eq!(read.ports(), [1, 2]);
        assert_eq!(std::fs::metadata(dir.join(FILE)).unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn a_file_of_another_format_or_of_somebody_else_is_refused() {
        let dir = scratch();
        let newer = State { format: FORMAT + 1, ..State::new(1).unwrap() };
        newer.save(&dir).unwrap();
        assert!(State::load(&dir).unwrap_err().to_string().contains("has format 2"));
        std::fs::write(dir.join(FILE), "{}").unwrap();
        assert!(State::load(&dir).unwrap_err().to_string().contains("not a state file"));
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn a_part_of_which_one_server_is_down_does_not_run() {
        let mut state = State::new(1).unwrap();
        let up = |name, part| Server { process: Process::of(std::process::id()), ..server(name, part, 1) };
        state.servers =
            vec![up("mariadb-1", Part::Mysql), server("mariadb-2", Part::Mysql, 2), up("redis", Part::Redis)];
        let running = state.running();
        assert_eq!(running.servers.iter().map(|server| server.name.as_str()).collect::<Vec<_>>(), ["redis"]);
    }

    #[test]
    fn servers_of_a_part_come_in_the_order_of_their_names() {
        let mut state = State::new(1).unwrap();
        state.servers = vec![
            server("mariadb-2", Part::Mysql, 2),
            server("redis", Part::Redis, 3),
            server("mariadb-1", Part::Mysql, 1),
        ];
        let ports: Vec<_> = state.of(Part::Mysql).iter().map(|server| server.port).collect();
        assert_eq!(ports, [1, 2]);
        assert_eq!(state.server("redis").unwrap().port, 3);
    }
}
