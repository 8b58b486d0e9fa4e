//! A site in a data directory, before it moves to a cluster.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::http::{Call, Http};
use crate::process::{ADMIN, PASSWORD, madang};
use crate::waiting::within;
use madang_test_servers::ports;

const START: Duration = Duration::from_secs(90);
const STOP: Duration = Duration::from_secs(60);

/// The directory, and the server on it while one runs.
pub(crate) struct Home {
    directory: TempDir,
    address: String,
    child: Option<Child>,
}

impl Home {
    /// An empty site.
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        std::fs::write(
            directory.path().join("home.toml"),
            "rate_limit = \"off\"\nscheduling_delay_max_ms = 60000\noperations_listen = \"public\"\n",
        )
        .expect("a configuration");
        Self { directory, address: String::new(), child: None }
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    fn config(&self) -> PathBuf {
        self.directory.path().join("home.toml")
    }

    /// The binary with a command, told where the site is.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = madang(&self.config());
        command.args(arguments).arg("--data").arg(self.data()).stdin(Stdio::null());
        command
    }

    /// A copy to a cluster, in steps so small that it can be interrupted.
    pub(crate) fn copy_to(&self, cluster: &Path) -> Command {
        let cluster = cluster.to_str().expect("a plain path");
        self.command(&["copy", "--from", "embedded", "--slice", "20", "--to", cluster])
    }

    pub(crate) fn serve(&mut self) {
        self.address = format!("127.0.0.1:{}", ports::free());
        let log =
            File::options().create(true).append(true).open(self.directory.path().join("home.log")).expect("a log");
        let mut command = self.command(&["serve", "--listen", &self.address]);
        command.env("MADANG_ADMIN_NAME", ADMIN).env("MADANG_ADMIN_PASSWORD", PASSWORD);
        self.child = Some(command.stdout(log.try_clone().expect("a log")).stderr(log).spawn().expect("starts"));
        within(START, "the site answers", || {
            Http::connect(&self.address).ok()?;
            (self.call("GET", "/healthz").send().status == 200).then_some(())
        });
    }

    /// Stops the server the orderly way.
    pub(crate) fn stop(&mut self) {
        let mut child = self.child.take().expect("runs");
        assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().expect("kill runs").success());
        assert!(within(STOP, "the site has ended", || child.try_wait().expect("waits")).success());
    }

    pub(crate) fn call(&self, method: &str, path: &str) -> Call {
        Call::new(&self.address, method, path)
    }

    pub(crate) fn sign_in(&self, name: &str) -> String {
        let body = json!({"name": name, "password": PASSWORD});
        let answer = self.call("POST", "/api/v1/sessions").json(&body).send().json(201);
        answer["token"].as_str().expect("a token").to_owned()
    }

    /// Registers a member; gives id and token.
    pub(crate) fn member(&self, name: &str) -> (String, String) {
        let body = json!({"name": name, "password": PASSWORD});
        let member = self.call("POST", "/api/v1/members").json(&body).send().json(201);
        (text(&member, "member_id"), self.sign_in(name))
    }

    pub(crate) fn board(&self, slug: &str, mode: &str) -> String {
        let body = json!({"slug": slug, "title": slug, "comment_mode": mode});
        let board = self.call("POST", "/api/v1/boards").token(&self.sign_in(ADMIN)).json(&body).send().json(201);
        text(&board, "board_id")
    }

    pub(crate) fn article(&self, board: &str, token: &str, title: &str) -> String {
        let body = json!({"title": title, "content": "Some *text*, 마당."});
        let call = self.call("POST", &format!("/api/v1/boards/{board}/articles"));
        text(&call.token(token).header("idempotency-key", title).json(&body).send().json(201), "article_id")
    }

    pub(crate) fn comment(&self, article: &str, token: &str, parent: Option<&str>) -> String {
        let body = json!({"content": "a word", "parent_id": parent});
        let call = self.call("POST", &format!("/api/v1/articles/{article}/comments"));
        text(&call.token(token).json(&body).send().json(201), "comment_id")
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        self.call("GET", path).send().json(200)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn text(value: &Value, field: &str) -> String {
    value[field].as_str().unwrap_or_else(|| panic!("no {field} in {value}")).to_owned()
}
