//! Responses about articles, cached as bytes for a moment. Where they are cached, the owner of views is in the same process
//! and nearly always has the count at hand, so the TTL is all that a count is late.

use std::time::Duration;

use madang_board::{ArticleId, BoardId};
use madang_kernel::{PageNumber, PageSize};
use madang_server::{ByteCache, ByteCacheLimits};

const LIMITS: ByteCacheLimits = ByteCacheLimits {
    ttl: Duration::from_secs(1),
    body_bytes: 64 * 1_024,
    total_bytes: 32 * 1_024 * 1_024,
    typical_entries: 8_192,
};

/// What a response is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum ArticleCacheKey {
    /// One article.
    Article(ArticleId),
    /// A numbered page of a board.
    Page(BoardId, PageNumber, PageSize),
    /// A step down a board.
    Scroll(BoardId, Option<ArticleId>, PageSize),
}

/// An empty cache.
pub(crate) fn article_cache() -> ByteCache<ArticleCacheKey> {
    ByteCache::new(LIMITS)
}
