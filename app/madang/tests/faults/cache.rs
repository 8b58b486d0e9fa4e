//! A Redis of a test's own, which it may kill; what it held is gone then.

use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::servers::RedisServers;
use crate::waiting::within;
use madang_test_servers::ports;

/// How long it may take to listen.
const START: Duration = Duration::from_secs(60);

/// One Redis that writes nothing to disk, gone with the test.
pub(crate) struct Cache {
    directory: tempfile::TempDir,
    port: u16,
    process: Option<Child>,
}

impl Cache {
    /// Starts one.
    pub(crate) fn start() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let mut cache = Self { directory, port: ports::free(), process: None };
        cache.start_empty();
        cache
    }

    /// Starts it on the same port, without anything in it.
    pub(crate) fn start_empty(&mut self) {
        let mut command = Command::new(madang_test_servers::program("redis-server"));
        command.args(["--port", &self.port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]);
        command.arg("--dir").arg(self.directory.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.process = Some(command.spawn().expect("redis-server runs"));
        let address = format!("127.0.0.1:{}", self.port);
        within(START, "Redis listens", || std::net::TcpStream::connect(&address).ok());
    }

    /// Writes what it holds to disk, where the next start finds it.
    #[allow(dead_code, reason = "used by the suite of outages")]
    pub(crate) fn snapshot(&self) {
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", self.port)).expect("connects");
        stream.write_all(b"SAVE\r\n").expect("asks");
        let mut answer = [0; 5];
        stream.read_exact(&mut answer).expect("answers");
        assert_eq!(&answer, b"+OK\r\n");
    }

    /// Starts it on the same port with what it held when it last wrote it to disk.
    #[allow(dead_code, reason = "used by the suite of outages")]
    pub(crate) fn start_restored(&mut self) {
        assert!(self.directory.path().join("dump.rdb").exists(), "there is a snapshot");
        self.start_empty();
    }

    /// kill -9.
    pub(crate) fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    /// How processes reach it.
    pub(crate) fn servers(&self) -> RedisServers {
        RedisServers::Single(format!("redis://127.0.0.1:{}", self.port))
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        self.kill();
    }
}
