//! Two MariaDB servers, durable as in production, each with a data directory and a `root` that TCP can reach.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use super::probe;
use super::state::{self, Server};
use super::up::Up;
use crate::program;

/// How long a data directory may take to be made, on a machine that has other things to do.
const INSTALL_MAX: Duration = Duration::from_secs(180);
/// How long a server may take to answer.
const START_MAX: Duration = Duration::from_secs(90);
/// The user that Debian's package makes; MariaDB does not run as root.
const SERVICE_USER: &str = "mysql";

/// Starts a server, with a data directory that is made the first time.
pub(crate) fn start(up: &Up<'_>, server: &Server) -> Result<()> {
    let folder = up.folder(&server.name);
    let (data, users, options) = (folder.join("data"), folder.join("users.sql"), folder.join("my.cnf"));
    let is_root = rustix::process::getuid().is_root();
    std::fs::write(&options, settings(server, &data, is_root))?;
    state::write_private(&users, &accounts(&up.state().mysql_password))?;
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

/// The options file. Durability is that of production: a commit is on disk, in the redo log and in the binary log.
fn settings(server: &Server, data: &Path, as_service_user: bool) -> String {
    let number = server.name.bytes().last().map_or(1, |digit| digit.saturating_sub(b'0'));
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
fn accounts(password: &str) -> String {
    format!(
        "\
SET sql_log_bin = 0;
DELETE FROM mysql.global_priv WHERE User = '' OR (User = 'root' AND Host <> '127.0.0.1');
FLUSH PRIVILEGES;
CREATE OR REPLACE USER 'root'@'127.0.0.1' IDENTIFIED BY '{password}';
GRANT ALL PRIVILEGES ON *.* TO 'root'@'127.0.0.1' WITH GRANT OPTION;
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::part::Part;
    use crate::stack::state::tests::server;

    #[test]
    fn a_commit_is_on_disk_before_it_is_answered() {
        let text = settings(&server("mariadb-2", Part::Mysql, 23_306), Path::new("/scratch/data"), false);
        for line in
            ["innodb_flush_log_at_trx_commit = 1", "sync_binlog = 1", "bind-address = 127.0.0.1", "server-id = 2"]
        {
            assert!(text.lines().any(|found| found == line), "{line} is missing");
        }
        assert!(!text.contains("user ="));
    }
}
