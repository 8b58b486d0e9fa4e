//! A broker of a test's own, which it may stop, freeze and kill.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use madang_engine_kafka::{KafkaLog, KafkaOptions};

use super::eventually;

/// One Kafka broker in KRaft mode, gone with the test.
pub(crate) struct Broker {
    directory: tempfile::TempDir,
    jars: PathBuf,
    port: u16,
    process: Child,
}

impl Broker {
    /// Starts one.
    pub(crate) async fn start() -> Self {
        Self::start_with("", |_| String::new()).await
    }

    /// Starts one with another listener, and the settings that go with it, for which files may be put in its directory.
    pub(crate) async fn start_with(listener: &str, settings: impl FnOnce(&Path) -> String) -> Self {
        let jars = madang_test_servers::kafka_jars();
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
        let formatted = java(&jars, "kafka.tools.StorageTool").args(format).arg(&file).status().unwrap();
        assert!(formatted.success(), "a broker cannot be formatted: {formatted}");
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
        let options = KafkaOptions { topics: vec!["probe".to_owned()], ..KafkaOptions::new("test", self.bootstrap()) };
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
    let mut command = Command::new(madang_test_servers::program("java"));
    command.args(["-Xmx512m", "-XX:+UseSerialGC", "-cp"]).arg(jars.join("*")).arg(class);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
