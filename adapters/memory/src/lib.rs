//! Ports kept in the memory of one process: the query model, within a budget.

mod boards;
mod entries;
mod kept;
mod read_model;

pub use read_model::{DEFAULT_BUDGET_BYTES, MemoryReadModel};
