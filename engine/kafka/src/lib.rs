//! The event log on Kafka for any program: topics with their retry ladders, consumer groups that drain before they let go,
//! dead letters. A program names its topics in [`KafkaOptions`]; what is in their messages is its own affair.
//! `engine/examples` has a small program on MySQL and Kafka: outbox, relay, log and inbox, with a domain of its own.
//!
//! *Invariants:* a message is `Published` only when every in-sync replica has it; an offset is stored only after its work;
//! a partition is given back only when nothing of it is in hand any more; what the broker was not asked about, or did not
//! answer, is an `Outage` and never counts against a message.

mod codec;
mod connection;
mod dead_letters;
mod errors;
mod inspect;
mod log;
mod names;
mod options;
mod producer;
mod readers;
mod subscription;
mod topics;

pub use dead_letters::KafkaDeadLetters;
pub use errors::ConnectError;
pub use inspect::{LogInspection, TopicInspection};
pub use log::KafkaLog;
pub use options::{KafkaOptions, MESSAGE_MAX_BYTES};
