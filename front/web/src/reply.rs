//! Responses: pages with their headers, compressed where the reader takes it, and redirects after a form.

use std::io;
use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use futures_util::{FutureExt as _, stream};
use madang_board::text::is_forbidden;
use madang_server::gzip::{self, Effort};
use madang_server::{CachedBody, LARGE_BYTES, isolate, run_large};

use crate::error::WebError;
use crate::flash::Flash;
use crate::page_cache::PageMiss;
use crate::state::Shared;
use crate::visit::Visit;

/// Everything from this site alone, nothing inline, and no frame around us.
const CSP: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; \
     base-uri 'none'; frame-ancestors 'none'",
);
const HTML: &str = "text/html; charset=utf-8";
const GZIP: HeaderValue = HeaderValue::from_static("gzip");
/// Kept by the browser alone, and checked with us before each use.
const REVALIDATE: HeaderValue = HeaderValue::from_static("private, no-cache");
const VARY: HeaderValue = HeaderValue::from_static("accept-encoding, accept-language, cookie");

/// A page made for one reader.
pub(crate) fn page(visit: &Visit, status: StatusCode, html: String) -> Response {
    let mut response = document(visit, HTML, html);
    *response.status_mut() = status;
    response
}

/// A page that a guest shares with every other, or a member has to themselves.
pub(crate) async fn shared(web: &Shared, visit: &Visit, miss: PageMiss, html: String) -> Response {
    shared_document(web, visit, miss, HTML, html).await
}

/// The same for a document of another kind.
pub(crate) async fn shared_document(
    web: &Shared,
    visit: &Visit,
    miss: PageMiss,
    kind: &'static str,
    text: String,
) -> Response {
    if miss.is_private() {
        return document(visit, kind, text);
    }
    let text = writable(text);
    if text.len() < LARGE_BYTES {
        return cached(visit, &web.pages.insert(miss, text, kind)).await;
    }
    let (inner, takes_gzip) = (web.clone(), visit.takes_gzip);
    let made = run_large(move || {
        // Of those who came at the same time, one has it made.
        let page = inner.pages.find_again(miss).unwrap_or_else(|miss| inner.pages.insert(miss, text, kind));
        if takes_gzip {
            page.compressed(Effort::Shared);
        }
        page
    });
    match made.await {
        Some(page) => cached(visit, &page).await,
        None => WebError::Internal.page(web, visit),
    }
}

/// A page that is rendered already; 304 if the reader has seen it.
pub(crate) async fn cached(visit: &Visit, page: &Arc<CachedBody>) -> Response {
    let mut response = if page.tag.as_ref().is_some_and(|tag| has_seen(visit, tag)) {
        let mut response = dressed(Bytes::new(), false);
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response.headers_mut().remove(header::CONTENT_TYPE);
        response
    } else if visit.takes_gzip {
        dressed(compressed(page).await, true)
    } else {
        dressed(page.bytes.clone(), false)
    };
    if response.status() == StatusCode::OK {
        response.headers_mut().insert(header::CONTENT_TYPE, page.content_type.clone());
    }
    if let Some(tag) = &page.tag {
        response.headers_mut().insert(header::ETAG, tag.clone());
    }
    response
}

async fn compressed(page: &Arc<CachedBody>) -> Bytes {
    let compress = |page: &CachedBody| page.compressed(Effort::Shared).bytes.clone();
    if page.bytes.len() < LARGE_BYTES || page.compressed_before().is_some() {
        return compress(page);
    }
    let large = page.clone();
    // Should the job fail, an empty body shows it at once.
    run_large(move || compress(&large)).await.unwrap_or_default()
}

/// A part of a page, for our own script.
pub(crate) fn fragment(status: StatusCode, html: String) -> Response {
    let mut response = dressed(writable(html), false);
    *response.status_mut() = status;
    response
}

/// Text of some kind, for one reader.
pub(crate) fn document(visit: &Visit, kind: &'static str, text: String) -> Response {
    let mut response = private(visit, writable(text));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    if visit.flash.is_some() && kind == HTML {
        Flash::take(&mut response, visit.cookies_secure);
    }
    response
}

/// An answer for one reader, compressed as quickly as can be; if it is large, elsewhere, when it is sent.
fn private(visit: &Visit, text: String) -> Response {
    if !visit.takes_gzip || text.len() < gzip::WORTH_BYTES {
        return dressed(text, false);
    }
    if text.len() < LARGE_BYTES {
        return dressed(gzip::compress(text.as_bytes(), Effort::Single), true);
    }
    let compressed = run_large(move || gzip::compress(text.as_bytes(), Effort::Single));
    let body = compressed.map(|bytes| bytes.ok_or_else(|| io::Error::other("compression panicked")));
    dressed(Body::from_stream(stream::once(body)), true)
}

/// The document without the characters that neither HTML nor XML may hold, wherever they came from.
fn writable(text: String) -> String {
    // Most documents hold no byte that such a character could start with, and are not looked at further.
    let may_start = |byte: u8| (byte < b' ' && byte != b'\n') || matches!(byte, 0x7f | 0xc2 | 0xef..);
    if !text.bytes().any(may_start) || !text.chars().any(is_forbidden) {
        return text;
    }
    text.chars().filter(|char| !is_forbidden(*char)).collect()
}

/// After a form: look there.
pub(crate) fn see_other(path: &str) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    let place = HeaderValue::from_str(path).unwrap_or(HeaderValue::from_static("/"));
    response.headers_mut().insert(header::LOCATION, place);
    response
}

fn dressed(body: impl Into<Body>, is_gzip: bool) -> Response {
    let mut response = Response::new(body.into());
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(HTML));
    headers.insert(header::CONTENT_SECURITY_POLICY, CSP);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    isolate(headers);
    headers.insert(header::CACHE_CONTROL, REVALIDATE);
    headers.insert(header::VARY, VARY);
    if is_gzip {
        headers.insert(header::CONTENT_ENCODING, GZIP);
    }
    response
}

fn has_seen(visit: &Visit, tag: &HeaderValue) -> bool {
    let text = |value: &HeaderValue| value.to_str().ok().map(|text| text.replace("W/", ""));
    let Some((seen, tag)) = visit.seen.as_ref().and_then(text).zip(text(tag)) else { return false };
    // `*` is any page there is.
    seen.split(',').map(str::trim).any(|seen| seen == tag || seen == "*")
}
