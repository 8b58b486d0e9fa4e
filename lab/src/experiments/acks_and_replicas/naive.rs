//! Written down once, and answered: the leader alone has a record, the primary alone has a row.

use mysql_async::Conn;
use mysql_async::prelude::Queryable as _;
use rdkafka::ClientConfig;

/// A producer that is content with the leader. It cannot be idempotent: Kafka demands acks=all for that.
pub(super) fn producer(brokers: &str) -> ClientConfig {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", brokers);
    config.set("acks", "1");
    config.set("linger.ms", "0");
    config.set("message.timeout.ms", "60000");
    config
}

/// Asynchronous replication, MariaDB's default: a commit is answered before any replica has it.
pub(super) async fn replication(primary: &mut Conn) -> mysql_async::Result<()> {
    primary.query_drop("SET GLOBAL rpl_semi_sync_master_enabled = OFF").await
}
