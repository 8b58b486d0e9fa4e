//! Two MariaDB servers, durable as in production, each with a data directory and a `root` that TCP can reach.

use std::os::unix::fs::chown;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use super::part::Part;
use super::site::{Plan, Site};
use super::state::Server;
use super::{answers, place, programs, secret};

/// How many physical servers the 64 shards are spread over.
const SERVERS: usize = 2;
/// How long a data directory may take to be made, on a machine that has other things to do.
const INSTALL_LIMIT_S: u64 = 180;
/// How long a server may take to answer.
const START_LIMIT_S: u64 = 90;
/// The user that Debian's package makes; MariaDB does not run as root.
const SERVICE_USER: &str = "mysql";

/// Where the servers are, and how one logs in.
pub(crate) fn urls(servers: &[&Server], password: &str) -> Vec<String> {
    servers.iter().map(|server| format!("mysql://root:{password}@127.0.0.1:{}", server.port)).collect()
}

/// Starts what does not run yet, both at once.
pub(crate) fn up(site: &Site<'_>) -> Result<()> {
    let plan = |number| Plan { name: format!("mariadb-{number}"), part: Part::Mysql, has_peers: false };
    let plans: Vec<_> = (1..=SERVERS).map(plan).collect();
    let servers = super::up::not_running(site, site.place(&plans)?)?;
    if servers.is_empty() {
        return Ok(());
    }
    site.installer.ensure(Part::Mysql, site)?;
    super::up::all(servers.iter().map(|server| move || start(site, server)))
}

fn start(site: &Site<'_>, server: &Server) -> Result<()> {
    let folder = site.folder(&server.name);
    let owner = owner()?;
    std::fs::write(folder.join("my.cnf"), settings(server, &folder.join("data"), owner.is_some()))?;
    let users = folder.join("users.sql");
    secret::write_private(&users, &accounts(&site.state().mysql_password))?;
    let data = folder.join("data");
    let is_new = !data.join("mysql").exists();
    if is_new {
        // What a broken-off start left behind is not a database.
        let _ = std::fs::remove_dir_all(&data);
        std::fs::create_dir(&data)?;
    }
    if let Some((user, group)) = owner {
        for path in [&folder, &users, &data] {
            chown(path, Some(user), Some(group)).with_context(|| format!("could not give {} away", path.display()))?;
        }
    }
    if is_new {
        site.say(&server.name, "making its data directory");
        make_data_directory(site, server, &folder)?;
    }
    let mut command = Command::new(programs::get("mariadbd")?);
    command.arg(format!("--defaults-file={}", folder.join("my.cnf").display()));
    command.arg(format!("--init-file={}", users.display()));
    site.launch(server, &mut command, Duration::from_secs(START_LIMIT_S), || answers::mariadb(server.port))
}

fn make_data_directory(site: &Site<'_>, server: &Server, folder: &Path) -> Result<()> {
    let mut command = Command::new(programs::get("mariadb-install-db")?);
    command.arg(format!("--defaults-file={}", folder.join("my.cnf").display())).args([
        "--auth-root-authentication-method=normal",
        "--skip-test-db",
        "--skip-log-bin",
        "--rpm",
    ]);
    let made = programs::run(&mut command, &server.log, Duration::from_secs(INSTALL_LIMIT_S), site.interrupt());
    if made.is_err() {
        // Half a data directory would be taken for a whole one by the next `up`.
        let _ = std::fs::remove_dir_all(folder.join("data"));
    }
    made
}

/// Whom the files must belong to, when they cannot stay ours: root starts MariaDB as the package's own user.
fn owner() -> Result<Option<(u32, u32)>> {
    if place::user_id() != 0 {
        return Ok(None);
    }
    let users = std::fs::read_to_string("/etc/passwd").context("could not read the list of users")?;
    let ids = ids_of(&users, SERVICE_USER).with_context(|| format!("there is no user `{SERVICE_USER}` to run as"))?;
    Ok(Some(ids))
}

/// The user and group numbers of a name in the text of `/etc/passwd`.
fn ids_of(users: &str, name: &str) -> Option<(u32, u32)> {
    let line = users.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    let mut fields = line.split(':').skip(1);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
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

    #[test]
    fn users_are_found_by_their_whole_name() {
        let users = "root:x:0:0:root:/root:/bin/bash\nmysqlx:x:5:6::/:/bin/false\nmysql:x:101:102:,,,:/:/bin/false\n";
        assert_eq!(ids_of(users, "mysql"), Some((101, 102)));
        assert_eq!(ids_of(users, "redis"), None);
    }

    #[test]
    fn urls_carry_the_password_and_one_port_each() {
        let (first, second) = (server("mariadb-1", Part::Mysql, 1), server("mariadb-2", Part::Mysql, 2));
        assert_eq!(
            urls(&[&first, &second], "secret"),
            ["mysql://root:secret@127.0.0.1:1", "mysql://root:secret@127.0.0.1:2"]
        );
    }
}
