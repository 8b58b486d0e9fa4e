//! Makes the topics of the site, and those of this process's groups with their ladders, once a broker answers, and again when
//! somebody deleted one.

use std::convert::Infallible;
use std::time::Duration;

use madang_engine_kafka::{ConnectError, KafkaLog};
use madang_messaging::{ConsumerConfig, Stop};
use tracing::{error, info, warn};

/// Between two attempts.
const AGAIN: Duration = Duration::from_secs(1);
/// Between two looks whether they are all still there, the same in every process.
const LOOK: Duration = Duration::from_secs(5);
/// How long a start waits for a broker that answers to make them: groups that join later join more than once.
const AT_START_MAX: Duration = Duration::from_secs(15);

/// Makes them before the groups join, where a broker answers.
pub(super) async fn make_at_start(log: &KafkaLog, groups: &[ConsumerConfig]) {
    if log.ping().await.is_ok() {
        // What does not work now is tried on by the task, which also says why.
        let _ = tokio::time::timeout(AT_START_MAX, log.prepare(groups)).await;
    }
}

/// Tries until every topic is there, and goes on looking: one that somebody deletes is made again. A topic that the broker
/// refuses, or that somebody made differently, is said once and tried on: whoever mends it need not start anything again.
pub(super) async fn keep(log: KafkaLog, groups: Vec<ConsumerConfig>, stop: Stop) -> Result<(), Infallible> {
    let (mut said, mut are_there) = (String::new(), false);
    loop {
        let made = async {
            if !are_there {
                return log.prepare(&groups).await.map(|()| Vec::new());
            }
            log.restore(&groups).await
        };
        let wait = match tokio::select! {
            () = stop.cancelled() => return Ok(()),
            made = made => made,
        } {
            Ok(restored) => {
                if !std::mem::take(&mut said).is_empty() {
                    info!("kafka: every topic exists now");
                }
                for topic in restored {
                    warn!(
                        "kafka: topic {topic} was deleted and is created again; events in it that a group had not read are lost \
                         to it: run `madang check`, and `madang rebuild` for what differs"
                    );
                }
                are_there = true;
                LOOK
            }
            // Whether it is there is asked later; what cannot be published meanwhile waits in the outbox, and says so.
            Err(ConnectError::Outage(_)) if are_there => LOOK,
            Err(reason) => {
                let words = reason.to_string();
                if said != words {
                    say(&reason, &words);
                    said = words;
                }
                are_there = false;
                AGAIN
            }
        };
        tokio::select! {
            () = stop.cancelled() => return Ok(()),
            () = tokio::time::sleep(wait) => {}
        }
    }
}

fn say(reason: &ConnectError, words: &str) {
    match reason {
        ConnectError::Outage(_) => {
            warn!("kafka: cannot create the topics yet, retrying; events wait in the outbox: {words}");
        }
        _ => error!(
            "kafka: cannot create the topics, and will not until an operator removes the cause; retrying, events wait in the outbox: {words}"
        ),
    }
}
