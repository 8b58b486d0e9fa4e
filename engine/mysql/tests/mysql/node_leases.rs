//! The node leases on MySQL keep the port's promises, among many processes at once.

use std::collections::HashSet;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::program;
use crate::support::{OneServer, TestDb, Topology};
use madang_conformance::node_leases::NodeLeasesHarness;
use madang_engine_mysql::MysqlLeases;
use madang_kernel::{ManualClock, NodeLeases};
use tokio::task::JoinSet;

struct Harness<T> {
    test: TestDb,
    leases: MysqlLeases,
    topology: PhantomData<T>,
}

#[async_trait::async_trait]
impl<T: Topology> NodeLeasesHarness for Harness<T> {
    async fn fresh() -> Self {
        let test = TestDb::fresh::<T>(program::tallies()).await;
        let leases = MysqlLeases::new(&test.db);
        Self { test, leases, topology: PhantomData }
    }

    fn leases(&self) -> &dyn NodeLeases {
        &self.leases
    }

    fn clock(&self) -> &Arc<ManualClock> {
        &self.test.clock
    }
}

on_one_and_two_servers!(madang_conformance::node_leases_suite, Harness);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_that_start_together_get_numbers_of_their_own() {
    let harness = Harness::<OneServer>::fresh().await;
    let mut processes = JoinSet::new();
    for _ in 0..16 {
        let leases = harness.leases.clone();
        processes.spawn(async move { leases.acquire(10_000).await.unwrap().node });
    }
    let nodes: HashSet<_> = processes.join_all().await.into_iter().collect();
    assert_eq!(nodes.len(), 16);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_slept_past_its_lease_does_not_get_it_back_from_another() {
    let harness = Harness::<OneServer>::fresh().await;
    let asleep = harness.leases.acquire(10_000).await.unwrap();
    harness.clock().advance(std::time::Duration::from_secs(11));
    let awake = harness.leases.acquire(10_000).await.unwrap();
    assert_eq!(awake.node, asleep.node);
    assert!(awake.from_ms >= asleep.until_ms);
    assert_eq!(harness.leases.renew(asleep, 10_000).await.unwrap(), None);
}
