//! Pages for guests, cached as bytes for a moment and compressed once. What a member sees is theirs, and made for them.

use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderValue;
use madang_article::markdown::HTML_MAX_BYTES;
use madang_server::{ByteCache, ByteCacheLimits, CacheMiss, CachedBody};
use sha2::{Digest, Sha256};

use crate::comments;
use crate::preferences::Preferences;
use crate::visit::Visit;

/// What a page has beside the text of an article and its comments: heads and links of a hundred comments, and the frame.
const FRAME_BYTES_MAX: usize = 192 * 1_024;

// The longest page is cached like any other: else whoever asks for it would have it rendered each time.
const LIMITS: ByteCacheLimits = ByteCacheLimits {
    ttl: Duration::from_millis(250),
    body_bytes: HTML_MAX_BYTES + comments::BYTES_MAX + FRAME_BYTES_MAX,
    total_bytes: 32 * 1_024 * 1_024,
    typical_entries: 1_024,
};

/// Everything that a guest's page depends on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct PageKey {
    /// The path in its one spelling.
    address: String,
    base: String,
    preferences: Preferences,
}

/// A page that has to be rendered.
pub(crate) type PageMiss = CacheMiss<PageKey>;

/// The pages of the last moment.
pub(crate) struct PageCache(ByteCache<PageKey>);

impl Default for PageCache {
    fn default() -> Self {
        Self(ByteCache::new(LIMITS))
    }
}

impl PageCache {
    /// The page of `visit.here`, if it is a guest's, cached and fresh. `generation` says how often the model was merged into,
    /// where that is known. To be called before the model is read.
    pub(crate) fn find(&self, visit: &Visit, generation: Option<u64>) -> Result<Arc<CachedBody>, PageMiss> {
        let (address, base) = (visit.here.clone(), visit.base.clone());
        let key = PageKey { address, base, preferences: visit.preferences };
        self.0.find((visit.session.is_none() && visit.flash.is_none()).then_some(key), generation.unwrap_or_default())
    }

    /// Looks again after a wait.
    pub(crate) fn find_again(&self, miss: PageMiss) -> Result<Arc<CachedBody>, PageMiss> {
        self.0.find_again(miss)
    }

    /// Caches a guest's page for the next who asks.
    pub(crate) fn insert(&self, miss: PageMiss, text: String, content_type: &'static str) -> Arc<CachedBody> {
        let tag = tag(text.as_bytes());
        self.0.insert(miss, text.into(), HeaderValue::from_static(content_type), Some(tag))
    }
}

fn tag(text: &[u8]) -> HeaderValue {
    // Weak, because the compressed body is another sequence of bytes.
    let tag = format!("W/\"{}\"", hex::encode(&Sha256::digest(text)[..8]));
    HeaderValue::from_str(&tag).unwrap_or(HeaderValue::from_static("W/\"\""))
}
