//! A site in memory behind a real listener on loopback, and peers that behave badly on demand.

mod peer;
mod site;

use std::sync::Arc;

use madang_http::{HttpPeers, InternalSecret, PeerAddress, PeerOptions};
use madang_kernel::{ManualClock, Timestamp};

pub(crate) use peer::{Manner, Peer, held_port};
pub(crate) use site::{Site, act, article, board};

/// What all processes of the test's site share.
pub(crate) fn secret() -> InternalSecret {
    InternalSecret::new([7; 32])
}

/// Options that name the same peers for every role, with time-outs generous enough for a busy machine.
pub(crate) fn options(peers: &[&PeerAddress]) -> PeerOptions {
    let peers: Vec<PeerAddress> = peers.iter().map(|address| (*address).clone()).collect();
    PeerOptions {
        articles: peers.clone(),
        comments: peers.clone(),
        likes: peers.clone(),
        views: peers.clone(),
        members: peers,
        connect_timeout_ms: 5_000,
        answer_timeout_ms: 20_000,
        call_timeout_ms: 60_000,
        ..PeerOptions::new(secret())
    }
}

/// Peers with a clock that stands still.
pub(crate) fn asking(options: &PeerOptions) -> (Arc<HttpPeers>, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_800_000_000_000)));
    (Arc::new(HttpPeers::new(options, clock.clone())), clock)
}

/// Waits until something holds; a minute is long enough for any machine.
pub(crate) async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let end = tokio::time::Instant::now() + std::time::Duration::from_secs(60);
    while !holds() {
        assert!(tokio::time::Instant::now() < end, "never came about: {what}");
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
}
