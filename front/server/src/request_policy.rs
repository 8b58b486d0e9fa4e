//! What a site decides about requests once, for all its fronts.

use std::sync::Arc;
use std::time::Duration;

use axum::http::{HeaderMap, header};

use crate::{Limiter, RequestLog, TrustedProxies};

/// Hosts are not longer.
const HOST_BYTES_MAX: usize = 255;

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
    /// Scheme and host under which the site is known, for links that leave it; otherwise those that were asked for.
    pub site_url: Option<Arc<str>>,
    /// How often somebody may ask; without one, as often as they like.
    pub limiter: Option<Limiter>,
    /// Which requests are logged.
    pub request_log: RequestLog,
}

impl RequestPolicy {
    /// Scheme and host for a link that leaves the site, for whoever asked with these headers.
    pub fn base(&self, headers: &HeaderMap) -> String {
        if let Some(url) = &self.site_url {
            return url.to_string();
        }
        let scheme = if self.cookies_secure { "https" } else { "http" };
        format!("{scheme}://{}", requested_host(headers))
    }
}

/// The host that was asked for, if it can be one.
pub fn requested_host(headers: &HeaderMap) -> &str {
    let host = headers.get(header::HOST).and_then(|value| value.to_str().ok()).unwrap_or("localhost");
    let fits = host.len() <= HOST_BYTES_MAX
        && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b':' | b'[' | b']'));
    if fits { host } else { "localhost" }
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
            site_url: None,
            limiter: None,
            request_log: RequestLog::default(),
        }
    }
}
