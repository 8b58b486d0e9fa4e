//! What likes look like to those who ask.

use madang_event::Writer;
use madang_kernel::Timestamp;

/// Whether a member likes an article, beside how many do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LikeState {
    /// Whether the member who asks likes it; false for a guest.
    pub liked: bool,
    /// Members who like it.
    pub like_count: u64,
}

/// The counter of an article. One that nobody ever liked counts 0 at version 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LikeCount {
    /// Members who like it.
    pub like_count: u64,
    /// Grows by one with each transaction that changed who likes it: the newer count wins.
    pub version: u64,
}

/// Somebody who likes an article.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Liker {
    /// Who, with the name they had then.
    pub member: Writer,
    /// Since when.
    pub created_at: Timestamp,
}
