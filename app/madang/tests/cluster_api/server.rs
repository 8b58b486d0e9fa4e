//! A server as the tests of the interface start it: where they name a data directory, a configuration for a site of its own
//! on the shared servers is kept there.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) use crate::process::{ADMIN, PASSWORD};

use crate::cluster::file_for_one;
use crate::http::{Answer, Call};
use crate::process::Process;
use crate::servers::Servers;

/// How a server is started.
pub(crate) struct Start {
    data: PathBuf,
    settings: Vec<String>,
}

/// A running server.
pub(crate) struct TestServer {
    process: Process,
    pub(crate) address: String,
    data: PathBuf,
    // Removed when the last holder is gone.
    directory: Option<TempDir>,
}

/// The configuration of the site of a directory; made when it is not there, and beside a directory that is not.
pub(crate) fn config(data: &Path) -> PathBuf {
    let config = if data.exists() { data.join("cluster.toml") } else { data.with_extension("toml") };
    if !config.exists() {
        std::fs::write(&config, file_for_one(&Servers::of_environment())).expect("a configuration");
    }
    config
}

impl Start {
    pub(crate) fn in_directory(data: &Path) -> Self {
        Self { data: data.to_owned(), settings: Vec::new() }
    }

    /// Every server of a cluster is started with one.
    pub(crate) fn with_admin(self) -> Self {
        self
    }

    pub(crate) fn set(mut self, key: &str, value: &str) -> Self {
        self.settings.push(format!("{key}={value}"));
        self
    }

    /// Starts it and waits until it answers.
    pub(crate) fn start(self) -> TestServer {
        let mut process = Process::new("all", &config(&self.data), self.data.join("server.log"));
        self.settings.iter().for_each(|setting| process.set(setting));
        process.spawn();
        process.wait_until_up();
        TestServer { address: process.address(), process, data: self.data, directory: None }
    }
}

impl TestServer {
    /// A fresh site with an administrator.
    pub(crate) fn fresh() -> Self {
        let directory = tempfile::tempdir().expect("temporary directory");
        let mut server = Start::in_directory(directory.path()).start();
        server.directory = Some(directory);
        server
    }

    pub(crate) fn data(&self) -> &Path {
        &self.data
    }

    pub(crate) fn call(&self, method: &str, path: &str) -> Call {
        self.process.call(method, path)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.process.get(path)
    }

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

    /// Writes an article and gives its id.
    pub(crate) fn article_id(&self, board: &str, token: &str) -> String {
        self.article(board, token, "about something")["article_id"].as_str().expect("an id").to_owned()
    }

    /// Looks at an article as a guest with this browser.
    pub(crate) fn view(&self, article: &str, browser: &str) -> Value {
        let path = format!("/api/v1/articles/{article}/views");
        self.call("POST", &path).header("user-agent", browser).send().json(200)
    }

    pub(crate) fn view_count(&self, article: &str) -> u64 {
        let views = self.get(&format!("/api/v1/articles/{article}/views")).json(200);
        views["view_count"].as_u64().expect("a count")
    }

    /// Stops it the orderly way.
    pub(crate) fn stop(mut self) {
        self.process.stop();
    }

    /// Stops it as a power cut would stop the process.
    pub(crate) fn kill(mut self) -> Option<TempDir> {
        self.process.kill();
        self.directory.take()
    }
}

/// The end of the log is shown when a test fails.
impl Drop for TestServer {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("==> the end of the log:\n{}", self.process.tail());
        }
    }
}
