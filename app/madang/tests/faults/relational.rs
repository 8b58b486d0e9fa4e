//! A MariaDB server of a test's own, which it may kill, freeze and start again on the same port and data.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::ports;
use crate::waiting::within;

/// How long a server may take to listen, with a recovery before.
const START: Duration = Duration::from_secs(120);
pub(crate) const PASSWORD: &str = "of-this-test";

/// One server, gone with the test.
pub(crate) struct Relational {
    directory: tempfile::TempDir,
    port: u16,
    environment: Vec<(&'static str, String)>,
    process: Option<Child>,
}

impl Relational {
    /// Makes its data directory and starts it.
    pub(crate) fn start() -> Self {
        Self::start_with(&[])
    }

    /// The same with variables.
    pub(crate) fn start_with(environment: &[(&'static str, String)]) -> Self {
        let mut server = Self::described(environment);
        server.give_to_its_user();
        let arguments =
            ["--auth-root-authentication-method=normal", "--skip-test-db", "--skip-log-bin", "--rpm", "--force"];
        let install = program("mariadb-install-db", server.directory.path()).args(arguments).status();
        assert!(install.expect("mariadb-install-db runs").success(), "a data directory is made");
        server.start_again();
        server
    }

    /// Starts one on a data directory that `fill` fills.
    pub(crate) fn start_on(fill: impl FnOnce(&Path)) -> Self {
        let mut server = Self::described(&[]);
        fill(&server.data());
        server.give_to_its_user();
        server.start_again();
        server
    }

    /// Its directory and its settings, and nothing in it yet.
    fn described(environment: &[(&'static str, String)]) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let (path, port) = (directory.path(), ports::free());
        std::fs::create_dir(path.join("data")).expect("a directory");
        std::fs::write(path.join("my.cnf"), settings(port, &path.join("data"), is_root())).expect("a configuration");
        std::fs::write(path.join("users.sql"), accounts()).expect("accounts");
        Self { directory, port, environment: environment.to_vec(), process: None }
    }

    /// The server does not run as root, and must reach its files.
    fn give_to_its_user(&self) {
        if is_root() {
            let path = self.directory.path();
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("permissions");
            let given = Command::new("chown").args(["-R", "mysql:mysql"]).arg(path).status().expect("chown runs");
            assert!(given.success(), "the directory is given to the server");
        }
    }

    /// Where its data is.
    pub(crate) fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    /// Where it listens.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Starts it on what it has, and waits until it listens.
    pub(crate) fn start_again(&mut self) {
        let path = self.directory.path();
        let users = format!("--init-file={}", path.join("users.sql").display());
        let mut server = program("mariadbd", path);
        server.arg(users).envs(self.environment.iter().map(|(name, value)| (name, value)));
        self.process = Some(server.spawn().expect("mariadbd runs"));
        let address = format!("127.0.0.1:{}", self.port);
        within(START, "the relational server listens", || std::net::TcpStream::connect(&address).ok());
    }

    /// kill -9.
    pub(crate) fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    /// Stops it the orderly way.
    pub(crate) fn stop(&mut self) {
        self.signal("TERM");
        let mut process = self.process.take().expect("runs");
        within(START, "the relational server has ended", || process.try_wait().expect("waits"));
    }

    /// Where the files of one database are.
    pub(crate) fn files_of(&self, database: &str) -> PathBuf {
        self.directory.path().join("data").join(database)
    }

    /// Stands still, or goes on, as a machine does that swaps.
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.process.as_ref().expect("runs").id().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &pid]).status().expect("kill runs").success());
    }

    /// How a process reaches it.
    pub(crate) fn url(&self) -> String {
        format!("mysql://root:{PASSWORD}@127.0.0.1:{}", self.port)
    }
}

impl Drop for Relational {
    fn drop(&mut self) {
        self.kill();
    }
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").expect("a process").uid() == 0
}

fn program(name: &str, directory: &Path) -> Command {
    let mut command = Command::new(madang_test_servers::program(name));
    command.arg(format!("--defaults-file={}", directory.join("my.cnf").display()));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn settings(port: u16, data: &Path, is_root: bool) -> String {
    let user = if is_root { "user = mysql\n" } else { "" };
    format!(
        "[mariadbd]\n{user}datadir = {data}\nport = {port}\nbind-address = 127.0.0.1\nsocket = mariadb.sock\n\
         pid-file = mariadb.pid\ntmpdir = {data}\nskip-name-resolve\ninnodb_flush_log_at_trx_commit = 1\n\
         innodb_buffer_pool_size = 64M\ninnodb_log_file_size = 32M\nmax_connections = 300\n\
         character-set-server = utf8mb4\ndefault-time-zone = '+00:00'\n",
        data = data.display()
    )
}

fn accounts() -> String {
    format!(
        "CREATE OR REPLACE USER 'root'@'127.0.0.1' IDENTIFIED BY '{PASSWORD}';\n\
         GRANT ALL PRIVILEGES ON *.* TO 'root'@'127.0.0.1' WITH GRANT OPTION;\n"
    )
}
