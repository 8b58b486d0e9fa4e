//! Three Kafka brokers of the run's own, each a controller as well: topics have three copies, and a write needs two of them.

use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

use madang_test_servers::ports;

use crate::broker::java;
use crate::chaos::signal;
use crate::waiting::within;

const COUNT: usize = 3;
/// How long brokers may take to listen.
const START: Duration = Duration::from_secs(180);

pub(crate) struct Brokers {
    directory: tempfile::TempDir,
    jars: PathBuf,
    ports: Vec<u16>,
    processes: Vec<Option<Child>>,
}

impl Brokers {
    /// Formats their directories and starts them.
    pub(crate) fn start() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let ports: Vec<u16> = (0..COUNT).map(|_| ports::free()).collect();
        let controllers: Vec<u16> = (0..COUNT).map(|_| ports::free()).collect();
        let jars = madang_test_servers::kafka_jars();
        for number in 0..COUNT {
            let file = file(directory.path(), number);
            let data = directory.path().join(format!("data-{number}"));
            std::fs::write(&file, properties(number, &ports, &controllers, &data)).expect("a configuration");
            let format = ["format", "-t", "4L6g3nShT-eMCtK--X86sw", "-c"];
            let formatted = java(&jars, "kafka.tools.StorageTool").args(format).arg(&file).status();
            assert!(formatted.expect("java runs").success(), "a broker's directory is formatted");
        }
        let mut brokers = Self { directory, jars, ports, processes: (0..COUNT).map(|_| None).collect() };
        (0..COUNT).for_each(|number| brokers.spawn(number));
        (0..COUNT).for_each(|number| brokers.wait_for(number));
        brokers
    }

    /// Where they listen.
    pub(crate) fn bootstrap(&self) -> String {
        self.ports.iter().map(|port| format!("127.0.0.1:{port}")).collect::<Vec<_>>().join(",")
    }

    /// kill -9.
    pub(crate) fn kill(&mut self, number: usize) {
        if let Some(mut process) = self.processes[number].take() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    /// Stands still, or goes on.
    pub(crate) fn signal(&self, number: usize, name: &str) {
        signal(self.processes[number].as_ref().expect("runs").id(), name);
    }

    /// Starts one on what it has, and waits until it listens.
    pub(crate) fn start_again(&mut self, number: usize) {
        self.spawn(number);
        self.wait_for(number);
    }

    fn spawn(&mut self, number: usize) {
        let mut command = java(&self.jars, "kafka.Kafka");
        self.processes[number] = Some(command.arg(file(self.directory.path(), number)).spawn().expect("java runs"));
    }

    fn wait_for(&self, number: usize) {
        let address = ("127.0.0.1", self.ports[number]);
        within(START, "a broker listens", || std::net::TcpStream::connect(address).ok());
    }
}

impl Drop for Brokers {
    fn drop(&mut self) {
        (0..COUNT).for_each(|number| self.kill(number));
    }
}

fn file(directory: &Path, number: usize) -> PathBuf {
    directory.join(format!("broker-{number}.properties"))
}

fn properties(number: usize, ports: &[u16], controllers: &[u16], data: &Path) -> String {
    let voters: Vec<String> =
        controllers.iter().enumerate().map(|(number, port)| format!("{number}@127.0.0.1:{port}")).collect();
    format!(
        "process.roles=broker,controller\nnode.id={number}\ncontroller.quorum.voters={}\n\
         listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{}\n\
         advertised.listeners=PLAINTEXT://127.0.0.1:{port}\n\
         listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT\n\
         inter.broker.listener.name=PLAINTEXT\ncontroller.listener.names=CONTROLLER\nlog.dirs={}\n\
         default.replication.factor=3\nmin.insync.replicas=2\n\
         offsets.topic.replication.factor=3\noffsets.topic.num.partitions=4\n\
         transaction.state.log.replication.factor=3\ntransaction.state.log.min.isr=2\n\
         group.initial.rebalance.delay.ms=0\nauto.create.topics.enable=false\n",
        voters.join(","),
        controllers[number],
        data.display(),
        port = ports[number],
    )
}
