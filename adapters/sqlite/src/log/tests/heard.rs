//! Who listens to commits hears what was committed, in order, before the answer, and nothing else.

use std::sync::{Mutex, mpsc};
use std::time::Duration;

use super::*;
use crate::log::report;

const PATIENCE: Duration = Duration::from_secs(20);

type Heard = Arc<Mutex<Vec<i64>>>;

fn listen(site: &Site) -> Heard {
    let heard = Heard::default();
    let kept = Arc::clone(&heard);
    let listening = site.db.on_commit(Arc::new(move |events| {
        kept.lock().unwrap().extend(events.iter().map(|envelope| envelope.event_id.raw()));
    }));
    assert!(listening);
    heard
}

async fn tell(site: &Site, number: i64, end: End) -> Result<(), StoreError> {
    let call = site.db.write(Lane::People, move |tx| {
        report(tx, viewed(number))?;
        end.happen(tx)
    });
    call.await
}

#[tokio::test]
async fn whoever_got_an_answer_finds_the_event_heard() {
    let site = Site::with(|_| {});
    let heard = listen(&site);
    for number in 1..=100 {
        tell(&site, number, End::Well).await.unwrap();
        assert_eq!(heard.lock().unwrap().last(), Some(&number));
    }
    assert_eq!(*heard.lock().unwrap(), (1..=100).collect::<Vec<_>>());
}

#[tokio::test]
async fn what_failed_calls_and_lost_batches_reported_is_never_heard() {
    let site = Site::with(|_| {});
    let heard = listen(&site);
    for number in 1..=60 {
        let end = [End::Well, End::Failing, End::Losing][number as usize % 3];
        let told = tell(&site, number, end).await;
        assert_eq!(told.is_ok(), end == End::Well, "{number}: {told:?}");
    }
    assert_eq!(*heard.lock().unwrap(), (1..=60).filter(|number| number % 3 == 0).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failures_within_one_batch_take_nothing_else_along() {
    let site = Arc::new(Site::with(|_| {}));
    let heard = listen(&site);
    // Everything below waits behind this call, and so shares a batch.
    let (release, held) = mpsc::channel::<()>();
    let db = site.db.clone();
    let mut calls = tokio::task::JoinSet::new();
    calls.spawn(async move {
        let hold = db.write(Lane::People, move |_| {
            let _ = held.recv_timeout(PATIENCE);
            Ok(())
        });
        hold.await.unwrap();
    });
    for number in 1..=90 {
        let site = Arc::clone(&site);
        calls.spawn(async move {
            let end = if number % 3 == 0 { End::Failing } else { End::Well };
            assert_eq!(tell(&site, number, end).await.is_ok(), end == End::Well);
        });
    }
    drop(release);
    while let Some(done) = calls.join_next().await {
        done.unwrap();
    }
    let mut heard = heard.lock().unwrap().clone();
    heard.sort_unstable();
    assert_eq!(heard, (1..=90).filter(|number| number % 3 != 0).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_listener_that_panics_stops_nobody() {
    let site = Site::with(|_| {});
    assert!(site.db.on_commit(Arc::new(|_| panic!("as the test wants"))));
    for number in 1..=3 {
        tell(&site, number, End::Well).await.unwrap();
    }
    let mut follower = site.follow("followers", &["madang.view.v1"]).await;
    let polled = follower.poll(10, PATIENCE).await.unwrap();
    assert!(matches!(polled, madang_messaging::Polled::Deliveries(found) if found.len() == 3));
}

#[tokio::test]
async fn only_one_listens_and_what_is_published_again_is_not_heard() {
    use madang_messaging::EventLog;
    let site = Site::with(|_| {});
    let heard = listen(&site);
    assert!(!site.db.on_commit(Arc::new(|_| {})));
    site.log.publish(&[message("retry", 5)]).await.unwrap();
    assert!(heard.lock().unwrap().is_empty());
}
