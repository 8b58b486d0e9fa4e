//! The HTTP face of Madang: JSON under `/api/v1`, its OpenAPI description, and what operators ask a process.
//!
//! Handlers parse, call a service and render; every error becomes a problem in one place, [`ApiError`].

mod articles;
mod boards;
mod comments;
mod completed;
mod error;
mod extract;
mod hot_articles;
mod likes;
mod members;
mod moderation;
mod named_member;
mod openapi;
mod operations;
mod rendered;
mod reply;
mod router;
mod sessions;
mod shared_look;
mod state;
mod supervision;
mod views;

pub use error::ApiError;
pub use rendered::Rendered;
pub use router::{router, router_with_pages};
pub use shared_look::SharedLook;
pub use state::{
    ApiState, ArticleCalls, CommentCalls, HotCalls, LikeCalls, MemberCalls, ModerationCalls, ReadCalls, ViewCalls,
};
