//! A cache of rendered bytes: what everybody reads is rendered a few times a second, and not once for each reader. An
//! entry is handed out for a short TTL, and only while nothing was merged into the query model since before it was made:
//! whoever wrote something reads it.

use std::hash::{BuildHasher as _, Hash, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use axum::http::HeaderValue;
use bytes::Bytes;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::gzip::{self, Effort};

/// Keys whose last request is remembered, 8 bytes each.
const RECENT: usize = 8_192;
/// What an entry weighs besides its bytes: its key, and a compressed copy of a third of it.
const OVERHEAD_BYTES: u64 = 512;

/// What a cache may hold.
#[derive(Debug, Clone, Copy)]
pub struct ByteCacheLimits {
    /// How long an entry is fresh. View counts change without a merge, so an entry gets stale by itself.
    pub ttl: Duration,
    /// Longer bodies are rendered each time.
    pub body_bytes: usize,
    /// All entries together.
    pub total_bytes: u64,
    /// About how many entries that are; only the cache's own book-keeping depends on it.
    pub typical_entries: usize,
}

/// A body as it goes out.
#[derive(Debug)]
pub struct CachedBody {
    /// The bytes.
    pub bytes: Bytes,
    /// What they are.
    pub content_type: HeaderValue,
    /// Their entity tag, where they have one.
    pub tag: Option<HeaderValue>,
    compressed: OnceLock<CompressedBody>,
    generation: u64,
    made: Instant,
}

/// A body as it goes out to who takes it compressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompressedBody {
    /// The bytes.
    pub bytes: Bytes,
    /// Their entity tag, where they have one.
    pub tag: Option<HeaderValue>,
}

/// Bodies of the last moment.
pub struct ByteCache<K> {
    entries: Cache<K, Arc<CachedBody>, ByBytes>,
    /// Hashes of what was asked for lately: only what is asked for again is cached, so that a thousand readers of a
    /// thousand old articles push nothing out.
    recent: Box<[AtomicU64]>,
    hasher: RandomState,
    limits: ByteCacheLimits,
}

/// A body that is to be rendered, of the state of the model at the moment of the look-up.
pub struct CacheMiss<K>(Option<(K, u64)>);

impl<K: Hash + Eq + Clone> ByteCache<K> {
    /// An empty cache.
    pub fn new(limits: ByteCacheLimits) -> Self {
        Self {
            entries: Cache::with_weighter(limits.typical_entries, limits.total_bytes, ByBytes),
            recent: (0..RECENT).map(|_| AtomicU64::new(0)).collect(),
            hasher: RandomState::new(),
            limits,
        }
    }

    /// The body if it is fresh. `generation` says how often the model was merged into; to be called before the model is
    /// read. Without a key the body is for one reader alone, and never cached.
    pub fn find(&self, key: Option<K>, generation: u64) -> Result<Arc<CachedBody>, CacheMiss<K>> {
        let Some(key) = key else { return Err(CacheMiss(None)) };
        let is_fresh = |body: &Arc<CachedBody>| body.generation == generation && body.made.elapsed() < self.limits.ttl;
        self.entries.get(&key).filter(is_fresh).ok_or(CacheMiss(Some((key, generation))))
    }

    /// Looks again after a wait: another may have rendered the same meanwhile.
    pub fn find_again(&self, miss: CacheMiss<K>) -> Result<Arc<CachedBody>, CacheMiss<K>> {
        match miss.0 {
            Some((key, generation)) => self.find(Some(key), generation),
            None => Err(CacheMiss(None)),
        }
    }

    /// Caches what was rendered after a miss, for the next who asks. A body that says what the last one of its key said is
    /// that one: whoever is still reading it shares its bytes, and it is compressed already.
    pub fn insert(
        &self,
        miss: CacheMiss<K>,
        bytes: Bytes,
        content_type: HeaderValue,
        tag: Option<HeaderValue>,
    ) -> Arc<CachedBody> {
        let Some((key, generation)) = miss.0 else {
            return Arc::new(CachedBody::new(bytes, content_type, tag, 0));
        };
        let body = match self.entries.get(&key).filter(|last| last.bytes == bytes && last.tag == tag) {
            Some(last) => last.again(generation),
            None => CachedBody::new(bytes, content_type, tag, generation),
        };
        let body = Arc::new(body);
        if body.bytes.len() <= self.limits.body_bytes && self.is_asked_again(&key) {
            self.entries.insert(key, Arc::clone(&body));
        }
        body
    }

    /// Whether the last key that left its hash in this slot was the same.
    fn is_asked_again(&self, key: &K) -> bool {
        // Never 0, which is no key.
        let hash = self.hasher.hash_one(key) | 1;
        let slot = usize::try_from(hash >> 32).unwrap_or_default() % RECENT;
        self.recent[slot].swap(hash, Ordering::Relaxed) == hash
    }
}

impl<K> CacheMiss<K> {
    /// Whether the body is for one reader alone.
    pub fn is_private(&self) -> bool {
        self.0.is_none()
    }
}

impl CachedBody {
    /// A body that never changes.
    pub fn fixed(bytes: Bytes, content_type: HeaderValue, tag: Option<HeaderValue>) -> Self {
        Self::new(bytes, content_type, tag, 0)
    }

    fn new(bytes: Bytes, content_type: HeaderValue, tag: Option<HeaderValue>, generation: u64) -> Self {
        Self { bytes, content_type, tag, compressed: OnceLock::new(), generation, made: Instant::now() }
    }

    /// The same bytes, made anew.
    fn again(&self, generation: u64) -> Self {
        let Self { bytes, content_type, tag, compressed, .. } = self;
        let (bytes, content_type, tag) = (bytes.clone(), content_type.clone(), tag.clone());
        Self { bytes, content_type, tag, compressed: compressed.clone(), generation, made: Instant::now() }
    }

    /// The body compressed, if somebody asked for it so already.
    pub fn compressed_before(&self) -> Option<&CompressedBody> {
        self.compressed.get()
    }

    /// The body compressed, by the first who asks for it so.
    pub fn compressed(&self, effort: Effort) -> &CompressedBody {
        self.compressed.get_or_init(|| CompressedBody {
            bytes: gzip::compress(&self.bytes, effort),
            tag: self.tag.as_ref().map(gzip::tag_of_compressed),
        })
    }
}

#[derive(Clone)]
struct ByBytes;

impl<K> Weighter<K, Arc<CachedBody>> for ByBytes {
    fn weight(&self, _: &K, body: &Arc<CachedBody>) -> u64 {
        OVERHEAD_BYTES + body.bytes.len() as u64 * 4 / 3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: ByteCacheLimits = ByteCacheLimits {
        ttl: Duration::from_secs(60),
        body_bytes: 64 * 1_024,
        total_bytes: 4 * 1_024 * 1_024,
        typical_entries: 64,
    };

    /// Asked for twice, because only what is asked for again is cached.
    fn make(cache: &ByteCache<u32>, key: Option<u32>, generation: u64, body: &str) {
        for _ in 0..2 {
            let Err(miss) = cache.find(key, generation) else { panic!("cached already") };
            cache.insert(miss, Bytes::copy_from_slice(body.as_bytes()), HeaderValue::from_static("text/plain"), None);
        }
    }

    #[test]
    fn a_body_is_fresh_until_something_is_merged() {
        let cache = ByteCache::new(LIMITS);
        make(&cache, Some(1), 7, "one");
        assert_eq!(cache.find(Some(1), 7).ok().unwrap().bytes, "one");
        assert!(cache.find(Some(2), 7).is_err(), "another key");
        assert!(cache.find(Some(1), 8).is_err(), "something was merged");
        let stale = ByteCache::new(ByteCacheLimits { ttl: Duration::ZERO, ..LIMITS });
        make(&stale, Some(1), 7, "one");
        assert!(stale.find(Some(1), 7).is_err(), "its time is over");
    }

    #[test]
    fn only_what_is_asked_for_again_is_cached_and_nothing_private() {
        let cache = ByteCache::new(LIMITS);
        let once = cache.find(Some(1), 1).err().unwrap();
        cache.insert(once, Bytes::from_static(b"one"), HeaderValue::from_static("text/plain"), None);
        make(&cache, None, 1, "private");
        assert!(cache.find(None, 1).err().unwrap().is_private());
        assert_eq!(cache.entries.len(), 0);
    }

    #[test]
    fn long_bodies_and_many_bodies_fill_no_memory() {
        let cache = ByteCache::new(LIMITS);
        make(&cache, Some(1), 1, &"x".repeat(LIMITS.body_bytes + 1));
        assert!(cache.find(Some(1), 1).is_err());
        for key in 2..200 {
            make(&cache, Some(key), 1, &"x".repeat(LIMITS.body_bytes));
        }
        assert!(cache.entries.weight() <= LIMITS.total_bytes);
    }

    #[test]
    fn who_reads_slowly_shares_the_bytes_of_who_comes_later() {
        let cache = ByteCache::new(ByteCacheLimits { ttl: Duration::ZERO, ..LIMITS });
        make(&cache, Some(1), 1, "text");
        let insert = |text: &'static str| {
            let Err(miss) = cache.find(Some(1), 2) else { panic!("fresh") };
            cache.insert(miss, Bytes::copy_from_slice(text.as_bytes()), HeaderValue::from_static("text/plain"), None)
        };
        let slow = insert("text");
        let small = slow.compressed(Effort::Shared).bytes.as_ptr();
        let later = insert("text");
        assert_eq!(later.bytes.as_ptr(), slow.bytes.as_ptr());
        assert_eq!((later.generation, later.compressed_before().map(|body| body.bytes.as_ptr())), (2, Some(small)));
        assert_eq!(insert("other").bytes, "other");
    }

    #[test]
    fn what_another_rendered_during_a_wait_is_found() {
        let cache = ByteCache::new(LIMITS);
        let waiting = cache.find(Some(1), 7).err().unwrap();
        make(&cache, Some(1), 7, "one");
        assert_eq!(cache.find_again(waiting).ok().unwrap().bytes, "one");
        assert!(cache.find_again(cache.find(None, 7).err().unwrap()).is_err(), "what is private is nobody else's");
    }

    #[test]
    fn a_body_is_compressed_once_for_all_its_readers() {
        let cache = ByteCache::new(LIMITS);
        make(&cache, Some(1), 1, "text");
        let body = cache.find(Some(1), 1).ok().unwrap();
        let first = body.compressed(Effort::Shared).bytes.as_ptr();
        assert_eq!(body.compressed(Effort::Shared).bytes.as_ptr(), first);
    }
}
