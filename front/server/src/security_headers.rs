//! Headers that every answer carries, also one that never reached a front.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

const API_CSP: HeaderValue = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");
const CROSS_ORIGIN_RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const SAME_ORIGIN: HeaderValue = HeaderValue::from_static("same-origin");
const CROSS_ORIGIN_OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const PERMISSIONS_POLICY: HeaderName = HeaderName::from_static("permissions-policy");
/// What no page of ours asks for, and no script that got into one may.
const NO_PERMISSIONS: HeaderValue = HeaderValue::from_static(
    "camera=(), display-capture=(), geolocation=(), microphone=(), midi=(), payment=(), publickey-credentials-get=(), \
     screen-wake-lock=(), serial=(), usb=(), xr-spatial-tracking=()",
);
const DENY: HeaderValue = HeaderValue::from_static("DENY");
const NO_REFERRER: HeaderValue = HeaderValue::from_static("no-referrer");
/// Two years, as browsers ask for; subdomains are not ours to speak for.
const HSTS: HeaderValue = HeaderValue::from_static("max-age=63072000");

/// Tells browsers to keep a page apart from pages of other sites, also from one that opened it, and to ask nobody for its
/// camera or the like. For documents alone: of anything else a browser reads neither.
pub fn isolate(headers: &mut HeaderMap) {
    headers.insert(CROSS_ORIGIN_OPENER_POLICY, SAME_ORIGIN);
    headers.insert(PERMISSIONS_POLICY, NO_PERMISSIONS);
}

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
