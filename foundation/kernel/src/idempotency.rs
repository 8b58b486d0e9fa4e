//! Idempotency keys: the same request, sent twice, has one effect and one answer.

/// How long a key is remembered.
pub const IDEMPOTENCY_KEPT_MS: i64 = 24 * 60 * 60 * 1_000;

/// A request that must have its effect once. Stored in the transaction of the effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Idempotency {
    /// Who sends it, by the id that the program gives its callers.
    pub caller: i64,
    /// Method and path: the same key elsewhere is another key.
    pub scope: String,
    /// The sender's key, 1 to 64 visible ASCII characters.
    pub key: String,
    /// A digest of the body: the same key with another body is refused.
    pub fingerprint: [u8; 32],
}

/// What became of a creation that may carry a [`Idempotency`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Created<T> {
    /// It happened now.
    Now(T),
    /// It had happened before; this is what was answered then.
    Before(T),
    /// The key was used with another body; nothing was done.
    KeyReused,
}
