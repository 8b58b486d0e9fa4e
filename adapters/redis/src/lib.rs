//! What can be made again of the board, on Redis: the query model, live views, the ranking of hot articles.
//!
//! *Invariants:* nothing here is the only copy of what people wrote. Every key expires, but the 64 epoch numbers of the query
//! model: set `maxmemory-policy volatile-lru`, which leaves those alone.

mod hot;
mod live_views;
mod read_model;

pub use hot::RankedHot;
pub use live_views::RedisLiveViews;
pub use read_model::{COMMITTED_WAIT_MS, RedisReadModel};
