//! Runs a command on the site whose configuration is in a directory, and keeps what it said.

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

pub(crate) use crate::cluster::Ended;
use crate::process::madang;

/// Runs `madang ARGUMENTS` with `input` on its standard input.
pub(crate) fn run(data: &Path, arguments: &[&str], input: &str) -> Ended {
    let mut command = madang(&crate::server::config(data));
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("starts");
    // A command that ends without reading is no failure of the test.
    let _ = child.stdin.take().expect("piped").write_all(input.as_bytes());
    let output = child.wait_with_output().expect("ends");
    Ended {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}
