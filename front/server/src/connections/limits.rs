//! What a connection may cost before it has asked for anything.

use std::time::Duration;

/// Headers of one request.
pub(super) const HEADERS_MAX: usize = 64;
/// The longest head of a request, its address included.
pub(super) const HEAD_BYTES_MAX: u32 = 64 * 1_024;
/// What is read at once. A head that is not whole after so much is refused, and the read before may have brought as much.
pub(super) const READ_BUFFER_BYTES: usize = 32 * 1_024;

const _: () = assert!(2 * READ_BUFFER_BYTES == HEAD_BYTES_MAX as usize);
/// Requests of one HTTP/2 connection at the same time.
pub(super) const STREAMS_MAX: u32 = 128;

/// How many connections there may be, and how long a client may keep one waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Open connections; more are refused with 503 at once.
    pub connections: usize,
    /// TLS handshakes at the same time; more are cut at once.
    pub handshakes: usize,
    /// How long a client may take for a handshake, and then for the head of each request. It runs while a connection is
    /// idle as well, so a proxy in front must let go of idle connections sooner.
    pub head: Duration,
    /// How long a client may take no byte of an answer that waits for it, or acknowledge none.
    pub stall: Duration,
    /// How long a ready task may wait to run; while it is longer, a share of requests is shed with 503, writes before
    /// reads. With [`Duration::MAX`] none is shed for that.
    pub scheduling_delay: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            connections: 16_384,
            handshakes: 1_024,
            head: Duration::from_secs(10),
            stall: Duration::from_secs(30),
            scheduling_delay: Duration::from_millis(75),
        }
    }
}
