//! Reads a body up to its limit.

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, header};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;

use crate::ApiError;

/// How much of a body that is too long is read and thrown away. A client that still writes when the connection closes
/// sees a reset instead of the answer.
const DISCARD_BYTES_MAX: usize = 4 * 1_024 * 1_024;

/// The whole body, or why not.
pub(super) async fn read(request: Request, limit_bytes: usize) -> Result<Bytes, ApiError> {
    let too_large = ApiError::TooLarge { limit_bytes };
    let (parts, mut body) = request.into_parts();
    if parts.headers.get_all(header::CONTENT_ENCODING).iter().any(|coding| coding != "identity") {
        discard(body, 0).await;
        return Err(ApiError::Encoded);
    }
    if announced(&parts.headers).is_some_and(|length| length > limit_bytes as u64) {
        // A client that waits for `100 Continue` has not begun to write: asking for the body would start it.
        if !parts.headers.contains_key(header::EXPECT) {
            discard(body, 0).await;
        }
        return Err(too_large);
    }
    let mut first = Bytes::new();
    let mut rest = BytesMut::new();
    while let Some(data) = next(&mut body).await? {
        let so_far = first.len() + rest.len() + data.len();
        if so_far > limit_bytes {
            discard(body, so_far).await;
            return Err(too_large);
        }
        // Nearly every body arrives in one piece, which then need not be copied.
        if first.is_empty() {
            first = data;
        } else {
            rest.extend_from_slice(&data);
        }
    }
    Ok(if rest.is_empty() { first } else { [first, rest.freeze()].concat().into() })
}

fn announced(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

async fn next(body: &mut Body) -> Result<Option<Bytes>, ApiError> {
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| ApiError::Malformed("The body ended before it was complete.".into()))?;
        if let Ok(data) = frame.into_data() {
            return Ok(Some(data));
        }
    }
    Ok(None)
}

async fn discard(mut body: Body, mut so_far: usize) {
    while let Ok(Some(data)) = next(&mut body).await {
        so_far += data.len();
        if so_far > DISCARD_BYTES_MAX {
            return;
        }
    }
}
