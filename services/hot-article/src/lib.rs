//! Hot articles: which articles of a day were liked, discussed and read most, counted from events alone.
//!
//! A day's list holds articles *created* on that day of the site, scored by events that *occurred* on it. It changes while
//! events come, and becomes final an hour into the next day; after that only a deletion changes it.

mod change;
mod compare;
mod consumer;
mod day;
mod finaliser;
mod model;
mod owners;
mod rebuild;
mod score;
mod service;
mod store;

pub use change::{HotChange, fold};
pub use compare::Compared;
pub use consumer::HotConsumer;
pub use day::{DAYS_KEPT, DAYS_SHOWN, Day, DayParseError, FINAL_AFTER_MS, SiteDays};
pub use finaliser::{FORGET_SLICE_ROWS, Finished, Progress};
pub use model::{HotItem, HotList, LISTED_MAX, SHOWN_MAX};
pub use owners::HotOwners;
pub use rebuild::{REBUILD_SLICE_ROWS, Rebuilt};
pub use score::{COMMENT_WEIGHT, COUNT_MAX, Counts, LIKE_WEIGHT, Reading, Tally, VIEW_WEIGHT};
pub use service::HotService;
pub use store::{Forgotten, HotApplied, HotStore, Offsets, RankingSlice, Replacement, TOP_MAX};
