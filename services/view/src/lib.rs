//! Views of articles: who counts as one viewer, how often a viewer counts, and live counters written back in time.

mod config;
mod consumer;
mod day;
pub mod events;
mod live;
mod live_views;
#[cfg(test)]
mod memory;
mod memory_live_views;
mod network_guests;
mod service;
mod store;
mod viewer;
mod window;

pub use config::{FLUSH_STEP_MS, ViewConfig};
pub use consumer::{ViewParts, article_deletions};
pub use day::SiteDay;
pub use live::{Full, LiveCounts, LiveLimits};
pub use live_views::{LiveView, LiveViews};
pub use memory_live_views::MemoryLiveViews;
pub use service::{Flushed, ViewError, ViewService, Viewed};
pub use store::{StoredViews, ViewCount, ViewStore, WriteBack, WrittenBack};
pub use viewer::{GuestKey, Viewer};
pub use window::{ENTRY_BYTES, WINDOW_MS, Window};
