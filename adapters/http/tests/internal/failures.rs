//! Peers that are away, slow or talk nonsense: another instance is asked, a circuit opens and closes, and nobody waits
//! for ever.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::{Manner, Peer, Site, article, asking, eventually, held_port, options, secret};
use axum::Router;
use madang_article_read::{LikeOwner, ViewOwner};
use madang_http::{ANSWER_BYTES_MAX, PeerOptions};
use madang_kernel::StoreError;
use tokio::task::JoinSet;

fn is_unavailable(error: &StoreError) -> bool {
    matches!(error, StoreError::Unavailable { .. })
}

#[tokio::test]
async fn when_one_instance_is_away_another_answers() {
    let site = Site::of(1);
    let peer = Peer::serve(site.router(secret())).await;
    let (_held, nobody) = held_port();
    // The circuit must not help: each call meets the absent one first, or second.
    let (peers, _) = asking(&PeerOptions { circuit_failures: u32::MAX, ..options(&[&nobody, &peer.address]) });
    for _ in 0..10 {
        assert_eq!(peers.like_counts(&[article(1)]).await.unwrap(), [site.count(article(1), 2)]);
    }
    assert_eq!(site.asked(), 10);
    let states: Vec<_> = peers.states().into_iter().map(|state| (state.address, state.failures > 0)).collect();
    assert_eq!(states, [(nobody, true), (peer.address.clone(), false)]);
}

#[tokio::test]
async fn when_one_instance_is_silent_another_answers() {
    let site = Site::of(1);
    let (silent, peer) = (Peer::serve(Router::new()).await, Peer::serve(site.router(secret())).await);
    silent.turns(Manner::IsSilent);
    let both = options(&[&silent.address, &peer.address]);
    let (peers, _) = asking(&PeerOptions { answer_timeout_ms: 2_000, circuit_failures: u32::MAX, ..both });
    for _ in 0..2 {
        assert_eq!(peers.view_counts(&[article(1)]).await.unwrap(), [Some(13)]);
    }
    assert!(silent.connections() > 0, "one of the two calls began there");
}

#[tokio::test]
async fn a_call_ends_in_time_when_nobody_answers() {
    let (first, second) = (Peer::serve(Router::new()).await, Peer::serve(Router::new()).await);
    for peer in [&first, &second] {
        peer.turns(Manner::IsSilent);
    }
    let both = options(&[&first.address, &second.address]);
    let (peers, _) = asking(&PeerOptions { answer_timeout_ms: 200, call_timeout_ms: 500, ..both });
    let failed = tokio::time::timeout(Duration::from_secs(30), peers.like_counts(&[article(1)])).await.unwrap();
    let failed = failed.unwrap_err();
    assert!(is_unavailable(&failed) && failed.to_string().contains("no answer within"), "{failed}");
    assert!(first.connections() + second.connections() <= 3, "at most two retries");
}

#[tokio::test]
async fn a_call_is_tried_three_times_at_most() {
    let peer = Peer::serve(Router::new()).await;
    peer.turns(Manner::HangsUp);
    let (peers, _) = asking(&PeerOptions { retries: 99, circuit_failures: u32::MAX, ..options(&[&peer.address]) });
    assert!(is_unavailable(&peers.like_counts(&[article(1)]).await.unwrap_err()));
    assert_eq!((peer.connections(), peers.states()[0].failures), (3, 3));
}

#[tokio::test]
async fn a_peer_that_was_restarted_between_two_calls_is_asked_again() {
    let site = Site::of(1);
    let peer = Peer::serve(site.router(secret())).await;
    let (peers, _) = asking(&options(&[&peer.address]));
    for _ in 0..5 {
        assert_eq!(peers.view_counts(&[article(1)]).await.unwrap(), [Some(13)]);
        // Every connection that was kept is closed by the other end.
        peer.turns(Manner::HangsUp);
        peer.turns(Manner::Serves);
    }
}

#[tokio::test]
async fn a_circuit_opens_after_failures_in_a_row_and_closes_with_an_answer() {
    let site = Site::of(1);
    let peer = Peer::serve(site.router(secret())).await;
    peer.turns(Manner::HangsUp);
    let bounds = PeerOptions { retries: 0, circuit_failures: 3, circuit_open_ms: 1_000, ..options(&[&peer.address]) };
    let (peers, clock) = asking(&bounds);
    let is_open = || peers.states()[0].is_open;
    for call in 0..3 {
        assert!(!is_open(), "{call}");
        assert!(is_unavailable(&peers.like_counts(&[article(1)]).await.unwrap_err()));
    }
    assert!(is_open());
    for _ in 0..10 {
        let failed = peers.like_counts(&[article(1)]).await.unwrap_err();
        assert!(is_unavailable(&failed) && failed.to_string().contains("no peer that has it answers"), "{failed}");
    }
    assert_eq!(peer.connections(), 3, "it was left alone");
    clock.advance(Duration::from_millis(1_000));
    for _ in 0..10 {
        assert!(peers.like_counts(&[article(1)]).await.is_err());
    }
    assert_eq!((peer.connections(), is_open()), (4, true), "one call tried it");
    peer.turns(Manner::Serves);
    clock.advance(Duration::from_millis(1_000));
    for _ in 0..10 {
        assert!(peers.like_counts(&[article(1)]).await.is_ok());
    }
    assert_eq!((is_open(), peers.states()[0].failures), (false, 0));
}

#[tokio::test]
async fn a_store_that_is_away_behind_a_peer_opens_no_circuit_and_is_tried_at_another_instance() {
    let (first, second) = (Site::of(1), Site::of(1));
    let (one, two) = (Peer::serve(first.router(secret())).await, Peer::serve(second.router(secret())).await);
    let (peers, _) = asking(&PeerOptions { circuit_failures: 1, ..options(&[&one.address, &two.address]) });
    first.away.store(true, Ordering::SeqCst);
    for _ in 0..4 {
        assert!(peers.like_counts(&[article(1)]).await.is_ok());
    }
    assert_eq!(second.asked(), 4);
    second.away.store(true, Ordering::SeqCst);
    let asked = first.asked() + second.asked();
    assert!(is_unavailable(&peers.like_counts(&[article(1)]).await.unwrap_err()));
    assert_eq!(first.asked() + second.asked(), asked + 2, "each was asked once");
    assert!(peers.states().iter().all(|state| !state.is_open));
}

/// A peer that answers everything with `body`.
async fn answering(body: Vec<u8>) -> (Peer, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let router = Router::new().fallback(move || {
        count.fetch_add(1, Ordering::SeqCst);
        std::future::ready(body.clone())
    });
    (Peer::serve(router).await, asked)
}

#[tokio::test]
async fn answers_that_are_too_large_or_make_no_sense_are_defects_and_not_asked_for_again() {
    let counts = |count| format!("{{\"counts\":[{}]}}", vec!["1"; count].join(",")).into_bytes();
    let nonsense = [vec![b' '; ANSWER_BYTES_MAX + 1], b"nonsense".to_vec(), Vec::new(), counts(1), counts(3)];
    for body in nonsense {
        let (peer, asked) = answering(body.clone()).await;
        let (peers, _) = asking(&options(&[&peer.address]));
        let failed = peers.view_counts(&[article(1), article(2)]).await.unwrap_err();
        assert!(matches!(failed, StoreError::Broken { what: "views", .. }), "{} bytes: {failed}", body.len());
        assert_eq!(asked.load(Ordering::SeqCst), 1);
    }
    let (peer, _) = answering(counts(2)).await;
    let (peers, _) = asking(&options(&[&peer.address]));
    assert_eq!(peers.view_counts(&[article(1), article(2)]).await.unwrap(), [Some(1), Some(1)]);
}

#[tokio::test]
async fn a_slow_peer_takes_no_more_calls_than_it_may_and_others_do_not_notice() {
    let (slow, quick) = (Site::of(9), Site::of(9));
    let (slow_peer, quick_peer) = (Peer::serve(slow.router(secret())).await, Peer::serve(quick.router(secret())).await);
    let mut bounds = options(&[&slow_peer.address]);
    bounds.views = vec![quick_peer.address.clone()];
    let (peers, _) = asking(&PeerOptions { in_flight_max: 2, ..bounds });
    slow.hold_answers();
    let mut calls = JoinSet::new();
    for _ in 0..6 {
        let peers = Arc::clone(&peers);
        calls.spawn(async move { peers.like_counts(&[article(1)]).await });
    }
    // Four find no place and are told so, while two are under way.
    for _ in 0..4 {
        let failed = calls.join_next().await.unwrap().unwrap().unwrap_err();
        assert!(failed.to_string().contains("too many calls"), "{failed}");
    }
    eventually("both questions arrive", || slow.asked() == 2).await;
    assert_eq!(peers.view_counts(&[article(1)]).await.unwrap(), [Some(13)]);
    assert!(peers.states().iter().all(|state| !state.is_open), "our own bound says nothing about the peer");
    slow.answers.add_permits(2);
    while let Some(answered) = calls.join_next().await {
        assert!(answered.unwrap().is_ok());
    }
}
