//! The `Idempotency-Key` of a request that creates something.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use madang_board::Actor;
use madang_kernel::{Id, Idempotency};
use sha2::{Digest, Sha256};

use crate::ApiError;

const KEY_CHARS_MAX: usize = 64;

/// The sender's key, if there is one.
pub(crate) struct IdempotencyKey(Option<String>);

impl<S: Send + Sync> FromRequestParts<S> for IdempotencyKey {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, ApiError> {
        let mut values = parts.headers.get_all("idempotency-key").iter();
        let Some(value) = values.next() else {
            return Ok(Self(None));
        };
        if values.next().is_some() {
            return Err(ApiError::Malformed("Idempotency-Key is given more than once.".into()));
        }
        let key = value.to_str().map_err(|_| ApiError::Malformed("Idempotency-Key must be ASCII.".into()))?;
        if !(1..=KEY_CHARS_MAX).contains(&key.len()) || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(ApiError::invalid("Idempotency-Key", "must have 1 to 64 visible characters and no spaces"));
        }
        Ok(Self(Some(key.to_owned())))
    }
}

impl IdempotencyKey {
    /// The request as the store remembers it: who, where, under which key, with which body.
    pub(crate) fn idempotency(self, actor: &Actor, scope: impl FnOnce() -> String, body: &[u8]) -> Option<Idempotency> {
        self.0.map(|key| Idempotency {
            caller: actor.member_id.raw(),
            scope: scope(),
            key,
            fingerprint: Sha256::digest(body).into(),
        })
    }
}
