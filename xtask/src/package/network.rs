//! The network of a container: requests are sent from within it, by a process that is in no other namespace of it.

use std::io::Write as _;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::http::{self, Answer};

/// The network that a process is in.
#[derive(Clone, Copy)]
pub(super) struct Network {
    process: u32,
}

impl Network {
    /// That of a process.
    pub(super) fn of(process: u32) -> Self {
        Self { process }
    }

    /// Sends a request.
    pub(super) fn send(
        self,
        address: &str,
        method: &str,
        path: &str,
        token: Option<&str>,
        body: Option<&Value>,
    ) -> Result<Answer> {
        let (host, port) = address.split_once(':').context("an address with its port")?;
        let exchange = format!("exec 3<>/dev/tcp/{host}/{port} && cat >&3 && timeout 30 cat <&3");
        let mut command = Command::new("nsenter");
        // The programs are those of the host.
        command.args(["--target", &self.process.to_string(), "--net", "bash", "-c", &exchange]);
        http::parsed(&with_input(&mut command, &http::written(address, method, path, token, body))?.text)
    }
}

/// What a command said.
pub(super) struct Said {
    pub(super) ok: bool,
    pub(super) text: String,
}

/// Runs a command with an input, to its end.
pub(super) fn with_input(command: &mut Command, input: &str) -> Result<Said> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().context("a command did not start")?;
    // One that ended without reading is known by its end.
    let _ = child.stdin.take().context("an input")?.write_all(input.as_bytes());
    let output = child.wait_with_output()?;
    Ok(Said { ok: output.status.success(), text: String::from_utf8_lossy(&output.stdout).trim().to_owned() })
}
