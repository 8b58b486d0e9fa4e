//! The port to live counts: where views are counted before they are written back, in the memory of one process or shared by
//! all of them. None of it is the only copy for long: what is lost is read back from the store.

use async_trait::async_trait;
use madang_board::ArticleId;
use madang_kernel::{StoreError, Timestamp};

use crate::{Viewer, WrittenBack};

/// What became of a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LiveView {
    /// The article has no live count: read what is stored, [`LiveViews::insert`] it, and come again. Nothing was remembered
    /// of the viewer.
    NotLive,
    /// This viewer was counted within the last ten minutes, or as many guests of their network as count.
    Seen {
        /// Views so far.
        count: u64,
    },
    /// It counted.
    Counted {
        /// Views so far, this one included.
        count: u64,
        /// Whether this view made the article due to be written back.
        is_due: bool,
    },
}

/// Live counts, the windows of viewers, and which counts are unwritten.
#[async_trait]
pub trait LiveViews: Send + Sync {
    /// Counts a view of an article that is live, unless this viewer counted within the last ten minutes, or so many other
    /// guests of their network did. Two at once: one of them counts.
    async fn view(&self, article: ArticleId, viewer: Viewer, now: Timestamp) -> Result<LiveView, StoreError>;
    /// The counts of articles in the order asked; `None` for those that are not live.
    async fn counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<u64>>, StoreError>;
    /// A count that is in the memory of this process.
    fn at_hand(&self, _article: ArticleId) -> Option<u64> {
        None
    }
    /// Makes articles live with what the store holds; where one is live, the greater of both stays. The counts now, in the
    /// order given; `None` where everything waits to be written and there is no room.
    async fn insert(&self, stored: &[(ArticleId, u64)], now: Timestamp) -> Result<Vec<Option<u64>>, StoreError>;
    /// Counts to write back at `now`, whoever counted them: enough views, old enough, or `all` that are unwritten. What
    /// another process has just taken may be left out, unless `all` are wanted.
    async fn due(&self, now: Timestamp, all: bool) -> Result<Vec<(ArticleId, u64)>, StoreError>;
    /// Notes what the store answered to counts that were taken at `taken_at`. What came since is still unwritten.
    async fn note_written(&self, answers: &[WrittenBack], taken_at: Timestamp) -> Result<(), StoreError>;
    /// Drops an article that is gone, with whatever was unwritten.
    async fn forget(&self, article: ArticleId) -> Result<(), StoreError>;
    /// Articles whose unwritten views would be lost with this process.
    fn unwritten(&self) -> usize {
        0
    }
}
