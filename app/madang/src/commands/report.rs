//! What a command says while it works: the same lines whether it runs in this process or in the server.

use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

/// Lines that may wait for whoever shows them; a command that is faster waits.
const LINES_MAX: usize = 256;

/// One thing a command says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line {
    /// For the person; goes to standard output.
    Text(String),
    /// How far the present step is.
    Progress {
        /// What is being done.
        step: String,
        /// Done so far.
        done: u64,
        /// Of so many.
        total: u64,
    },
    /// A difference that should not be; goes to standard output, and the command exits with 1.
    Finding(String),
    /// A line for the file of tokens.
    Token(String),
}

/// Nobody listens any more: the command was interrupted.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the command that asked for this has gone")]
pub(crate) struct Gone;

/// Where a command says what it does.
#[derive(Debug, Clone)]
pub(crate) struct Report(mpsc::Sender<Line>);

impl Report {
    /// A report and what comes out of it.
    pub(crate) fn channel() -> (Self, mpsc::Receiver<Line>) {
        let (sender, receiver) = mpsc::channel(LINES_MAX);
        (Self(sender), receiver)
    }

    /// Says something to the person.
    pub(crate) async fn text(&self, text: impl Into<String>) -> Result<(), Gone> {
        self.say(Line::Text(text.into())).await
    }

    /// Names a difference.
    pub(crate) async fn finding(&self, text: impl Into<String>) -> Result<(), Gone> {
        self.say(Line::Finding(text.into())).await
    }

    /// Hands a token over.
    pub(crate) async fn token(&self, line: String) -> Result<(), Gone> {
        self.say(Line::Token(line)).await
    }

    /// Says how far the step is; left out when the listener is slow, because the next one says more.
    pub(crate) fn progress(&self, step: &str, done: u64, total: u64) {
        let _ = self.0.try_send(Line::Progress { step: step.to_owned(), done, total });
    }

    async fn say(&self, line: Line) -> Result<(), Gone> {
        self.0.send(line).await.map_err(|_| Gone)
    }
}
