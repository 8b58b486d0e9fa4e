//! Whether an article exists: one look-up for all who ask at once, remembered for less than a second, never when failed.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::support::{Peer, Site, article, asking, eventually, options, secret};
use madang_board::ArticleLookup;
use madang_http::{FACTS_TTL_MS, HttpPeers};
use madang_kernel::{Clock, ManualClock, StoreError, Timestamp};
use tokio::task::JoinSet;

struct Asking {
    site: Arc<Site>,
    peers: Arc<HttpPeers>,
    clock: Arc<ManualClock>,
    _peer: Peer,
}

async fn site() -> Asking {
    let site = Site::of(9);
    let peer = Peer::serve(site.router(secret())).await;
    let (peers, clock) = asking(&options(&[&peer.address]));
    Asking { site, peers, clock, _peer: peer }
}

fn later(clock: &ManualClock, ms: i64) {
    clock.set(Timestamp::from_millis(clock.now().as_millis() + ms));
}

#[tokio::test]
async fn an_answer_is_remembered_for_less_than_half_a_second() {
    let Asking { site, peers, clock, _peer } = site().await;
    // One that exists, and one that does not.
    for (calls, raw) in [(0, 1), (2, 10)] {
        assert_eq!(peers.facts(article(raw)).await.unwrap().is_some(), raw <= 9);
        later(&clock, FACTS_TTL_MS - 1);
        assert_eq!(peers.facts(article(raw)).await.unwrap().is_some(), raw <= 9);
        assert_eq!(site.asked(), calls + 1);
        later(&clock, 1);
        assert_eq!(peers.facts(article(raw)).await.unwrap().is_some(), raw <= 9);
        assert_eq!(site.asked(), calls + 2);
    }
    later(&clock, -60_000);
    peers.facts(article(1)).await.unwrap();
    assert_eq!(site.asked(), 5, "after the clock stepped back an age says nothing");
}

#[tokio::test]
async fn many_who_ask_at_once_cost_one_look_up() {
    let Asking { site, peers, _peer, .. } = site().await;
    site.hold_answers();
    let mut asking = JoinSet::new();
    for _ in 0..64 {
        let peers = Arc::clone(&peers);
        asking.spawn(async move { peers.facts(article(1)).await });
    }
    eventually("the look-up arrives", || site.asked() == 1).await;
    site.answers.add_permits(64);
    while let Some(answer) = asking.join_next().await {
        assert!(answer.unwrap().unwrap().is_some());
    }
    assert_eq!(site.asked(), 1);
}

#[tokio::test]
async fn a_failure_reaches_all_who_asked_and_is_not_remembered() {
    let Asking { site, peers, _peer, .. } = site().await;
    site.hold_answers();
    site.away.store(true, Ordering::SeqCst);
    let mut asking = JoinSet::new();
    for _ in 0..8 {
        let peers = Arc::clone(&peers);
        asking.spawn(async move { peers.facts(article(1)).await });
    }
    eventually("the look-up arrives", || site.asked() == 1).await;
    site.answers.add_permits(64);
    while let Some(answer) = asking.join_next().await {
        let failed = answer.unwrap().unwrap_err();
        let StoreError::Unavailable { retry_after, .. } = failed else { panic!("{failed}") };
        assert_eq!(retry_after, Duration::from_millis(1_234));
    }
    site.away.store(false, Ordering::SeqCst);
    assert!(peers.facts(article(1)).await.unwrap().is_some());
}

#[tokio::test]
async fn who_goes_away_takes_no_answer_from_the_others_and_leaves_nothing_behind() {
    let Asking { site, peers, _peer, .. } = site().await;
    site.hold_answers();
    let (mut first, mut second) = (JoinSet::new(), JoinSet::new());
    for asking in [&mut first, &mut second] {
        let peers = Arc::clone(&peers);
        asking.spawn(async move { peers.facts(article(1)).await });
    }
    eventually("the look-up arrives", || site.asked() == 1).await;
    first.shutdown().await;
    site.answers.add_permits(1);
    assert!(second.join_next().await.unwrap().unwrap().unwrap().is_some());

    let lone = Arc::clone(&peers);
    first.spawn(async move { lone.facts(article(2)).await });
    eventually("the next look-up arrives", || site.asked() == 2).await;
    first.shutdown().await;
    site.answers.add_permits(64);
    assert!(peers.facts(article(2)).await.unwrap().is_some(), "nobody waits for a look-up that was given up");
}
