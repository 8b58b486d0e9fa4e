//! Runs a command to its end and keeps what it said.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// The binary under test.
pub(crate) fn madang() -> &'static str {
    env!("CARGO_BIN_EXE_madang")
}

/// Takes away settings of whoever runs the tests.
pub(crate) fn clean(command: &mut Command) -> &mut Command {
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("MADANG_")) {
        command.env_remove(name);
    }
    command
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
    }
}

/// Runs `madang ARGUMENTS --data DATA` with `input` on its standard input.
pub(crate) fn run(data: &Path, arguments: &[&str], input: &str) -> Ended {
    let mut command = Command::new(madang());
    clean(&mut command).args(arguments).arg("--data").arg(data);
    command.args(["--set", "hash_memory_kib=8", "--set", "hash_passes=1"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    // A command that ends without reading is no failure of the test.
    let _ = child.stdin.take().expect("piped").write_all(input.as_bytes());
    let output = child.wait_with_output().expect("ends");
    Ended {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}
