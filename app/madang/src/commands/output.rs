//! What a command prints while it works: the same lines whether it runs in this process or in the server.

use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

/// Lines that may wait to be shown; a command that is faster waits.
const LINES_MAX: usize = 256;

/// One thing that a command prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OutputLine {
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
    /// For the command itself: the files of the site are kept for it, under this number.
    Held(u64),
}

/// So many of something: `1 board`, `2 boards`.
pub(super) fn counted(count: u64, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") }
}

/// Nobody reads the output any more: the command was interrupted.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the command was interrupted before this was done")]
pub(crate) struct Disconnected;

/// Where a command prints.
#[derive(Debug, Clone)]
pub(crate) struct Output(mpsc::Sender<OutputLine>);

impl Output {
    /// An output and the lines that come out of it.
    pub(crate) fn channel() -> (Self, mpsc::Receiver<OutputLine>) {
        let (sender, receiver) = mpsc::channel(LINES_MAX);
        (Self(sender), receiver)
    }

    /// Prints a line.
    pub(crate) async fn text(&self, text: impl Into<String>) -> Result<(), Disconnected> {
        self.send(OutputLine::Text(text.into())).await
    }

    /// Prints a difference.
    pub(crate) async fn finding(&self, text: impl Into<String>) -> Result<(), Disconnected> {
        self.send(OutputLine::Finding(text.into())).await
    }

    /// Hands a token over.
    pub(crate) async fn token(&self, line: String) -> Result<(), Disconnected> {
        self.send(OutputLine::Token(line)).await
    }

    /// Tells that files are kept.
    pub(crate) async fn held(&self, number: u64) -> Result<(), Disconnected> {
        self.send(OutputLine::Held(number)).await
    }

    /// Shows how far the step is; left out when the reader is slow, because the next one says more.
    pub(crate) fn progress(&self, step: &str, done: u64, total: u64) {
        let _ = self.0.try_send(OutputLine::Progress { step: step.to_owned(), done, total });
    }

    async fn send(&self, line: OutputLine) -> Result<(), Disconnected> {
        self.0.send(line).await.map_err(|_| Disconnected)
    }
}
