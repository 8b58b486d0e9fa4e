//! Transactional messaging for any service: outbox, relay, shard coordinator, consumer with retry ladder, inbox, dead
//! letters. Knows nothing of boards or articles.
//!
//! Ports ([`Outbox`], [`EventLog`], [`Inbox`], [`Membership`], [`DeadLetters`]) are what a store or a broker must offer.
//! Machines ([`relay`], [`coordinator`], [`consumer`]) are pure step functions from inputs to effects; the loops beside
//! them perform the effects against the ports under a [`Supervisor`]. `engine/examples` has a small program that uses them.

mod after_commit;
mod backoff;
pub mod consumer;
pub mod coordinator;
mod dead_letter;
mod event_log;
mod failure;
mod inbox;
mod membership;
mod message;
mod moment;
mod outbox;
pub mod relay;
mod replay;
mod supervisor;

pub use after_commit::{AfterCommit, ToMessage};
pub use backoff::{Backoff, Chance};
pub use consumer::{Consumer, ConsumerConfig, ConsumerPause, ConsumerStuck, Handled, Handler, Ladder, Ladders};
pub use coordinator::{Assignment, Coordinator, CoordinatorConfig, shards_for};
pub use dead_letter::{DeadLetter, DeadLetterId, DeadLetters};
pub use event_log::{Delivery, EventLog, NoPosition, Polled, Position, PublishOutcome, Subscription};
pub use failure::{HandlerError, Outage};
pub use inbox::{Applied, Inbox};
pub use membership::{InstanceId, Membership};
pub use message::{GroupId, Message, header};
pub use moment::Moment;
pub use outbox::{Claim, Failed, Outbox, OutboxBacklog, OutboxRow, UnsentMessages};
pub use relay::{HandOver, Relay, RelayConfig};
pub use replay::{ReplayError, Replayed, replay};
pub use supervisor::{OnError, ShutdownReport, Stop, Supervisor, TaskFailed};
