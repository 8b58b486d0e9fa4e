//! The inbox: an effect happens once per group and event, and one that fails leaves nothing behind.

use std::sync::Arc;
use std::time::Duration;

use madang_kernel::{EventId, Id, ManualClock};
use madang_messaging::{Applied, GroupId, HandlerError, Inbox};
use tokio::task::JoinSet;

/// An inbox with nothing in it, and effects that can be seen.
#[async_trait::async_trait]
pub trait InboxHarness: Send + Sync + Sized {
    /// The inbox under test.
    type Inbox: Inbox + 'static;
    /// A fresh inbox.
    async fn fresh() -> Self;
    /// The inbox, to be shared with tasks.
    fn inbox(&self) -> Arc<Self::Inbox>;
    /// The clock that the store reads.
    fn clock(&self) -> &Arc<ManualClock>;
    /// An effect that writes `text` down, in the transaction.
    fn effect(&self, text: &str) -> <Self::Inbox as Inbox>::Effect;
    /// An effect that writes `text` down and then fails.
    fn failing_effect(&self, text: &str) -> <Self::Inbox as Inbox>::Effect;
    /// What effects wrote down, in order.
    async fn written(&self) -> Vec<String>;
}

fn group() -> GroupId {
    GroupId::new("readers")
}

fn event(number: i64) -> EventId {
    EventId::from_raw(number)
}

suite! { $ inbox_suite, inbox, InboxHarness;
    /// The second time nothing happens, and the caller is told.
    async fn an_effect_happens_once(harness) {
        let inbox = harness.inbox();
        let first = inbox.apply_once(&group(), event(1), None, harness.effect("one")).await.unwrap();
        let second = inbox.apply_once(&group(), event(1), None, harness.effect("one again")).await.unwrap();
        assert_eq!((first, second), (Applied::Now, Applied::Before));
        assert_eq!(harness.written().await, ["one"]);
    }

    /// Each group has its own effects of one event.
    async fn groups_remember_apart(harness) {
        let inbox = harness.inbox();
        for name in ["first", "second"] {
            let applied = inbox.apply_once(&GroupId::new(name), event(1), None, harness.effect(name)).await.unwrap();
            assert_eq!(applied, Applied::Now);
        }
        assert_eq!(harness.written().await, ["first", "second"]);
    }

    /// Nothing of a failed effect stays, nor the memory of its event: it can be tried again.
    async fn a_failing_effect_leaves_nothing(harness) {
        let inbox = harness.inbox();
        let failed = inbox.apply_once(&group(), event(1), None, harness.failing_effect("half")).await;
        assert!(matches!(failed, Err(HandlerError::Failed(_))), "{failed:?}");
        assert!(harness.written().await.is_empty());
        let again = inbox.apply_once(&group(), event(1), None, harness.effect("whole")).await.unwrap();
        assert_eq!(again, Applied::Now);
        assert_eq!(harness.written().await, ["whole"]);
    }

    /// One failing effect does not touch those that are applied beside it.
    async fn a_failing_effect_fails_alone(harness) {
        let mut tasks = JoinSet::new();
        for number in 1..=40 {
            let inbox = harness.inbox();
            let fails = number % 4 == 0;
            let text = number.to_string();
            let effect = if fails { harness.failing_effect(&text) } else { harness.effect(&text) };
            tasks.spawn(async move { (fails, inbox.apply_once(&group(), event(number), None, effect).await.is_err()) });
        }
        while let Some(applied) = tasks.join_next().await {
            let (fails, failed) = applied.unwrap();
            assert_eq!(fails, failed);
        }
        let mut written: Vec<i64> = harness.written().await.iter().map(|text| text.parse().unwrap()).collect();
        written.sort_unstable();
        assert_eq!(written, (1..=40).filter(|number| number % 4 != 0).collect::<Vec<_>>());
    }

    /// Of many who bring the same event at once, one has the effect.
    async fn a_race_has_one_winner(harness) {
        let mut tasks = JoinSet::new();
        for runner in 0..16 {
            let (inbox, effect) = (harness.inbox(), harness.effect(&runner.to_string()));
            tasks.spawn(async move { inbox.apply_once(&group(), event(1), None, effect).await.unwrap() });
        }
        let mut winners = 0;
        while let Some(applied) = tasks.join_next().await {
            winners += usize::from(applied.unwrap() == Applied::Now);
        }
        assert_eq!((winners, harness.written().await.len()), (1, 1));
    }

    /// Only what is older than asked is forgotten.
    async fn only_old_events_are_forgotten(harness) {
        let inbox = harness.inbox();
        inbox.apply_once(&group(), event(1), None, harness.effect("old")).await.unwrap();
        harness.clock().advance(Duration::from_secs(100));
        inbox.apply_once(&group(), event(2), None, harness.effect("new")).await.unwrap();
        assert_eq!(inbox.forget_older_than(Duration::from_secs(50)).await.unwrap(), 1);
        let old = inbox.apply_once(&group(), event(1), None, harness.effect("old again")).await.unwrap();
        let new = inbox.apply_once(&group(), event(2), None, harness.effect("new again")).await.unwrap();
        assert_eq!((old, new), (Applied::Now, Applied::Before));
    }
}
