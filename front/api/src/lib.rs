//! The HTTP face of Madang: JSON under `/api/v1`, its OpenAPI description, and what operators ask a process.
//!
//! Handlers parse, call a service and render; every error becomes a problem in one place, [`ApiError`].

mod articles;
mod boards;
mod error;
mod extract;
mod gate;
mod members;
mod meters;
mod openapi;
mod operations;
mod problem;
mod reply;
mod router;
mod serve;
mod sessions;
mod state;

pub use error::ApiError;
pub use router::{router, router_with_pages};
pub use serve::serve;
pub use state::{ApiLimits, ApiState, PartState, Readiness};
