//! Headers that every answer carries, also one that never reached a front.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

const API_CSP: HeaderValue = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");
const CROSS_ORIGIN_RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const SAME_ORIGIN: HeaderValue = HeaderValue::from_static("same-origin");
const DENY: HeaderValue = HeaderValue::from_static("DENY");
const NO_REFERRER: HeaderValue = HeaderValue::from_static("no-referrer");
/// Two years, as browsers ask for; subdomains are not ours to speak for.
const HSTS: HeaderValue = HeaderValue::from_static("max-age=63072000");

/// Tells browsers to trust nothing here, and with `hsts` to come by TLS only; pages bring a policy of their own.
pub(crate) fn secure(headers: &mut HeaderMap, hsts: bool) {
    if hsts {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HSTS);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, NOSNIFF);
    headers.entry(header::REFERRER_POLICY).or_insert(NO_REFERRER);
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(API_CSP);
    headers.entry(CROSS_ORIGIN_RESOURCE_POLICY).or_insert(SAME_ORIGIN);
    headers.entry(header::X_FRAME_OPTIONS).or_insert(DENY);
}
