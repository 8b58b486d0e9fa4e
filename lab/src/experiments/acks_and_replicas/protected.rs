//! Written down twice before it is answered: every in-sync replica has a record and two are needed, a replica has a row.

use mysql_async::Conn;
use mysql_async::prelude::Queryable as _;
use rdkafka::ClientConfig;

/// How long a commit waits for its replica, in milliseconds: with a shorter wait the primary goes on alone, and the promise
/// is gone exactly when it matters.
const WAIT_MS: u32 = 3_600_000;

/// A producer that waits for every in-sync replica, and whose retries double nothing.
pub(super) fn producer(brokers: &str) -> ClientConfig {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", brokers);
    config.set("acks", "all");
    config.set("enable.idempotence", "true");
    config.set("linger.ms", "0");
    config.set("message.timeout.ms", "60000");
    config
}

/// Semi-synchronous replication: a commit is visible and answered only once a replica has it in its relay log.
pub(super) async fn replication(primary: &mut Conn) -> mysql_async::Result<()> {
    primary.query_drop(format!("SET GLOBAL rpl_semi_sync_master_timeout = {WAIT_MS}")).await?;
    primary.query_drop("SET GLOBAL rpl_semi_sync_master_wait_point = AFTER_SYNC").await?;
    primary.query_drop("SET GLOBAL rpl_semi_sync_master_enabled = ON").await
}
