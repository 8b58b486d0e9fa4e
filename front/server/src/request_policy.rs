//! What a site decides about requests once, for all its fronts.

use std::time::Duration;

use crate::{Limiter, TrustedProxies};

/// What a request may cost, how careful its cookie is, and whose word about its origin counts.
#[derive(Debug, Clone)]
pub struct RequestPolicy {
    /// The largest body that is read.
    pub body_bytes: usize,
    /// Requests in flight at the same time; more are shed.
    pub in_flight: usize,
    /// How long one request may take.
    pub request_timeout: Duration,
    /// How long the body of a request may take to arrive.
    pub body_timeout: Duration,
    /// Whether browsers are told to come by TLS only.
    pub hsts: bool,
    /// Whether the session cookie is sent over TLS only.
    pub cookies_secure: bool,
    /// Whose `X-Forwarded-For` is believed.
    pub trusted_proxies: TrustedProxies,
    /// How often somebody may ask; without one, as often as they like.
    pub limiter: Option<Limiter>,
}

impl Default for RequestPolicy {
    fn default() -> Self {
        Self {
            body_bytes: 256 * 1_024,
            in_flight: 512,
            request_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(8),
            hsts: false,
            cookies_secure: false,
            trusted_proxies: TrustedProxies::default(),
            limiter: None,
        }
    }
}
