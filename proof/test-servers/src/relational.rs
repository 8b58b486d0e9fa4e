//! A MariaDB server of a test's own, which it may kill, freeze and start again on the same port and data.

#![allow(clippy::expect_used, clippy::missing_panics_doc, reason = "what a test cannot have fails it")]

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::network::Host;
use crate::{ports, program as find, within};

/// How long a server may take to listen, with a recovery before.
const START: Duration = Duration::from_secs(120);
/// The password of `root`.
pub const PASSWORD: &str = "of-this-test";

/// One server, gone with the test.
pub struct Relational {
    directory: tempfile::TempDir,
    port: u16,
    environment: Vec<(&'static str, String)>,
    process: Option<Child>,
    /// The host that it runs on, where that is not this one.
    host: Option<Host>,
}

impl Relational {
    /// Makes its data directory and starts it.
    #[must_use]
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// The same with variables.
    #[must_use]
    pub fn start_with(environment: &[(&'static str, String)]) -> Self {
        let mut server = Self::described(environment, "", None);
        server.install();
        server.start_again();
        server
    }

    /// The same with lines of its options file, on a host of its own where one is given.
    pub(crate) fn start_set(options: &str, host: Option<Host>) -> Self {
        let mut server = Self::described(&[], options, host);
        server.install();
        server.start_again();
        server
    }

    /// Makes a data directory with nothing in it.
    fn install(&mut self) {
        let server = self;
        server.give_to_its_user();
        let arguments =
            ["--auth-root-authentication-method=normal", "--skip-test-db", "--skip-log-bin", "--rpm", "--force"];
        let install = program("mariadb-install-db", server.directory.path()).args(arguments).status();
        assert!(install.expect("mariadb-install-db runs").success(), "a data directory is made");
    }

    /// Starts one on a data directory that `fill` fills.
    #[must_use]
    pub fn start_on(fill: impl FnOnce(&Path)) -> Self {
        let mut server = Self::described(&[], "", None);
        fill(&server.data());
        server.give_to_its_user();
        server.start_again();
        server
    }

    /// Its directory and its settings, and nothing in it yet.
    fn described(environment: &[(&'static str, String)], options: &str, host: Option<Host>) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let (path, port) = (directory.path(), ports::free());
        std::fs::create_dir(path.join("data")).expect("a directory");
        let address = address_of(host.as_ref());
        let text = settings((address, port), &path.join("data"), is_root(), options);
        std::fs::write(path.join("my.cnf"), text).expect("a configuration");
        std::fs::write(path.join("users.sql"), accounts()).expect("accounts");
        Self { directory, port, environment: environment.to_vec(), process: None, host }
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

    /// Starts it on a data directory that `fill` fills anew, on the same port.
    pub(crate) fn start_anew(&mut self, fill: impl FnOnce(&Path)) {
        self.kill();
        let data = self.data();
        std::fs::remove_dir_all(&data).expect("what it had is removed");
        std::fs::create_dir(&data).expect("a directory");
        fill(&data);
        self.give_to_its_user();
        self.start_again();
    }

    /// Whether it runs.
    #[must_use]
    pub fn runs(&self) -> bool {
        self.process.is_some()
    }

    /// Host and port.
    #[must_use]
    pub fn address(&self) -> String {
        format!("{}:{}", address_of(self.host.as_ref()), self.port)
    }

    pub(crate) fn host(&self) -> Option<&Host> {
        self.host.as_ref()
    }

    /// Runs statements as root by its own client, and returns what they say, a row a line.
    pub fn sql(&self, statements: &str) -> Result<String, String> {
        let mut client = Command::new(find("mariadb"));
        client.args(["--no-defaults", "--batch", "--skip-column-names", "--connect-timeout=2", "--protocol=tcp"]);
        client.args([
            "-h",
            address_of(self.host.as_ref()),
            "-P",
            &self.port.to_string(),
            "-u",
            "root",
            &format!("-p{PASSWORD}"),
        ]);
        let output = client.args(["-e", statements]).stdin(Stdio::null()).output().expect("mariadb runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
        if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
    }

    /// Where its data is.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    /// Where it listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Starts it on what it has, and waits until it listens.
    pub fn start_again(&mut self) {
        let path = self.directory.path();
        let users = format!("--init-file={}", path.join("users.sql").display());
        let mut server = program("mariadbd", path);
        if let Some(host) = &self.host {
            server = on(host, &server);
        }
        server.arg(users).envs(self.environment.iter().map(|(name, value)| (name, value)));
        self.process = Some(server.spawn().expect("mariadbd runs"));
        let address = self.address();
        within(START, "the relational server listens", || std::net::TcpStream::connect(&address).ok());
    }

    /// kill -9.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    /// Stops it the orderly way.
    pub fn stop(&mut self) {
        self.signal("TERM");
        let mut process = self.process.take().expect("runs");
        within(START, "the relational server has ended", || process.try_wait().expect("waits"));
    }

    /// Where the files of one database are.
    #[must_use]
    pub fn files_of(&self, database: &str) -> PathBuf {
        self.directory.path().join("data").join(database)
    }

    /// Stands still, or goes on, as a machine does that swaps.
    pub fn signal(&self, name: &str) {
        let pid = self.process.as_ref().expect("runs").id().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &pid]).status().expect("kill runs").success());
    }

    /// How a process reaches it.
    #[must_use]
    pub fn url(&self) -> String {
        format!("mysql://root:{PASSWORD}@{}", self.address())
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
    let mut command = Command::new(find(name));
    command.arg(format!("--defaults-file={}", directory.join("my.cnf").display()));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// The same command on a host of its own.
fn on(host: &Host, command: &Command) -> Command {
    let mut there = Command::new(find("ip"));
    there.args(["netns", "exec", &host.namespace]).arg(command.get_program()).args(command.get_args());
    there.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    there
}

fn address_of(host: Option<&Host>) -> &str {
    host.map_or("127.0.0.1", |host| host.address.as_str())
}

fn settings((address, port): (&str, u16), data: &Path, is_root: bool, options: &str) -> String {
    let user = if is_root { "user = mysql\n" } else { "" };
    format!(
        "[mariadbd]\n{user}datadir = {data}\nport = {port}\nbind-address = {address}\nsocket = mariadb.sock\n\
         pid-file = mariadb.pid\ntmpdir = {data}\nskip-name-resolve\ninnodb_flush_log_at_trx_commit = 1\n\
         innodb_buffer_pool_size = 64M\ninnodb_log_file_size = 32M\nmax_connections = 300\n\
         character-set-server = utf8mb4\ndefault-time-zone = '+00:00'\n{options}",
        data = data.display()
    )
}

fn accounts() -> String {
    format!(
        "SET sql_log_bin = 0;\nCREATE OR REPLACE USER 'root'@'127.0.0.1' IDENTIFIED BY '{PASSWORD}';\n\
         GRANT ALL PRIVILEGES ON *.* TO 'root'@'127.0.0.1' WITH GRANT OPTION;\n\
         CREATE OR REPLACE USER 'root'@'10.%' IDENTIFIED BY '{PASSWORD}';\n\
         GRANT ALL PRIVILEGES ON *.* TO 'root'@'10.%' WITH GRANT OPTION;\n"
    )
}
