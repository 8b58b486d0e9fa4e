//! Two MariaDB servers, durable as in production, each with a data directory and a `root` that TCP can reach, and a replica of
//! each where asked for.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result};

use super::part::{Part, REPLICA_SUFFIX};
use super::probe;
use super::state::{self, Server, State};
use super::up::Up;
use crate::program;

/// How long a data directory may take to be made, on a machine that has other things to do.
const INSTALL_MAX: Duration = Duration::from_secs(180);
/// How long a server may take to answer.
const START_MAX: Duration = Duration::from_secs(90);
/// The user that Debian's package makes; MariaDB does not run as root.
const SERVICE_USER: &str = "mysql";
/// The user by which replicas read the binary log of their primary.
const REPLICATION_USER: &str = "replication";
/// How long a commit waits for a replica that does not answer, in milliseconds, before the primary goes on without: a day, which
/// is never. A primary that goes on alone acknowledges what a failover loses.
const SEMI_SYNC_WAIT_MS: u32 = 86_400_000;
/// The same where alerts are brought about, among them that of a replica that stopped.
const OBSERVED_WAIT_MS: u32 = 10_000;
/// Added to the number of a server, the server id of its replica.
const REPLICA_ID: u8 = 100;

/// Starts a server, with a data directory that is made the first time.
pub(crate) fn start(up: &Up<'_>, server: &Server) -> Result<()> {
    let folder = up.folder(&server.name);
    let (data, users, options) = (folder.join("data"), folder.join("users.sql"), folder.join("my.cnf"));
    let is_root = rustix::process::getuid().is_root();
    let role = Role::of(server, &up.state())?;
    std::fs::write(&options, settings(server, &role, &data, is_root))?;
    state::write_private(&users, &accounts(&up.state().mysql_password, &role))?;
    let is_new = !data.join("mysql").exists();
    if is_new {
        // What a broken-off start left behind is not a database.
        let _ = std::fs::remove_dir_all(&data);
        std::fs::create_dir(&data)?;
    }
    let run = |command: &mut Command| program::run(command, &server.log, INSTALL_MAX, up.interrupt);
    if is_root {
        run(Command::new("chown").args(["-R", &format!("{SERVICE_USER}:")]).arg(&folder))?;
    }
    let options = format!("--defaults-file={}", options.display());
    if is_new {
        up.say(&server.name, "making its data directory");
        let mut command = Command::new(program::get("mariadb-install-db")?);
        command.args([
            &options,
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
            "--skip-log-bin",
            "--rpm",
        ]);
        if let Err(error) = run(&mut command) {
            // Half a data directory would be taken for a whole one by the next `up`.
            let _ = std::fs::remove_dir_all(&data);
            return Err(error);
        }
    }
    let mut command = Command::new(program::get("mariadbd")?);
    command.arg(options).arg(format!("--init-file={}", users.display()));
    up.launch(server, &mut command, START_MAX, || probe::version(server))
}

/// What a server is to others.
#[derive(Debug, PartialEq, Eq)]
enum Role {
    /// Nobody replicates it.
    Alone,
    /// A commit waits until its replica has it, or for so many milliseconds.
    Primary { wait_ms: u32 },
    /// Follows the server on this port.
    Replica { primary_port: u16 },
}

impl Role {
    fn of(server: &Server, state: &State) -> Result<Self> {
        if server.part != Part::MysqlReplica {
            let wait_ms = if state.observe.is_some() { OBSERVED_WAIT_MS } else { SEMI_SYNC_WAIT_MS };
            return Ok(if state.replicas { Self::Primary { wait_ms } } else { Self::Alone });
        }
        let primary = server.name.strip_suffix(REPLICA_SUFFIX).unwrap_or(&server.name);
        let found = state.servers.iter().find(|other| other.name == primary);
        Ok(Self::Replica { primary_port: found.with_context(|| format!("{primary} is unknown"))?.port })
    }

    /// Its lines of the options file.
    fn settings(&self) -> String {
        match self {
            Self::Alone => String::new(),
            // After the binary log is written and before the engine commits: nobody reads what a failover could lose.
            Self::Primary { wait_ms } => format!(
                "rpl_semi_sync_master_enabled = ON\nrpl_semi_sync_master_wait_point = AFTER_SYNC\n\
                 rpl_semi_sync_master_timeout = {wait_ms}\n"
            ),
            // Started by the last line of its users file, which also says whom to follow.
            Self::Replica { .. } => "rpl_semi_sync_slave_enabled = ON\nlog_slave_updates = ON\nrelay-log = relaylog\n\
                                     skip-slave-start\nread_only = ON\n"
                .to_owned(),
        }
    }

    /// Its lines of the users file.
    fn statements(&self, password: &str) -> String {
        match self {
            Self::Alone => String::new(),
            Self::Primary { .. } => format!(
                "CREATE OR REPLACE USER '{REPLICATION_USER}'@'127.0.0.1' IDENTIFIED BY '{password}';\n\
                 GRANT REPLICATION SLAVE ON *.* TO '{REPLICATION_USER}'@'127.0.0.1';\n"
            ),
            Self::Replica { primary_port } => format!(
                "CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = {primary_port}, MASTER_USER = '{REPLICATION_USER}', \
                 MASTER_PASSWORD = '{password}', MASTER_USE_GTID = slave_pos, MASTER_CONNECT_RETRY = 1;\nSTART SLAVE;\n"
            ),
        }
    }
}

/// The number of a server among those of the whole stack.
fn server_id(name: &str) -> u8 {
    let (primary, is_replica) = match name.strip_suffix(REPLICA_SUFFIX) {
        Some(primary) => (primary, true),
        None => (name, false),
    };
    let number = primary.bytes().last().map_or(1, |digit| digit.saturating_sub(b'0'));
    if is_replica { number.saturating_add(REPLICA_ID) } else { number }
}

/// The options file. Durability is that of production: a commit is on disk, in the redo log and in the binary log.
fn settings(server: &Server, role: &Role, data: &Path, as_service_user: bool) -> String {
    let (number, role) = (server_id(&server.name), role.settings());
    let user = if as_service_user { format!("user = {SERVICE_USER}\n") } else { String::new() };
    format!(
        "\
# Written by `cargo xtask stack up`. A path without a slash lies in the data directory; that of a socket must be short.
[mariadbd]
{user}datadir = {data}
port = {port}
bind-address = 127.0.0.1
socket = mariadb.sock
pid-file = mariadb.pid
tmpdir = {data}
skip-name-resolve

innodb_flush_log_at_trx_commit = 1
server-id = {number}
log-bin = binlog
sync_binlog = 1
binlog_format = ROW
max_binlog_size = 128M
binlog_expire_logs_seconds = 3600
{role}
innodb_buffer_pool_size = 256M
innodb_log_file_size = 128M
max_connections = 500
max_allowed_packet = 64M
character-set-server = utf8mb4
default-time-zone = '+00:00'
log-warnings = 1
",
        data = data.display(),
        port = server.port,
    )
}

/// Run at every start, before clients are let in; a statement a line. Leaves users that tests made alone.
fn accounts(password: &str, role: &Role) -> String {
    let role = role.statements(password);
    format!(
        "\
SET sql_log_bin = 0;
DELETE FROM mysql.global_priv WHERE User = '' OR (User = 'root' AND Host <> '127.0.0.1');
FLUSH PRIVILEGES;
CREATE OR REPLACE USER 'root'@'127.0.0.1' IDENTIFIED BY '{password}';
GRANT ALL PRIVILEGES ON *.* TO 'root'@'127.0.0.1' WITH GRANT OPTION;
{role}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::state::tests::server;

    #[test]
    fn a_commit_is_on_disk_before_it_is_answered() {
        let server = server("mariadb-2", Part::Mysql, 23_306);
        let text = settings(&server, &Role::Alone, Path::new("/scratch/data"), false);
        for line in
            ["innodb_flush_log_at_trx_commit = 1", "sync_binlog = 1", "bind-address = 127.0.0.1", "server-id = 2"]
        {
            assert!(text.lines().any(|found| found == line), "{line} is missing");
        }
        assert!(!text.contains("user =") && !text.contains("semi_sync"));
    }

    #[test]
    fn a_replica_follows_the_server_it_is_named_after_and_has_an_id_of_its_own() {
        let mut state = State::new(1, true);
        let primary = Server { port: 23_306, ..server("mariadb-2", Part::Mysql, 0) };
        let replica = server("mariadb-2-replica", Part::MysqlReplica, 23_307);
        assert!(Role::of(&replica, &state).is_err(), "its primary is unknown");
        state.servers = vec![primary.clone(), replica.clone()];
        assert_eq!(Role::of(&primary, &state).unwrap(), Role::Primary { wait_ms: SEMI_SYNC_WAIT_MS });
        let role = Role::of(&replica, &state).unwrap();
        assert_eq!(role, Role::Replica { primary_port: 23_306 });
        assert!(accounts("secret", &role).lines().last().unwrap() == "START SLAVE;");
        assert_eq!((server_id("mariadb-2"), server_id("mariadb-2-replica")), (2, 102));
    }

    #[test]
    fn a_primary_commits_once_its_replica_has_it() {
        let role = Role::Primary { wait_ms: SEMI_SYNC_WAIT_MS };
        let text = settings(&server("mariadb-1", Part::Mysql, 1), &role, Path::new("/d"), false);
        assert!(text.lines().any(|line| line == "rpl_semi_sync_master_wait_point = AFTER_SYNC"));
        assert!(accounts("secret", &role).contains("GRANT REPLICATION SLAVE"));
    }
}
