//! The HTTP face of Madang: JSON under `/api/v1`, its OpenAPI description, and what operators ask a process.
//!
//! Handlers parse, call a service and render. Every failure becomes a problem, and [`ApiError::status`] alone decides its
//! status (with `Rejection::status` of `madang-server` for what the server itself refuses); handlers name statuses of
//! success only. The one exception is `/readyz`, whose 503 is not a failure of the call.

mod article_cache;
mod articles;
mod boards;
mod comments;
mod completed;
#[cfg(test)]
mod description_rules;
mod docs;
mod error;
mod extract;
mod hot_articles;
mod likes;
mod members;
mod moderation;
mod named_member;
mod next_step;
mod openapi;
mod operations;
mod plain_schemas;
mod recovery;
mod reply;
mod router;
mod search;
mod sessions;
mod state;
mod supervision;
mod views;

pub use error::ApiError;
pub use router::{operations_router, router, router_with_pages};
pub use state::{ApiState, ArticleCalls, HotCalls, LockCalls, ReadCalls, ViewCalls};
