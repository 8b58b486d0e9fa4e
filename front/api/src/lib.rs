//! The HTTP face of Madang: JSON under `/api/v1`, its OpenAPI description, and what operators ask a process.
//!
//! Handlers parse, call a service and render; every error becomes a problem in one place, [`ApiError`].

mod articles;
mod boards;
mod busy;
mod comments;
mod completed;
mod error;
mod extract;
mod gate;
mod hot_articles;
mod likes;
mod limits;
mod members;
mod meters;
mod moderation;
mod named_member;
mod openapi;
mod operations;
mod paced;
mod problem;
mod rendered;
mod reply;
mod router;
mod serve;
mod sessions;
mod shared_look;
mod state;
mod supervision;
mod trusted_proxies;
mod views;

pub use error::ApiError;
pub use extract::client_address;
pub use limits::{Bucket, Buckets, Limiter, MemoryBuckets, Portion, RateLimits, SharedBuckets, Taken};
pub use rendered::Rendered;
pub use router::{router, router_with_pages};
pub use serve::{ConnectionLimits, Door, Tls, TlsError};
pub use shared_look::SharedLook;
pub use state::{
    ApiLimits, ApiState, ArticleCalls, CommentCalls, HotCalls, LikeCalls, MemberCalls, ModerationCalls, PartState,
    ReadCalls, Readiness, ViewCalls,
};
pub use trusted_proxies::{ProxiesParseError, TrustedProxies};
