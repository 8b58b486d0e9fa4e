//! Responses: JSON written straight into its buffer, entity tags, and the headers that go with a creation.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use madang_server::{CachedBody, Rejection};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::ApiError;
use crate::extract::IfNoneMatch;

/// Enough for everything but texts; a longer body grows its buffer.
const BODY_BYTES_HINT: usize = 512;

pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// Kept by the browser alone, and checked with us before each use.
const REVALIDATE: HeaderValue = HeaderValue::from_static("private, no-cache");

/// A JSON response.
pub(crate) fn json(status: StatusCode, body: &impl Serialize) -> Result<Response, ApiError> {
    Ok(bytes(status, encode(body, BODY_BYTES_HINT)?))
}

/// A JSON response that is about so long: its buffer need not grow.
pub(crate) fn json_of(status: StatusCode, body: &impl Serialize, bytes_hint: usize) -> Result<Response, ApiError> {
    Ok(bytes(status, encode(body, BODY_BYTES_HINT + bytes_hint)?))
}

/// A JSON response to a creation, which says where the new thing is.
pub(crate) fn created(location: &str, tag: Option<String>, body: &impl Serialize) -> Result<Response, ApiError> {
    let mut response = json(StatusCode::CREATED, body)?;
    response.headers_mut().insert(header::LOCATION, text(location)?);
    if let Some(tag) = tag {
        response.headers_mut().insert(header::ETAG, text(&tag)?);
    }
    Ok(response)
}

/// A JSON response with an entity tag known beforehand; 304 without encoding anything if the caller has seen it.
pub(crate) fn tagged(
    seen: &IfNoneMatch,
    tag: &str,
    body: &impl Serialize,
    bytes_hint: usize,
) -> Result<Response, ApiError> {
    let mut response = if seen.matches(tag) {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        bytes(StatusCode::OK, encode(body, BODY_BYTES_HINT + bytes_hint)?)
    };
    response.headers_mut().insert(header::ETAG, text(tag)?);
    response.headers_mut().insert(header::CACHE_CONTROL, REVALIDATE);
    Ok(response)
}

/// A response that is rendered already; 304 if the caller has seen it.
pub(crate) fn cached(seen: Option<&IfNoneMatch>, cached: &CachedBody) -> Response {
    let is_seen = |tag: &HeaderValue| seen.is_some_and(|seen| tag.to_str().is_ok_and(|tag| seen.matches(tag)));
    let mut response = if cached.tag.as_ref().is_some_and(is_seen) {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        bytes(StatusCode::OK, cached.bytes.clone())
    };
    if let Some(tag) = &cached.tag {
        response.headers_mut().insert(header::ETAG, tag.clone());
        response.headers_mut().insert(header::CACHE_CONTROL, REVALIDATE);
    }
    response
}

/// A JSON response whose entity tag is a digest of its body: for small things that have no version.
pub(crate) fn digested(seen: &IfNoneMatch, body: &impl Serialize) -> Result<Response, ApiError> {
    let tag = digest_tag(body)?;
    tagged(seen, &tag, body, 0)
}

/// The entity tag of a small thing without a version.
pub(crate) fn digest_tag(body: &impl Serialize) -> Result<String, ApiError> {
    let digest = Sha256::digest(encode(body, BODY_BYTES_HINT)?);
    Ok(format!("\"{}\"", hex::encode(&digest[..8])))
}

/// Done, with nothing to say.
pub(crate) fn no_content() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

/// A body as JSON, in a buffer that starts so large.
pub(crate) fn encode(body: &impl Serialize, capacity: usize) -> Result<Vec<u8>, ApiError> {
    let mut buffer = Vec::with_capacity(capacity);
    serde_json::to_writer(&mut buffer, body).map_err(|error| {
        tracing::error!("a response cannot be encoded, answering with 500: {error}");
        Rejection::Internal
    })?;
    Ok(buffer)
}

/// A response of JSON that is encoded already.
pub(crate) fn bytes(status: StatusCode, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, JSON);
    response
}

/// Text of ours as a header value.
pub(crate) fn text(value: &str) -> Result<HeaderValue, ApiError> {
    HeaderValue::from_str(value).map_err(|error| {
        tracing::error!("a header cannot be encoded, answering with 500: {error}");
        ApiError::from(Rejection::Internal)
    })
}
