//! The program that drives browsers: started once for a test, ended with everything it started.

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// One test with browsers at a time: two of them are as much as a small machine carries.
static TURN: Mutex<()> = Mutex::new(());

/// A running `chromedriver`.
pub(crate) struct Driver {
    child: Child,
    /// Where it listens.
    pub(crate) address: String,
    _turn: MutexGuard<'static, ()>,
}

impl Driver {
    /// Starts it.
    pub(crate) fn start() -> Self {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let mut command = Command::new(madang_test_servers::program("chromedriver"));
        command.args(["--port=0"]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        // A group of its own, so that its browsers end with it.
        let mut child = command.process_group(0).spawn().expect("chromedriver starts");
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines().map_while(Result::ok);
        let started = lines.find(|line| line.contains("started successfully")).expect("chromedriver says its port");
        let port = started.trim_end_matches('.').rsplit(' ').next().expect("a port").to_owned();
        // Read on, so that it never waits for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, address: format!("http://127.0.0.1:{port}"), _turn: turn }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let group = format!("-{}", self.child.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
        let _ = self.child.wait();
    }
}
