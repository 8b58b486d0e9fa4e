//! What is asked of an owner of events: whether some of them wait to be sent.

use serde::{Deserialize, Serialize};

/// Whose outbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutboxOf {
    /// Of articles.
    Article,
    /// Of comments.
    Comment,
    /// Of likes.
    Like,
    /// Of views.
    View,
}

message! {
    /// Whether anything that was committed up to a moment, by the database's clock, may be unsent.
    UnsentBefore { outbox: OutboxOf, moment_ms: i64 } at "/internal/v1/outbox/unsent-before" => UnsentAnswer
}
message! {
    /// Whether it may.
    UnsentAnswer { is_unsent: bool }
}
