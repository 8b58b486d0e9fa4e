//! The files a broker is started with: its configuration and a quiet log.

use std::path::Path;

use crate::stack::state::Server;

/// Warnings only, and not those about what this configuration chose on purpose.
pub(super) const LOGGING: &str = "\
status = error
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d{ISO8601} %-5p %c{1}: %m%n
rootLogger.level = warn
rootLogger.appenderRef.out.ref = out
";

/// The configuration of one broker among `nodes`.
///
/// Internal topics get few partitions and as many copies as there are brokers: a development broker has no crowd to
/// spread, and each partition costs files at the first use. Topics are made by whoever needs them, never by accident.
pub(super) fn broker(server: &Server, nodes: &[Server], folder: &Path) -> String {
    let voters: Vec<_> =
        nodes.iter().map(|node| format!("{}@127.0.0.1:{}", number(node), node.peer_port.unwrap_or_default())).collect();
    let copies = nodes.len().min(3);
    // One broker may be away without stopping the others.
    let in_sync = (copies / 2 + 1).min(copies);
    format!(
        "\
# Written by `cargo xtask stack up`.
process.roles=broker,controller
node.id={id}
controller.quorum.voters={voters}
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{peer_port}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={data}

auto.create.topics.enable=false
num.partitions=8
default.replication.factor={copies}
min.insync.replicas={in_sync}
offsets.topic.num.partitions=8
offsets.topic.replication.factor={copies}
transaction.state.log.num.partitions=8
transaction.state.log.replication.factor={copies}
transaction.state.log.min.isr={in_sync}
share.coordinator.state.topic.num.partitions=8
share.coordinator.state.topic.replication.factor={copies}
share.coordinator.state.topic.min.isr={in_sync}

group.initial.rebalance.delay.ms=0
# A member that was killed is missed within a second where a client asks for it.
group.min.session.timeout.ms=1000
log.index.size.max.bytes=1048576
log.cleaner.dedupe.buffer.size=16777216
",
        id = number(server),
        voters = voters.join(","),
        port = server.port,
        peer_port = server.peer_port.unwrap_or_default(),
        data = folder.join("data").display(),
    )
}

/// The number at the end of a broker's name.
fn number(server: &Server) -> &str {
    server.name.rsplit('-').next().unwrap_or("1")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::part::Part;
    use crate::stack::state::tests::server;

    fn node(number: u16) -> Server {
        Server { peer_port: Some(200 + number), ..server(&format!("kafka-{number}"), Part::Kafka, 100 + number) }
    }

    fn has(text: &str, line: &str) -> bool {
        text.lines().any(|found| found == line)
    }

    #[test]
    fn three_brokers_vote_together_and_can_spare_one() {
        let nodes = [node(1), node(2), node(3)];
        let text = broker(&nodes[1], &nodes, Path::new("/scratch/kafka-2"));
        assert!(has(&text, "node.id=2"));
        assert!(has(&text, "controller.quorum.voters=1@127.0.0.1:201,2@127.0.0.1:202,3@127.0.0.1:203"));
        assert!(has(&text, "listeners=PLAINTEXT://127.0.0.1:102,CONTROLLER://127.0.0.1:202"));
        assert!(has(&text, "offsets.topic.replication.factor=3") && has(&text, "min.insync.replicas=2"));
    }

    #[test]
    fn a_single_broker_waits_for_no_other() {
        let nodes = [node(1)];
        let text = broker(&nodes[0], &nodes, Path::new("/scratch/kafka-1"));
        assert!(has(&text, "offsets.topic.replication.factor=1") && has(&text, "min.insync.replicas=1"));
        assert!(has(&text, "log.dirs=/scratch/kafka-1/data"));
    }
}
