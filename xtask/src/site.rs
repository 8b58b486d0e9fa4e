//! The server that is asked: the real binary on a scratch directory, with people who may do different things.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::workspace;

const ADMINISTRATOR: &str = "contract_admin";
const PASSWORD: &str = "only for this run";
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// A running server.
pub(crate) struct Site {
    server: Child,
    address: String,
    /// Removed with the site.
    scratch: tempfile::TempDir,
}

impl Site {
    /// Starts it, and waits until it listens.
    pub(crate) fn start() -> Result<Self> {
        let scratch = tempfile::tempdir().context("could not make a scratch directory")?;
        let log = std::fs::File::create(scratch.path().join("server.log"))?;
        let mut command = Command::new(workspace::target().join("debug/madang"));
        command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(scratch.path().join("data"));
        command.args(["--set", "operations_listen=public"]);
        // The smallest hashes: what is asked here is everything around them.
        for setting in ["rate_limit=off", "scheduling_delay_max_ms=60000", "hash_memory_kib=8", "hash_passes=1"] {
            command.args(["--set", setting]);
        }
        command.env("MADANG_ADMIN_NAME", ADMINISTRATOR).env("MADANG_ADMIN_PASSWORD", PASSWORD);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
        let mut server = command.spawn().context("could not start the server")?;
        let output = server.stdout.take().context("the server's output is not ours to read")?;
        let mut site = Self { server, address: String::new(), scratch };
        let mut lines = BufReader::new(output).lines();
        while let Some(line) = lines.next().transpose()? {
            if let Some(address) = line.strip_prefix("listening on http://") {
                address.clone_into(&mut site.address);
                // Whatever else it says must not fill its pipe.
                std::thread::spawn(move || lines.for_each(drop));
                return Ok(site);
            }
        }
        bail!("the server did not start; its log is:\n{}", site.log())
    }

    /// Where it is.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Where it describes itself.
    pub(crate) fn description_url(&self) -> String {
        format!("{}/openapi.json", self.url())
    }

    /// How it describes itself.
    pub(crate) fn description(&self) -> Result<String> {
        let answer = self.exchange("GET /openapi.json HTTP/1.1\r\nhost: site\r\nconnection: close\r\n\r\n")?;
        let (head, body) = answer.split_once("\r\n\r\n").context("half an answer")?;
        if !head.starts_with("HTTP/1.1 200") {
            bail!("GET /openapi.json: {head}");
        }
        Ok(body.to_owned())
    }

    /// Name and password of the administrator.
    pub(crate) fn administrator_sign_in(&self) -> (&'static str, &'static str) {
        (ADMINISTRATOR, PASSWORD)
    }

    /// A directory that goes with the site.
    pub(crate) fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// A token of the administrator.
    pub(crate) fn administrator(&self) -> Result<String> {
        self.sign_in(ADMINISTRATOR)
    }

    /// A token of a new member.
    pub(crate) fn member(&self, name: &str) -> Result<String> {
        self.post("/api/v1/members", &json!({"name": name, "password": PASSWORD}))?;
        self.sign_in(name)
    }

    /// Fails if the server has ended, or logged a defect.
    pub(crate) fn is_alive(&self) -> Result<()> {
        self.exchange("GET /healthz HTTP/1.1\r\nhost: site\r\nconnection: close\r\n\r\n")
            .with_context(|| format!("the server is gone; its log is:\n{}", self.log()))?;
        let log = self.log();
        match log.lines().find(|line| line.contains(" ERROR ") || line.contains("panicked")) {
            Some(line) => bail!("the server logged a defect: {line}"),
            None => Ok(()),
        }
    }

    fn sign_in(&self, name: &str) -> Result<String> {
        let session = self.post("/api/v1/sessions", &json!({"name": name, "password": PASSWORD}))?;
        Ok(session["token"].as_str().context("no token in the answer")?.to_owned())
    }

    fn post(&self, path: &str, body: &Value) -> Result<Value> {
        let body = body.to_string();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: site\r\nconnection: close\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n",
            body.len()
        );
        let answer = self.exchange(&(head + &body))?;
        let (head, body) = answer.split_once("\r\n\r\n").context("half an answer")?;
        if !head.starts_with("HTTP/1.1 201") {
            bail!("POST {path}: {answer}");
        }
        serde_json::from_str(body).context("the answer is no JSON")
    }

    fn exchange(&self, request: &str) -> Result<String> {
        let mut stream = TcpStream::connect(&self.address)?;
        stream.set_read_timeout(Some(ANSWER_MAX))?;
        stream.write_all(request.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.scratch.path().join("server.log")).unwrap_or_default()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
