//! What can be made again of the board, on Redis: the query model, live views, the ranking of hot articles.
//!
//! *Invariants:* nothing here is the only copy of what people wrote. Every key expires, but 128 epochs, of the query model and
//! of live views: set `maxmemory-policy volatile-lru`, which leaves those alone.

/// A script out of files under `lua/`, one after the other.
macro_rules! script {
    ($($file:literal),+) => {
        LazyLock::new(|| Script::new(concat!($(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/lua/", $file, ".lua"))),+)))
    };
}

mod epochs;
mod hot;
mod live_views;
mod read_model;

pub use epochs::RedisEpochs;
pub use hot::RankedHot;
pub use live_views::RedisLiveViews;
pub use read_model::{COMMITTED_WAIT_MS, RedisReadModel};
