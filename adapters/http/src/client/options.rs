//! Whom a process asks for what, and how patient it is.

use super::PeerAddress;
use crate::InternalSecret;

/// Peers by what they answer, and the bounds of a call. A part that is in this process needs no peer.
#[derive(Debug, Clone)]
pub struct PeerOptions {
    /// Instances that own articles.
    pub articles: Vec<PeerAddress>,
    /// Instances that own comments.
    pub comments: Vec<PeerAddress>,
    /// Instances that own likes.
    pub likes: Vec<PeerAddress>,
    /// Instances that own views.
    pub views: Vec<PeerAddress>,
    /// Instances that own members.
    pub members: Vec<PeerAddress>,
    /// What every process of the site shares.
    pub secret: InternalSecret,
    /// How long a connection may take to come about.
    pub connect_timeout_ms: u64,
    /// How long one attempt may take, connecting included.
    pub answer_timeout_ms: u64,
    /// How long a call may take with all its attempts.
    pub call_timeout_ms: u64,
    /// Attempts after the first; no more than 2 are made.
    pub retries: u32,
    /// Calls to one instance at the same time; more wait a moment and are then refused.
    pub in_flight_max: usize,
    /// Failures in a row after which an instance is left alone.
    pub circuit_failures: u32,
    /// How long it is left alone before one call tries it again.
    pub circuit_open_ms: u64,
}

impl PeerOptions {
    /// No peers, and the usual bounds.
    pub fn new(secret: InternalSecret) -> Self {
        Self {
            articles: Vec::new(),
            comments: Vec::new(),
            likes: Vec::new(),
            views: Vec::new(),
            members: Vec::new(),
            secret,
            connect_timeout_ms: 300,
            answer_timeout_ms: 1_000,
            call_timeout_ms: 2_500,
            retries: 2,
            in_flight_max: 64,
            circuit_failures: 5,
            circuit_open_ms: 1_000,
        }
    }
}
