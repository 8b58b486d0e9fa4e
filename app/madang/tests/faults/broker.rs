//! A Kafka broker of a test's own, which it may kill and start again on the same port and files.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::waiting::within;
use madang_test_servers::ports;

/// How long a broker may take to listen.
const START: Duration = Duration::from_secs(120);

/// One broker in KRaft mode, gone with the test.
pub(crate) struct Broker {
    directory: tempfile::TempDir,
    jars: PathBuf,
    port: u16,
    /// Where it listens to those who come by another way.
    another: u16,
    process: Option<Child>,
}

impl Broker {
    /// Formats its directory and starts it.
    pub(crate) fn start() -> Self {
        let another = ports::free();
        Self::listening(another, another)
    }

    /// The same, where some clients come in by a port that leads to [`Self::another_port`].
    #[allow(dead_code, reason = "used by the suite of the faults")]
    pub(crate) fn start_with_another_way_in(by: u16) -> Self {
        Self::listening(ports::free(), by)
    }

    fn listening(another: u16, by: u16) -> Self {
        let jars = madang_test_servers::kafka_jars();
        let directory = tempfile::tempdir().expect("a directory");
        let (port, controller) = (ports::free(), ports::free());
        let file = directory.path().join("server.properties");
        std::fs::write(&file, properties(port, controller, (another, by), &directory.path().join("data")))
            .expect("a configuration");
        let format = ["format", "-t", "4L6g3nShT-eMCtK--X86sw", "-c"];
        let formatted = java(&jars, "kafka.tools.StorageTool").args(format).arg(&file).status().expect("java runs");
        assert!(formatted.success(), "the broker's directory is formatted");
        let mut broker = Self { directory, jars, port, another, process: None };
        broker.start_again();
        broker
    }

    /// Starts it on what it has, and waits until it listens.
    pub(crate) fn start_again(&mut self) {
        let file = self.directory.path().join("server.properties");
        self.process = Some(java(&self.jars, "kafka.Kafka").arg(file).spawn().expect("java runs"));
        let address = self.address();
        within(START, "the broker listens", || std::net::TcpStream::connect(&address).ok());
    }

    /// kill -9.
    pub(crate) fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    /// Where it listens to those who come by another way.
    #[allow(dead_code, reason = "used by the suite of the faults")]
    pub(crate) fn another_port(&self) -> u16 {
        self.another
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        self.kill();
    }
}

fn properties(port: u16, controller: u16, (another, by): (u16, u16), data: &Path) -> String {
    format!(
        "process.roles=broker,controller\nnode.id=1\ncontroller.quorum.voters=1@127.0.0.1:{controller}\n\
         listeners=PLAINTEXT://127.0.0.1:{port},ANOTHER://127.0.0.1:{another},CONTROLLER://127.0.0.1:{controller}\n\
         advertised.listeners=PLAINTEXT://127.0.0.1:{port},ANOTHER://127.0.0.1:{by}\n\
         listener.security.protocol.map=PLAINTEXT:PLAINTEXT,ANOTHER:PLAINTEXT,CONTROLLER:PLAINTEXT\n\
         inter.broker.listener.name=PLAINTEXT\nlog.message.timestamp.after.max.ms=9223372036854775807\n\
         controller.listener.names=CONTROLLER\nlog.dirs={}\n\
         offsets.topic.replication.factor=1\noffsets.topic.num.partitions=4\n\
         transaction.state.log.replication.factor=1\ntransaction.state.log.min.isr=1\n\
         group.initial.rebalance.delay.ms=0\nauto.create.topics.enable=false\n",
        data.display()
    )
}

pub(crate) fn java(jars: &Path, class: &str) -> Command {
    let mut command = Command::new(madang_test_servers::program("java"));
    command.args(["-Xmx512m", "-XX:+UseSerialGC", "-cp"]).arg(jars.join("*")).arg(class);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}
