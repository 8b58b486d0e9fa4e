//! Makes the topics of the site, and those of this process's groups with their ladders, once a broker answers.

use std::convert::Infallible;
use std::time::Duration;

use madang_engine_kafka::{ConnectError, KafkaLog};
use madang_messaging::{ConsumerConfig, Stop};
use tracing::{error, info, warn};

/// Between two attempts.
const AGAIN: Duration = Duration::from_secs(1);
/// How long a start waits for a broker that answers to make them: groups that join later join more than once.
const AT_START_MAX: Duration = Duration::from_secs(15);

/// Makes them before the groups join, where a broker answers.
pub(super) async fn make_at_start(log: &KafkaLog, groups: &[ConsumerConfig]) {
    if log.ping().await.is_ok() {
        // What does not work now is tried on by the task, which also says why.
        let _ = tokio::time::timeout(AT_START_MAX, log.prepare(groups)).await;
    }
}

/// Tries until every topic is there. A topic that the broker refuses, or that somebody made differently, is said once and
/// tried on: whoever mends it need not start anything again.
pub(super) async fn make(log: KafkaLog, groups: Vec<ConsumerConfig>, stop: Stop) -> Result<(), Infallible> {
    let mut said = String::new();
    loop {
        let reason = match tokio::select! {
            () = stop.cancelled() => return Ok(()),
            made = log.prepare(&groups) => made,
        } {
            Ok(()) => {
                if !said.is_empty() {
                    info!("kafka: every topic exists now");
                }
                return Ok(());
            }
            Err(error) => error,
        };
        let words = reason.to_string();
        if said != words {
            match reason {
                ConnectError::Outage(_) => {
                    warn!("kafka: topics cannot be created yet, retrying; events wait in the outbox: {words}");
                }
                _ => error!(
                    "kafka: topics cannot be created, retrying until somebody mends it; events wait in the outbox: {words}"
                ),
            }
            said = words;
        }
        tokio::select! {
            () = stop.cancelled() => return Ok(()),
            () = tokio::time::sleep(AGAIN) => {}
        }
    }
}
