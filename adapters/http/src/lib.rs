//! What processes ask one another at once: both ends of the internal protocol. JSON over HTTP on a listener of its own,
//! every call with a shared secret; questions only, so that asking again or asking somebody else changes nothing.

mod client;
mod metric;
mod secret;
mod server;
mod wire;

pub use client::{
    FACTS_TTL_MS, HttpPeers, PeerActs, PeerAddress, PeerAddressError, PeerOptions, PeerOutbox, PeerState,
};
pub use secret::InternalSecret;
pub use server::{InternalArticles, InternalBoards, InternalComments, InternalParts, Outboxes, internal_router};
pub use wire::{ANSWER_BYTES_MAX, BODY_BYTES_MAX, OutboxOf};
