//! Servers of a test's own, which it may kill: one, or a small cluster.

#![allow(dead_code, reason = "each test program uses a part of it")]

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use madang_engine_redis::RedisOptions;

use crate::support::{connect, eventually, patient};

/// Slots of a cluster.
const SLOTS: u16 = 16_384;

/// A server that loses everything when it is killed.
pub(crate) struct OwnServer {
    port: u16,
    /// Of a node of a cluster.
    bus_port: Option<u16>,
    directory: tempfile::TempDir,
    child: Option<Child>,
}

impl OwnServer {
    /// A port on which nothing runs yet.
    pub(crate) fn not_running() -> Self {
        Self::with_bus_port(None)
    }

    fn with_bus_port(bus_port: Option<u16>) -> Self {
        Self { port: free_port(), bus_port, directory: tempfile::tempdir().unwrap(), child: None }
    }

    pub(crate) fn options(&self) -> RedisOptions {
        quicker(patient(RedisOptions::single("t", self.url())))
    }

    fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Starts it, empty; a node of a cluster knows its slots again.
    pub(crate) async fn start(&mut self) {
        let mut command = Command::new(madang_test_servers::program("redis-server"));
        command.args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]);
        command.args(["--port", &self.port.to_string(), "--dir"]).arg(self.directory.path());
        if let Some(bus_port) = self.bus_port {
            command.args(["--cluster-enabled", "yes", "--cluster-require-full-coverage", "no"]);
            command.args(["--cluster-config-file", "nodes.conf", "--cluster-port", &bus_port.to_string()]);
        }
        self.child = Some(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        let port = self.port;
        eventually("the server answers", || async move {
            tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_ok()
        })
        .await;
    }

    /// It takes connections, and answers nothing, until it is killed.
    pub(crate) fn hang(&self) {
        let pid = self.child.as_ref().unwrap().id().to_string();
        assert!(Command::new("kill").args(["-STOP", &pid]).status().unwrap().success());
    }

    /// `kill -9`: everything is lost.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A cluster of two nodes, half of the slots each, whose nodes answer for their own half when the other is away.
pub(crate) struct OwnCluster {
    pub(crate) nodes: [OwnServer; 2],
}

impl OwnCluster {
    pub(crate) async fn running() -> Self {
        let node = || OwnServer::with_bus_port(Some(free_port()));
        let mut nodes = [node(), node()];
        for (node, slots) in nodes.iter_mut().zip([[0, SLOTS / 2 - 1], [SLOTS / 2, SLOTS - 1]]) {
            node.start().await;
            let mut connection = connect(&node.url()).await;
            let mut add = redis::cmd("CLUSTER");
            add.arg("ADDSLOTSRANGE").arg(&slots).exec_async(&mut connection).await.unwrap();
        }
        let mut meet = redis::cmd("CLUSTER");
        meet.arg("MEET").arg("127.0.0.1").arg(nodes[1].port).arg(nodes[1].bus_port);
        meet.exec_async(&mut connect(&nodes[0].url()).await).await.unwrap();
        for node in &nodes {
            let url = node.url();
            eventually("every node knows every slot", || async {
                let mut connection = connect(&url).await;
                let info: String = redis::cmd("CLUSTER").arg("INFO").query_async(&mut connection).await.unwrap();
                info.contains("cluster_state:ok") && info.contains(&format!("cluster_slots_assigned:{SLOTS}"))
            })
            .await;
        }
        Self { nodes }
    }

    pub(crate) fn options(&self) -> RedisOptions {
        quicker(patient(RedisOptions::cluster("t", self.nodes.iter().map(OwnServer::url).collect())))
    }

    /// Moves a slot and its keys, one by one, from the node that has it to the other.
    pub(crate) async fn move_slot(&self, slot: u16, from: usize) {
        let (source, target) = (&self.nodes[from], &self.nodes[1 - from]);
        let (mut source_conn, mut target_conn) = (connect(&source.url()).await, connect(&target.url()).await);
        let my_id = || redis::cmd("CLUSTER").arg("MYID").to_owned();
        let source_id: String = my_id().query_async(&mut source_conn).await.unwrap();
        let target_id: String = my_id().query_async(&mut target_conn).await.unwrap();
        let set = |state: &str, id: &str| redis::cmd("CLUSTER").arg("SETSLOT").arg(slot).arg(state).arg(id).to_owned();
        set("IMPORTING", &source_id).exec_async(&mut target_conn).await.unwrap();
        set("MIGRATING", &target_id).exec_async(&mut source_conn).await.unwrap();
        loop {
            let mut keys = redis::cmd("CLUSTER");
            keys.arg("GETKEYSINSLOT").arg(slot).arg(1);
            let keys: Vec<String> = keys.query_async(&mut source_conn).await.unwrap();
            let Some(key) = keys.first() else { break };
            let mut migrate = redis::cmd("MIGRATE");
            migrate.arg("127.0.0.1").arg(target.port).arg(key).arg(0).arg(5_000);
            migrate.exec_async(&mut source_conn).await.unwrap();
            // So that callers meet a slot of which only a part has moved.
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
        set("NODE", &target_id).exec_async(&mut target_conn).await.unwrap();
        set("NODE", &target_id).exec_async(&mut source_conn).await.unwrap();
    }

    /// Waits until both nodes say the same of who owns what, and since which epoch: two that take slots before they have
    /// heard of one another would get the same epoch.
    pub(crate) async fn settle(&self) {
        eventually("both nodes agree", || async {
            let mut said = Vec::new();
            for node in &self.nodes {
                let mut connection = connect(&node.url()).await;
                let text: String = redis::cmd("CLUSTER").arg("NODES").query_async(&mut connection).await.unwrap();
                let claim = |line: &str| {
                    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
                    [&words[..1], &words[6..7], &words[8..]].concat()
                };
                let mut claims: Vec<Vec<String>> = text.lines().map(claim).collect();
                claims.sort();
                said.push(claims);
            }
            said[0] == said[1]
        })
        .await;
    }

    /// The slot of a key.
    pub(crate) async fn slot(&self, key: &str) -> u16 {
        let mut connection = connect(&self.nodes[0].url()).await;
        redis::cmd("CLUSTER").arg("KEYSLOT").arg(key).query_async(&mut connection).await.unwrap()
    }
}

/// A server that is away must not cost a test long.
fn quicker(options: RedisOptions) -> RedisOptions {
    RedisOptions { response_timeout_ms: 2_000, connect_timeout_ms: 2_000, ..options }
}

/// Below the ports that the system gives to outgoing connections, so that none of those takes it meanwhile.
fn free_port() -> u16 {
    let ports = std::iter::repeat_with(|| 10_000 + rand::random::<u16>() % 10_000);
    ports.take(1_000).find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).unwrap()
}
