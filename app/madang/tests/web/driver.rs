//! The program that drives browsers: started once for a test, ended with everything it started.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
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
    /// Starts it. Without one the whole suite is left out, loudly; where a stack was promised that is a failure.
    pub(crate) fn start() -> Self {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(program) = find("chromedriver") else { leave_out("there is no chromedriver") };
        let mut command = Command::new(program);
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

/// Finds a command as a shell would.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// Says that a test did not run, where it is seen.
pub(crate) fn notice(why: &str) {
    let line = format!("\nLEFT OUT: tests of the pages in a browser did not run: {why}\n");
    // Not by a macro, whose output is captured.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

fn leave_out(why: &str) -> ! {
    notice(why);
    std::process::exit(i32::from(std::env::var("MADANG_TEST_STACK").is_ok_and(|stack| stack == "1")))
}
