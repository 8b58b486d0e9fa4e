//! Live changes of an article that somebody has open: the port they come through, the hub of one process, and the stream
//! that a browser reads.

mod change;
mod changes;
mod hub;
mod of_network;
mod stream;

pub use change::Change;
pub use changes::{Changes, Reading, State};
pub use hub::{LiveHub, LiveInterest};
pub(crate) use of_network::NetworkStreams;
pub(crate) use stream::stream;

use madang_board::ArticleId;
use tokio::sync::watch;

/// Tells of changes to articles. Whoever is slow skips to the latest state; nobody is ever waited for.
pub trait LiveFeed: Send + Sync {
    /// Follows an article from now on; `None` when too many are followed, or the process is stopping.
    fn subscribe(&self, article: ArticleId) -> Option<Subscription>;
}

/// Following one article. Ends with the process, or when dropped.
pub struct Subscription {
    receiver: Option<watch::Receiver<Changes>>,
    /// Tells the feed that nobody follows through this any more.
    left: Option<Box<dyn FnOnce() + Send>>,
}

impl Subscription {
    /// Follows what `receiver` is told; `left` is called once when the follower has gone.
    pub fn new(receiver: watch::Receiver<Changes>, left: impl FnOnce() + Send + 'static) -> Self {
        Self { receiver: Some(receiver), left: Some(Box::new(left)) }
    }

    /// Waits for the next change and gives everything known since the article was opened; `None` at the end.
    pub async fn changed(&mut self) -> Option<Changes> {
        let receiver = self.receiver.as_mut()?;
        receiver.changed().await.ok()?;
        Some(receiver.borrow_and_update().clone())
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        // First no longer counted, then missed.
        self.receiver = None;
        if let Some(left) = self.left.take() {
            left();
        }
    }
}
