//! What lives in the memory of one process: the query model, within a budget, and its owners, asked in place.

mod boards;
mod bytes;
mod entries;
mod near;
mod owners;
mod packed;
mod part;
mod read_model;
mod search_owners;

pub use near::{Announce, NEAR_FRESH_MS, NEAR_TTL_MS, NearReadModel, Origin};
pub use owners::{LocalArticles, LocalComments, LocalLikes, LocalViews, local_owners};
pub use read_model::{DEFAULT_BUDGET_BYTES, MemoryReadModel};
pub use search_owners::LocalSearchOwners;
