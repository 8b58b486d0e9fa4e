//! What every front of Madang stands on: connections and TLS, time-outs, admission control, rate limits, whom a request
//! comes from (address, session cookie, origin), and a cache of rendered bytes. It knows nothing of articles or pages.
//!
//! A request passes [`Server`] (accepts connections, sheds load while tasks wait too long to be scheduled), then
//! [`Admission`] (rate limits, permits for requests in flight, time-outs, security headers), then a front's router. What is
//! refused on that way is a [`Rejection`], and [`Rejection::status`] is the one place that knows its status.

mod admission;
mod byte_cache;
mod client_address;
mod connections;
mod cookies;
pub mod gzip;
mod health_history;
mod large_work;
mod operations;
mod problem;
mod rate_limits;
mod refusal_pages;
mod refusals;
mod rejection;
mod request_id;
mod request_log;
mod request_metrics;
mod request_policy;
mod same_origin;
mod security_headers;
mod single_flight;
mod trusted_proxies;

pub use admission::Admission;
pub use byte_cache::{ByteCache, ByteCacheLimits, CacheMiss, CachedBody, CompressedBody};
pub use client_address::client_address;
pub use connections::{ConnectionLimits, Server, Tls, TlsError};
pub use cookies::{
    SESSION_COOKIE, cookie_value, device_note, forget_session, session_token, store_device, store_session,
};
pub use health_history::{HEALTH_SLOT, HEALTH_SLOTS, HealthHistory, HealthSlot};
pub use large_work::{LARGE_BYTES, run_large};
pub use operations::{OPERATIONS_PATHS, PartState, Readiness};
pub use problem::{FieldProblem, Problem, wants_page};
pub use rate_limits::{
    Bucket, Buckets, Guesser, Limiter, MemoryBuckets, Portion, RateLimits, SharedBuckets, Taken, network,
};
pub use refusal_pages::{Pages, RefusalPages, is_for_a_person, vary_by_accept};
pub use refusals::RefusedBy;
pub use rejection::Rejection;
pub use request_log::RequestLog;
pub use request_metrics::RequestMetrics;
pub use request_policy::{RequestPolicy, requested_host};
pub use same_origin::is_same_origin;
pub use security_headers::isolate;
pub use single_flight::SingleFlight;
pub use trusted_proxies::{ProxiesParseError, TrustedProxies};
