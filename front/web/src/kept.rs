//! Pages for guests kept as bytes for a moment, so that what everybody reads is rendered and compressed a few times a second
//! and not once for each reader. A page is handed out only while nothing was merged into the query model since before it
//! was made; a model that several processes share does not count that, and guests, who write nothing, then read what is up
//! to a moment old. What a member sees is theirs, and made for them.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use axum::http::HeaderValue;
use bytes::Bytes;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use sha2::{Digest, Sha256};

use crate::preferences::Preferences;
use crate::visit::Visit;
use crate::zip::{self, Effort};

/// View counts change without a merge, so a page gets old by itself.
const KEPT: Duration = Duration::from_millis(250);
/// Longer pages are rendered each time.
const PAGE_BYTES_MAX: usize = 512 * 1_024;
/// All pages together.
const BUDGET_BYTES: u64 = 32 * 1_024 * 1_024;
/// About how many that are; only the cache's own book-keeping depends on it.
const TYPICAL_PAGES: usize = 1_024;
/// Pages asked for whose traces are kept, 4 bytes each.
const TRACES: usize = 4_096;
/// What a page weighs besides its bytes: its key, and a compressed copy of a third of it.
const OVERHEAD_BYTES: u64 = 512;

/// What was asked for, and everything that the answer depends on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Asked {
    address: String,
    base: String,
    preferences: Preferences,
}

/// A page as it goes out.
pub(crate) struct KeptPage {
    /// The page.
    pub(crate) html: Bytes,
    /// Its entity tag.
    pub(crate) tag: HeaderValue,
    /// What kind of document it is.
    pub(crate) kind: &'static str,
    gzip: OnceLock<Bytes>,
    generation: u64,
    made: Instant,
}

/// The pages of the last moment.
pub(crate) struct Kept {
    pages: Cache<Asked, Arc<KeptPage>, ByBytes>,
    /// Traces of what was asked for lately: only what is asked for again is kept.
    traces: Box<[AtomicU32]>,
    hasher: RandomState,
}

/// A page to be made of the state of the model at the moment this was created.
pub(crate) struct Making(Option<(Asked, u64)>);

impl Default for Kept {
    fn default() -> Self {
        Self {
            pages: Cache::with_weighter(TYPICAL_PAGES, BUDGET_BYTES, ByBytes),
            traces: (0..TRACES).map(|_| AtomicU32::new(0)).collect(),
            hasher: RandomState::new(),
        }
    }
}

impl Kept {
    /// The page if it is still good; otherwise how to make it. `address` is the path in its one spelling; `generation` says
    /// how often the model was merged into, where that is known. To be called before the model is read.
    pub(crate) fn find(
        &self,
        visit: &Visit,
        address: String,
        generation: Option<u64>,
    ) -> Result<Arc<KeptPage>, Making> {
        if visit.session.is_some() {
            return Err(Making(None));
        }
        let generation = generation.unwrap_or_default();
        let asked = Asked { address, base: visit.base.clone(), preferences: visit.preferences };
        let good = |page: &Arc<KeptPage>| page.generation == generation && page.made.elapsed() < KEPT;
        match self.pages.get(&asked).filter(good) {
            Some(page) => Ok(page),
            None => Err(Making(Some((asked, generation)))),
        }
    }

    /// Keeps a page for the next who asks; `None` when it is a member's.
    pub(crate) fn keep(&self, making: Making, html: &str, kind: &'static str) -> Option<Arc<KeptPage>> {
        let (asked, generation) = making.0?;
        let html = Bytes::copy_from_slice(html.as_bytes());
        let page = KeptPage { tag: tag(&html), html, kind, gzip: OnceLock::new(), generation, made: Instant::now() };
        let page = Arc::new(page);
        if page.html.len() <= PAGE_BYTES_MAX && self.is_asked_again(&asked) {
            self.pages.insert(asked, Arc::clone(&page));
        }
        Some(page)
    }

    fn is_asked_again(&self, asked: &Asked) -> bool {
        let hash = self.hasher.hash_one(asked);
        // Never 0, which is no trace.
        let trace = (hash >> 32) as u32 | 1;
        self.traces[hash as usize % TRACES].swap(trace, Ordering::Relaxed) == trace
    }
}

impl KeptPage {
    /// The page as gzip, compressed for the first who asks for it so.
    pub(crate) fn gzip(&self) -> Bytes {
        self.gzip.get_or_init(|| zip::gzip(&self.html, Effort::Kept)).clone()
    }
}

fn tag(html: &[u8]) -> HeaderValue {
    let digest = Sha256::digest(html);
    let first = digest.iter().take(8).fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
    // Weak, because the compressed body is another sequence of bytes.
    HeaderValue::from_str(&format!("W/\"{first:016x}\"")).unwrap_or(HeaderValue::from_static("W/\"\""))
}

#[derive(Clone)]
struct ByBytes;

impl Weighter<Asked, Arc<KeptPage>> for ByBytes {
    fn weight(&self, _: &Asked, page: &Arc<KeptPage>) -> u64 {
        OVERHEAD_BYTES + page.html.len() as u64 * 4 / 3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(address: &str) -> Asked {
        let preferences = Preferences::of(&axum::http::HeaderMap::new());
        Asked { address: address.to_owned(), base: "http://board.example".to_owned(), preferences }
    }

    fn made(kept: &Kept, address: &str, html: &str) -> Arc<KeptPage> {
        kept.keep(Making(Some((asked(address), 7))), html, "text/html").unwrap()
    }

    #[test]
    fn a_kept_page_is_compressed_once_for_all_its_readers() {
        let kept = Kept::default();
        let page = made(&kept, "/", &"text ".repeat(1_000));
        assert_eq!(page.gzip().as_ptr(), page.gzip().as_ptr());
        assert!(page.gzip().len() < page.html.len() / 10);
    }

    #[test]
    fn only_what_is_asked_for_again_is_kept() {
        let kept = Kept::default();
        made(&kept, "/", "once");
        assert_eq!(kept.pages.len(), 0);
        made(&kept, "/", "twice");
        assert_eq!(kept.pages.get(&asked("/")).unwrap().html, "twice");
    }

    #[test]
    fn many_pages_fill_no_memory() {
        let kept = Kept::default();
        let html = "x".repeat(100_000);
        for number in 0..1_000 {
            let address = format!("/{number}");
            made(&kept, &address, &html);
            made(&kept, &address, &html);
        }
        assert!(kept.pages.weight() <= BUDGET_BYTES);
    }

    #[test]
    fn a_members_page_is_nobody_elses() {
        assert!(Kept::default().keep(Making(None), "theirs", "text/html").is_none());
    }
}
