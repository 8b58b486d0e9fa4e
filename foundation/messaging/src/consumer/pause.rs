//! A switch by which an operator, or a test, has a consumer rest and go on.

use tokio::sync::watch;

use super::Input;

/// Pauses a consumer and lets it go on. Clones are the same switch, and it outlives restarts of the consumer's task.
///
/// A paused consumer finishes and stores what it has in flight, retries that are due included, and polls nothing more.
/// Stopping works as ever.
#[derive(Debug, Clone)]
pub struct ConsumerPause {
    paused: watch::Sender<bool>,
}

impl Default for ConsumerPause {
    fn default() -> Self {
        Self { paused: watch::Sender::new(false) }
    }
}

impl ConsumerPause {
    /// Has the consumer rest; what it is at is finished first.
    pub fn pause(&self) {
        self.set(true);
    }

    /// Has the consumer go on where it stopped.
    pub fn resume(&self) {
        self.set(false);
    }

    /// Whether it was told to rest.
    pub fn is_paused(&self) -> bool {
        *self.paused.borrow()
    }

    fn set(&self, paused: bool) {
        self.paused.send_if_modified(|now| std::mem::replace(now, paused) != paused);
    }

    pub(super) fn lever(&self) -> Lever {
        Lever { paused: self.paused.subscribe(), told: false }
    }
}

/// The switch as one level sees it.
pub(super) struct Lever {
    paused: watch::Receiver<bool>,
    /// What the level was told last.
    told: bool,
}

impl Lever {
    /// What the level is to be told, if the switch was turned since it was told last.
    pub(super) fn turned(&mut self) -> Option<Input> {
        let paused = *self.paused.borrow_and_update();
        let was = std::mem::replace(&mut self.told, paused);
        (was != paused).then_some(if paused { Input::Rest } else { Input::GoOn })
    }

    /// Returns when the switch is touched.
    pub(super) async fn touched(&mut self) {
        if self.paused.changed().await.is_err() {
            // The switch is gone, so nobody will ever turn it.
            std::future::pending::<()>().await;
        }
    }
}
