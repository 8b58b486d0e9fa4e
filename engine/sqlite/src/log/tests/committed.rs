//! Whoever follows commits is told of what was committed, in order, before the answer, and of nothing else.

use std::sync::{Mutex, mpsc};
use std::time::Duration;

use async_trait::async_trait;
use madang_messaging::{AfterCommit, EventLog, Polled};

use super::*;

const PATIENCE: Duration = Duration::from_secs(20);

/// Notes the numbers of what was committed.
#[derive(Default)]
struct Noting(Mutex<Vec<i64>>);

#[async_trait]
impl AfterCommit<Happened> for Noting {
    fn committed(&self, events: &[Happened]) {
        self.0.lock().unwrap().extend(events.iter().map(|event| event.0));
    }
}

impl Noting {
    fn numbers(&self) -> Vec<i64> {
        self.0.lock().unwrap().clone()
    }
}

fn follow(site: &Site) -> Arc<Noting> {
    let noting = Arc::new(Noting::default());
    assert!(site.db.after_commit(noting.clone()));
    noting
}

async fn report(site: &Site, number: i64, end: End) -> Result<(), StoreError> {
    let call = site.db.write(Priority::Foreground, move |tx| {
        tx.report(Happened(number))?;
        end.happen(tx)
    });
    call.await
}

#[tokio::test]
async fn whoever_got_an_answer_finds_the_event_noted() {
    let site = Site::with(|_| {});
    let noting = follow(&site);
    for number in 1..=100 {
        report(&site, number, End::Well).await.unwrap();
        assert_eq!(noting.numbers().last(), Some(&number));
    }
    assert_eq!(noting.numbers(), (1..=100).collect::<Vec<_>>());
}

#[tokio::test]
async fn what_failed_calls_and_lost_batches_reported_is_never_noted() {
    let site = Site::with(|_| {});
    let noting = follow(&site);
    for number in 1..=60 {
        let end = [End::Well, End::Failing, End::Losing][number as usize % 3];
        let reported = report(&site, number, end).await;
        assert_eq!(reported.is_ok(), end == End::Well, "{number}: {reported:?}");
    }
    assert_eq!(noting.numbers(), (1..=60).filter(|number| number % 3 == 0).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failures_within_one_batch_take_nothing_else_along() {
    let site = Arc::new(Site::with(|_| {}));
    let noting = follow(&site);
    // Everything below waits behind this call, and so shares a batch.
    let (release, held) = mpsc::channel::<()>();
    let db = site.db.clone();
    let mut calls = tokio::task::JoinSet::new();
    calls.spawn(async move {
        let hold = db.write(Priority::Foreground, move |_| {
            let _ = held.recv_timeout(PATIENCE);
            Ok(())
        });
        hold.await.unwrap();
    });
    for number in 1..=90 {
        let site = Arc::clone(&site);
        calls.spawn(async move {
            let end = if number % 3 == 0 { End::Failing } else { End::Well };
            assert_eq!(report(&site, number, end).await.is_ok(), end == End::Well);
        });
    }
    drop(release);
    while let Some(done) = calls.join_next().await {
        done.unwrap();
    }
    let mut noted = noting.numbers();
    noted.sort_unstable();
    assert_eq!(noted, (1..=90).filter(|number| number % 3 != 0).collect::<Vec<_>>());
}

struct Panicking;

#[async_trait]
impl AfterCommit<Happened> for Panicking {
    fn committed(&self, _events: &[Happened]) {
        panic!("as the test wants");
    }
}

#[tokio::test]
async fn a_follower_that_panics_stops_nobody() {
    let site = Site::with(|_| {});
    assert!(site.db.after_commit(Arc::new(Panicking)));
    for number in 1..=3 {
        report(&site, number, End::Well).await.unwrap();
    }
    let mut group = site.follow("group", &["happened"]).await;
    let polled = group.poll(10, PATIENCE).await.unwrap();
    assert!(matches!(polled, Polled::Deliveries(found) if found.len() == 3));
}

#[tokio::test]
async fn only_one_follows_and_what_is_published_again_is_no_event() {
    let site = Site::with(|_| {});
    let noting = follow(&site);
    assert!(!site.db.after_commit(Arc::new(Panicking)));
    site.log.publish(&[message("retry", 5)]).await.unwrap();
    assert!(noting.numbers().is_empty());
}
