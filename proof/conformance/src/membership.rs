//! Membership: who beats lives, who is silent dies by the store's clock, who leaves is gone at once.

use std::time::Duration;

use madang_messaging::{InstanceId, Membership};

/// A membership with nobody in it.
#[async_trait::async_trait]
pub trait MembershipHarness: Send + Sync + Sized {
    /// A fresh membership.
    async fn fresh() -> Self;
    /// The membership.
    fn membership(&self) -> &dyn Membership;
    /// Lets time pass by the store's clock.
    async fn pass(&self, span: Duration);
}

const DEAD_AFTER: Duration = Duration::from_millis(900);

fn instance(name: &str) -> InstanceId {
    InstanceId::new(name)
}

fn names(instances: &[InstanceId]) -> Vec<&str> {
    instances.iter().map(InstanceId::as_str).collect()
}

suite! { $ membership_suite, membership, MembershipHarness;
    /// A beat answers with all the living, in order.
    async fn a_beat_tells_who_lives(harness) {
        let membership = harness.membership();
        for name in ["c", "a", "b"] {
            membership.beat("article", &instance(name), DEAD_AFTER).await.unwrap();
        }
        let living = membership.beat("article", &instance("a"), DEAD_AFTER).await.unwrap();
        assert_eq!(names(&living), ["a", "b", "c"]);
        assert_eq!(membership.living("article", DEAD_AFTER).await.unwrap(), living);
    }

    /// Services do not see one another.
    async fn services_are_apart(harness) {
        let membership = harness.membership();
        membership.beat("article", &instance("a"), DEAD_AFTER).await.unwrap();
        let living = membership.beat("comment", &instance("b"), DEAD_AFTER).await.unwrap();
        assert_eq!(names(&living), ["b"]);
    }

    /// Who is silent for longer than allowed is dead; who beats goes on living.
    async fn the_silent_die(harness) {
        let membership = harness.membership();
        membership.beat("article", &instance("silent"), DEAD_AFTER).await.unwrap();
        membership.beat("article", &instance("loud"), DEAD_AFTER).await.unwrap();
        harness.pass(Duration::from_millis(600)).await;
        let living = membership.beat("article", &instance("loud"), DEAD_AFTER).await.unwrap();
        assert_eq!(names(&living), ["loud", "silent"]);
        harness.pass(Duration::from_millis(600)).await;
        assert_eq!(names(&membership.living("article", DEAD_AFTER).await.unwrap()), ["loud"]);
        let living = membership.beat("article", &instance("loud"), DEAD_AFTER).await.unwrap();
        assert_eq!(names(&living), ["loud"]);
    }

    /// The dead come back by beating.
    async fn the_dead_come_back(harness) {
        let membership = harness.membership();
        membership.beat("article", &instance("a"), DEAD_AFTER).await.unwrap();
        harness.pass(Duration::from_millis(2_000)).await;
        assert!(membership.living("article", DEAD_AFTER).await.unwrap().is_empty());
        let living = membership.beat("article", &instance("a"), DEAD_AFTER).await.unwrap();
        assert_eq!(names(&living), ["a"]);
    }

    /// Who leaves is gone at once; leaving twice is no error.
    async fn who_leaves_is_gone_at_once(harness) {
        let membership = harness.membership();
        membership.beat("article", &instance("a"), DEAD_AFTER).await.unwrap();
        membership.beat("article", &instance("b"), DEAD_AFTER).await.unwrap();
        for _ in 0..2 {
            membership.leave("article", &instance("a")).await.unwrap();
        }
        assert_eq!(names(&membership.living("article", DEAD_AFTER).await.unwrap()), ["b"]);
    }
}
