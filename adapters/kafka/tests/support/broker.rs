//! A broker of a test's own, which it may stop, freeze and kill.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use madang_kafka::{KafkaLog, KafkaOptions};

use super::{eventually, leave_out};

/// One Kafka broker in KRaft mode, gone with the test.
pub(crate) struct Broker {
    directory: tempfile::TempDir,
    jars: PathBuf,
    port: u16,
    process: Child,
}

impl Broker {
    /// Starts one; without Kafka's jars or Java the whole file is left out.
    pub(crate) async fn start() -> Self {
        Self::start_with("", |_| String::new()).await
    }

    /// Starts one with another listener, and the settings that go with it, for which files may be put in its directory.
    pub(crate) async fn start_with(listener: &str, settings: impl FnOnce(&Path) -> String) -> Self {
        // Takes minutes, so it runs where tests with a broker were asked for.
        let _ = super::bootstrap();
        let jars = jars().unwrap_or_else(|| leave_out("MADANG_TEST_KAFKA_LIB names no directory with Kafka's jars"));
        let directory = tempfile::tempdir().unwrap();
        let (port, controller) = (free_port(), free_port());
        let data = directory.path().join("data");
        let properties = format!(
            "process.roles=broker,controller\nnode.id=1\ncontroller.quorum.voters=1@127.0.0.1:{controller}\n\
             listeners=PLAINTEXT://127.0.0.1:{port},{listener}CONTROLLER://127.0.0.1:{controller}\n\
             controller.listener.names=CONTROLLER\n\
             log.dirs={}\noffsets.topic.replication.factor=1\noffsets.topic.num.partitions=4\n\
             transaction.state.log.replication.factor=1\ntransaction.state.log.min.isr=1\n\
             group.initial.rebalance.delay.ms=0\nauto.create.topics.enable=false\n{}\n",
            data.display(),
            settings(directory.path())
        );
        let file = directory.path().join("server.properties");
        std::fs::write(&file, properties).unwrap();
        let format = ["format", "-t", "4L6g3nShT-eMCtK--X86sw", "-c"];
        let formatted = java(&jars, "kafka.tools.StorageTool").args(format).arg(&file).status();
        match formatted {
            Ok(status) if status.success() => {}
            other => leave_out(&format!("a broker cannot be formatted: {other:?}")),
        }
        let process = java(&jars, "kafka.Kafka").arg(&file).spawn().unwrap();
        let broker = Self { directory, jars, port, process };
        broker.answers().await;
        broker
    }

    pub(crate) fn bootstrap(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Where its files are.
    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Waits until it answers.
    pub(crate) async fn answers(&self) {
        let options = KafkaOptions { prefix: "probe-".to_owned(), ..KafkaOptions::new(self.bootstrap()) };
        eventually("the broker answers", || async { KafkaLog::connect(options.clone()).await.is_ok() }).await;
    }

    /// kill -9.
    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// The same broker again, on the same files and port.
    pub(crate) fn start_again(&mut self) {
        let file = self.directory.path().join("server.properties");
        self.process = java(&self.jars, "kafka.Kafka").arg(file).spawn().unwrap();
    }

    /// Stands still, or goes on, as a machine does that swaps.
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([format!("-{name}"), self.process.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn java(jars: &Path, class: &str) -> Command {
    let mut command = Command::new("java");
    command.args(["-Xmx512m", "-XX:+UseSerialGC", "-cp"]).arg(jars.join("*")).arg(class);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Where Kafka's jars are: named by the environment, or where `cargo xtask stack` keeps them.
fn jars() -> Option<PathBuf> {
    let named = std::env::var_os("MADANG_TEST_KAFKA_LIB").map(PathBuf::from);
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache")))?;
    named.into_iter().chain([cache.join("madang")]).find_map(|directory| with_kafka(&directory, 3))
}

/// The first directory at or under this one that holds Kafka itself.
fn with_kafka(directory: &Path, depth: usize) -> Option<PathBuf> {
    let entries: Vec<PathBuf> = std::fs::read_dir(directory).ok()?.flatten().map(|entry| entry.path()).collect();
    let is_kafka = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("kafka_2.13-") && name.ends_with(".jar")
    };
    if entries.iter().any(is_kafka) {
        return Some(directory.to_owned());
    }
    let below = entries.iter().filter(|path| depth > 0 && path.is_dir());
    below.into_iter().find_map(|path| with_kafka(path, depth - 1))
}
