//! Responses: JSON written straight into its buffer, entity tags, what caches may do with it, and the headers that go with a
//! creation. What is read goes out compressed to who takes it; what is cached was compressed once.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use madang_server::gzip::{self, Effort};
use madang_server::{CachedBody, CompressedBody, LARGE_BYTES, Rejection, run_large};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::ApiError;
use crate::extract::{Form, Reader};

/// Enough for everything but texts; a longer body grows its buffer.
const BODY_BYTES_HINT: usize = 512;
/// Headers of a response together with those that every response gets later: their table need not grow.
const HEADERS: usize = 12;

pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");
const GZIP: HeaderValue = HeaderValue::from_static("gzip");
/// Kept by the browser alone, and checked with us before each use.
const REVALIDATE: HeaderValue = HeaderValue::from_static("private, no-cache");

/// Whom a read is for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Audience {
    /// The same for whoever asks.
    Everybody,
    /// Another one for each who asks.
    Caller,
}

impl Audience {
    fn vary(self) -> HeaderValue {
        match self {
            Self::Everybody => HeaderValue::from_static("accept-encoding"),
            Self::Caller => HeaderValue::from_static("accept-encoding, authorization, cookie"),
        }
    }
}

/// A JSON response to a call that changed something.
pub(crate) fn json(status: StatusCode, body: &impl Serialize) -> Result<Response, ApiError> {
    Ok(bytes(status, encode(body, BODY_BYTES_HINT)?))
}

/// A JSON response to a change, with the entity tag of what it made.
pub(crate) fn changed(tag: &str, body: &impl Serialize) -> Result<Response, ApiError> {
    let mut response = json(StatusCode::OK, body)?;
    response.headers_mut().insert(header::ETAG, text(tag)?);
    Ok(response)
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

/// What somebody reads, about so long.
pub(crate) async fn read(
    reader: &Reader,
    audience: Audience,
    body: &impl Serialize,
    bytes_hint: usize,
) -> Result<Response, ApiError> {
    if reader.has_any() {
        return Ok(not_modified(None, audience));
    }
    let json = encode(body, BODY_BYTES_HINT + bytes_hint)?;
    send(reader, audience, json.into(), None).await
}

/// What somebody reads, with an entity tag known beforehand; 304 without encoding anything if they have it.
pub(crate) async fn tagged(
    reader: &Reader,
    audience: Audience,
    tag: &str,
    body: &impl Serialize,
    bytes_hint: usize,
) -> Result<Response, ApiError> {
    let plain = text(tag)?;
    if let Some(form) = reader.has(tag) {
        return Ok(not_modified(Some(tag_in(form, plain)), audience));
    }
    let json = encode(body, BODY_BYTES_HINT + bytes_hint)?;
    send(reader, audience, json.into(), Some(plain)).await
}

/// The same with a digest of the body as tag: for small things that have no version.
pub(crate) async fn digested(reader: &Reader, audience: Audience, body: &impl Serialize) -> Result<Response, ApiError> {
    let tag = digest_tag(body)?;
    tagged(reader, audience, &tag, body, 0).await
}

/// The entity tag of a small thing without a version.
pub(crate) fn digest_tag(body: &impl Serialize) -> Result<String, ApiError> {
    let digest = Sha256::digest(encode(body, BODY_BYTES_HINT)?);
    Ok(format!("\"{}\"", hex::encode(&digest[..8])))
}

/// A response that is rendered already; 304 if the reader has it. The first who takes it compressed has that done for all.
pub(crate) fn cached(reader: &Reader, body: &CachedBody) -> Response {
    let is_worth_it = reader.takes_gzip && body.bytes.len() >= gzip::WORTH_BYTES;
    shared(reader, body, |body| is_worth_it.then(|| body.compressed(Effort::Shared)))
}

/// A response that was rendered just now. It is not compressed unless that was done before, or it is too long to be cached:
/// most of what is asked for once is small, and compressing it would cost more than rendering it did.
pub(crate) async fn rendered(reader: &Reader, body: Arc<CachedBody>) -> Result<Response, ApiError> {
    if reader.takes_gzip && body.bytes.len() >= LARGE_BYTES && body.compressed_before().is_none() {
        let large = body.clone();
        run_large(move || large.compressed(Effort::Single).bytes.len()).await.ok_or(Rejection::Internal)?;
    }
    Ok(shared(reader, &body, |body| body.compressed_before().filter(|_| reader.takes_gzip)))
}

fn shared(
    reader: &Reader,
    body: &CachedBody,
    compressed: impl FnOnce(&CachedBody) -> Option<&CompressedBody>,
) -> Response {
    let has = body.tag.as_ref().and_then(|tag| reader.has(tag.to_str().ok()?).map(|form| (tag, form)));
    if let Some((tag, form)) = has {
        return not_modified(Some(tag_in(form, tag.clone())), Audience::Everybody);
    }
    if body.tag.is_none() && reader.has_any() {
        return not_modified(None, Audience::Everybody);
    }
    match compressed(body) {
        Some(CompressedBody { bytes, tag }) => found(Audience::Everybody, bytes.clone(), tag.clone(), Some(GZIP)),
        None => found(Audience::Everybody, body.bytes.clone(), body.tag.clone(), None),
    }
}

/// An encoded body for one reader, compressed as quickly as can be if they take that; elsewhere, if it is large.
async fn send(
    reader: &Reader,
    audience: Audience,
    json: Bytes,
    tag: Option<HeaderValue>,
) -> Result<Response, ApiError> {
    if !reader.takes_gzip || json.len() < gzip::WORTH_BYTES {
        return Ok(found(audience, json, tag, None));
    }
    let is_large = json.len() >= LARGE_BYTES;
    let compress = move || gzip::compress(&json, Effort::Single);
    let compressed = if is_large { run_large(compress).await.ok_or(Rejection::Internal)? } else { compress() };
    Ok(found(audience, compressed, tag.as_ref().map(gzip::tag_of_compressed), Some(GZIP)))
}

fn found(audience: Audience, body: Bytes, tag: Option<HeaderValue>, coding: Option<HeaderValue>) -> Response {
    let mut response = bytes(StatusCode::OK, body);
    let headers = response.headers_mut();
    if let Some(coding) = coding {
        headers.insert(header::CONTENT_ENCODING, coding);
    }
    for_caches(headers, tag, audience);
    response
}

fn not_modified(tag: Option<HeaderValue>, audience: Audience) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    for_caches(response.headers_mut(), tag, audience);
    response
}

fn for_caches(headers: &mut HeaderMap, tag: Option<HeaderValue>, audience: Audience) {
    if let Some(tag) = tag {
        headers.insert(header::ETAG, tag);
    }
    headers.insert(header::CACHE_CONTROL, REVALIDATE);
    headers.insert(header::VARY, audience.vary());
}

fn tag_in(form: Form, plain: HeaderValue) -> HeaderValue {
    match form {
        Form::Plain => plain,
        Form::Compressed => gzip::tag_of_compressed(&plain),
    }
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
        tracing::error!("cannot encode a response, answering with 500: {error}");
        Rejection::Internal
    })?;
    Ok(buffer)
}

fn bytes(status: StatusCode, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    *response.headers_mut() = HeaderMap::with_capacity(HEADERS);
    response.headers_mut().insert(header::CONTENT_TYPE, JSON);
    response
}

/// Text of ours as a header value.
pub(crate) fn text(value: &str) -> Result<HeaderValue, ApiError> {
    HeaderValue::from_str(value).map_err(|error| {
        tracing::error!("cannot encode a header, answering with 500: {error}");
        ApiError::from(Rejection::Internal)
    })
}
