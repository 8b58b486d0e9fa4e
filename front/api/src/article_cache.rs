//! Responses about articles, cached as bytes for a moment. How long is said by the query model: in front of one that other
//! processes change too it is shorter.

use std::time::Duration;

use madang_article_read::Rank;
use madang_board::{ArticleId, BoardId};
use madang_kernel::{PageNumber, PageSize};
use madang_server::{ByteCache, ByteCacheLimits};

fn limits(ttl: Duration) -> ByteCacheLimits {
    ByteCacheLimits { ttl, body_bytes: 64 * 1_024, total_bytes: 32 * 1_024 * 1_024, typical_entries: 8_192 }
}

/// What a response is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum ArticleCacheKey {
    /// One article.
    Article(ArticleId),
    /// A numbered page of a board.
    Page(BoardId, PageNumber, PageSize),
    /// A step down a board.
    Scroll(BoardId, Option<ArticleId>, PageSize),
    /// A step down what is active on a board.
    Active(BoardId, Option<Rank>, PageSize),
    /// A step down the whole site, by activity or not.
    Site(bool, Option<Rank>, PageSize),
}

/// An empty cache of what is fresh for `ttl`.
pub(crate) fn article_cache(ttl: Duration) -> ByteCache<ArticleCacheKey> {
    ByteCache::new(limits(ttl))
}
