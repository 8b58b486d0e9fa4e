//! A server in a process of its own, with a data directory of its own, that ends with the test.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::command::{clean, madang};
use crate::http::Call;

const START_TIMEOUT: Duration = Duration::from_secs(30);
const STOP_TIMEOUT: Duration = Duration::from_secs(30);
const EVENTUALLY_TIMEOUT: Duration = Duration::from_secs(20);

pub(crate) const ADMIN: &str = "root_admin";
pub(crate) const PASSWORD: &str = "correct horse battery";

/// How a server is started.
pub(crate) struct Start {
    data: PathBuf,
    environment: Vec<(String, String)>,
    arguments: Vec<String>,
}

/// A running server.
pub(crate) struct TestServer {
    child: Child,
    lines: Mutex<Receiver<String>>,
    pub(crate) address: String,
    data: PathBuf,
    // Removed when the last holder is gone.
    _directory: Option<TempDir>,
}

impl Start {
    pub(crate) fn in_directory(data: &Path) -> Self {
        Self { data: data.to_owned(), environment: Vec::new(), arguments: Vec::new() }
    }

    pub(crate) fn with_admin(self) -> Self {
        self.environment("MADANG_ADMIN_NAME", ADMIN).environment("MADANG_ADMIN_PASSWORD", PASSWORD)
    }

    pub(crate) fn environment(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn set(mut self, key: &str, value: &str) -> Self {
        self.arguments.extend(["--set".to_owned(), format!("{key}={value}")]);
        self
    }

    /// Starts it and waits for the line that says where it listens.
    pub(crate) fn start(self) -> TestServer {
        let mut command = Command::new(madang());
        clean(&mut command).args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(&self.data);
        // Real hashes, but the smallest: what is tested here is everything around them.
        command.args(["--set", "hash_memory_kib=8", "--set", "hash_passes=1"]).args(&self.arguments);
        // Tests ask more often than people do; those about limits set it again.
        command.env("MADANG_RATE_LIMIT", "off");
        command.envs(self.environment).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("starts");
        let stdout = BufReader::new(child.stdout.take().expect("piped"));
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let first = lines.recv_timeout(START_TIMEOUT).expect("says where it listens");
        let address = first.strip_prefix("listening on http://").unwrap_or_else(|| panic!("{first}")).to_owned();
        TestServer { child, lines: Mutex::new(lines), address, data: self.data, _directory: None }
    }
}

impl TestServer {
    /// A fresh site with an administrator.
    pub(crate) fn fresh() -> Self {
        let directory = tempfile::tempdir().expect("temporary directory");
        let mut server = Start::in_directory(&directory.path().join("data")).with_admin().start();
        server._directory = Some(directory);
        server
    }

    pub(crate) fn data(&self) -> &Path {
        &self.data
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The next line on standard output.
    pub(crate) fn line(&self) -> String {
        self.lines.lock().expect("whole").recv_timeout(START_TIMEOUT).expect("another line")
    }

    pub(crate) fn call(&self, method: &str, path: &str) -> Call {
        Call::new(&self.address, method, path)
    }

    pub(crate) fn get(&self, path: &str) -> crate::http::Answer {
        self.call("GET", path).send()
    }

    /// Signs in and gives the token.
    pub(crate) fn sign_in(&self, name: &str) -> String {
        let body = json!({"name": name, "password": PASSWORD});
        let answer = self.call("POST", "/api/v1/sessions").json(&body).send().json(201);
        answer["token"].as_str().expect("a token").to_owned()
    }

    /// Registers a member and signs them in.
    pub(crate) fn member(&self, name: &str) -> (String, String) {
        let body = json!({"name": name, "password": PASSWORD});
        let member = self.call("POST", "/api/v1/members").json(&body).send().json(201);
        (member["member_id"].as_str().expect("an id").to_owned(), self.sign_in(name))
    }

    /// The board that every new site has.
    pub(crate) fn general(&self) -> String {
        let boards = self.get("/api/v1/boards").json(200);
        let general = boards["items"].as_array().expect("a list").iter().find(|board| board["slug"] == "general");
        general.expect("general")["board_id"].as_str().expect("an id").to_owned()
    }

    pub(crate) fn article(&self, board: &str, token: &str, title: &str) -> Value {
        let body = json!({"title": title, "content": "Some *text*."});
        self.call("POST", &format!("/api/v1/boards/{board}/articles")).token(token).json(&body).send().json(201)
    }

    /// A new board whose comments are trees.
    pub(crate) fn trees(&self) -> String {
        let body = json!({"slug": "trees", "title": "Trees", "comment_mode": "tree"});
        let board = self.call("POST", "/api/v1/boards").token(&self.sign_in(ADMIN)).json(&body).send().json(201);
        board["board_id"].as_str().expect("an id").to_owned()
    }

    /// Writes an article and gives its id.
    pub(crate) fn article_id(&self, board: &str, token: &str) -> String {
        self.article(board, token, "about something")["article_id"].as_str().expect("an id").to_owned()
    }

    /// Registers members by the command for load tests; gives their ids and tokens.
    pub(crate) fn seeded_members(&self, count: usize) -> Vec<(i64, String)> {
        let file = tempfile::NamedTempFile::new().expect("temporary file");
        let (count_text, path) = (count.to_string(), file.path().to_str().expect("UTF-8"));
        crate::command::run(&self.data, &["seed", "--members", &count_text, "--tokens", path], "").expect(0);
        let text = std::fs::read_to_string(path).expect("tokens");
        let pair = |line: &str| line.split_once(' ').map(|(id, token)| (id.parse().expect("an id"), token.to_owned()));
        let members: Vec<_> = text.lines().filter_map(pair).collect();
        assert_eq!(members.len(), count);
        members
    }

    /// Looks at an article as a guest with this browser, on a connection of its own.
    pub(crate) fn view(&self, article: &str, browser: &str) -> Value {
        let path = format!("/api/v1/articles/{article}/views");
        self.call("POST", &path).header("user-agent", browser).send().json(200)
    }

    pub(crate) fn view_count(&self, article: &str) -> u64 {
        let views = self.get(&format!("/api/v1/articles/{article}/views")).json(200);
        views["view_count"].as_u64().expect("a count")
    }

    pub(crate) fn signal(&self, name: &str) {
        let status = Command::new("kill").args([&format!("-{name}"), &self.pid().to_string()]).status();
        assert!(status.expect("kill runs").success());
    }

    /// Waits until the process has ended.
    pub(crate) fn ended(&mut self) -> ExitStatus {
        eventually_within(STOP_TIMEOUT, "the server has ended", || self.child.try_wait().expect("waits"))
    }

    /// Stops it the orderly way.
    pub(crate) fn stop(mut self) {
        self.signal("TERM");
        assert!(self.ended().success(), "exits with 0");
    }

    /// Stops it as a power cut would stop the process.
    pub(crate) fn kill(mut self) -> Option<TempDir> {
        self.child.kill().expect("kills");
        self.child.wait().expect("waits");
        self._directory.take()
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether the tests are run at full size.
pub(crate) fn is_long_run() -> bool {
    std::env::var_os("MADANG_TEST_LONG").is_some_and(|value| value == "1")
}

/// Waits for something that can be observed.
pub(crate) fn eventually<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    eventually_within(EVENTUALLY_TIMEOUT, what, look)
}

fn eventually_within<T>(limit: Duration, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + limit;
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(Instant::now() < deadline, "not within {limit:?}: {what}");
        // Between two looks at the observable, not instead of one.
        std::thread::park_timeout(Duration::from_millis(20));
    }
}
