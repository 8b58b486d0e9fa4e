//! A server whose log is in a file, which believes what `X-Forwarded-For` says.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::json;
use tempfile::TempDir;

use crate::command::{clean, madang};
use crate::http::{Answer, Call};
use crate::waiting::eventually;

pub(crate) const PASSWORD: &str = "correct horse battery";

/// The server.
pub(crate) struct Logged {
    child: Child,
    pub(crate) address: String,
    directory: TempDir,
}

impl Logged {
    /// With these settings beside those of every test; its administrator is called keeper.
    pub(crate) fn with(settings: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let log = File::create(directory.path().join("log")).unwrap();
        let said = File::create(directory.path().join("said")).unwrap();
        let mut command = Command::new(madang());
        clean(&mut command).args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(directory.path().join("data"));
        let usual = ["hash_memory_kib=8", "hash_passes=1", "operations_listen=public", "trusted_proxies=127.0.0.1"];
        for setting in usual.iter().chain(&["rate_limit=off"]).chain(settings) {
            command.args(["--set", setting]);
        }
        command.env("MADANG_ADMIN_NAME", "keeper").env("MADANG_ADMIN_PASSWORD", PASSWORD);
        let child = command.stdin(Stdio::null()).stdout(said).stderr(log).spawn().expect("starts");
        let address = eventually("it listens", || {
            let said = read(&directory.path().join("said"));
            Some(said.lines().next()?.strip_prefix("listening on http://")?.to_owned())
        });
        Self { child, address, directory }
    }

    pub(crate) fn start() -> Self {
        Self::with(&[])
    }

    /// The file.
    pub(crate) fn log_file(&self) -> PathBuf {
        self.directory.path().join("log")
    }

    pub(crate) fn log(&self) -> String {
        read(&self.log_file())
    }

    pub(crate) fn page(&self, path: &str) -> Answer {
        Call::new(&self.address, "GET", path).header("accept", "text/html").send()
    }

    /// Tries to sign in by API from an address, with a wrong password.
    pub(crate) fn sign_in(&self, name: &str, from: &str) -> u16 {
        let body = json!({"name": name, "password": "not the password"});
        Call::new(&self.address, "POST", "/api/v1/sessions").header("x-forwarded-for", from).json(&body).send().status
    }

    /// The token of the administrator, and their number.
    pub(crate) fn keeper(&self) -> (String, String) {
        let body = json!({"name": "keeper", "password": PASSWORD});
        let session = Call::new(&self.address, "POST", "/api/v1/sessions").json(&body).send().json(201);
        let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        (text(&session["token"]), text(&session["member"]["member_id"]))
    }
}

impl Drop for Logged {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}
