//! Opening: databases are made once, and refused under another topology.

use crate::support::{TestDb, TwoServers};
use madang_mysql::{Mysql, OpenError, Service};
use tokio::task::JoinSet;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_shard_map_is_refused_and_says_why() {
    let test = TestDb::fresh::<TwoServers>(Service::Like).await;
    let mut other = test.options.clone();
    other.servers[0].shards = "0-15".into();
    other.servers[1].shards = "16-63".into();
    let refused = Mysql::open(&other, Service::Like, test.clock.clone()).await.err().unwrap();
    let said = refused.to_string();
    assert!(matches!(refused, OpenError::OtherTopology { server: 0, .. }), "{said}");
    assert!(said.contains("0-31=0 32-63=1") && said.contains("0-15=0 16-63=1"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_that_changed_places_are_refused() {
    let test = TestDb::fresh::<TwoServers>(Service::Like).await;
    let mut swapped = test.options.clone();
    let (first, second) = swapped.servers.split_at_mut(1);
    std::mem::swap(&mut first[0].url, &mut second[0].url);
    let refused = Mysql::open(&swapped, Service::Like, test.clock.clone()).await.err().unwrap();
    assert!(matches!(refused, OpenError::OtherTopology { found_server: 1, .. }), "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_may_start_together_on_empty_servers() {
    let test = TestDb::fresh::<TwoServers>(Service::Like).await;
    let mut starts = JoinSet::new();
    for _ in 0..4 {
        let (options, clock) = (test.options.clone(), test.clock.clone());
        // The test's own databases are those of another service: these are not there yet.
        starts.spawn(async move { Mysql::open(&options, Service::Member, clock).await.map(|_| ()) });
    }
    for started in starts.join_all().await {
        started.unwrap();
    }
    for server in 0..2 {
        let mut conn = crate::support::connect(&test.options.servers[server].url, None).await;
        let drop = format!("DROP DATABASE `{}`", Service::Member.database(&test.options.database_prefix));
        mysql_async::prelude::Queryable::query_drop(&mut conn, drop).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_not_there_is_named() {
    let test = TestDb::fresh::<TwoServers>(Service::Like).await;
    let mut options = test.options.clone();
    options.servers[1].url = "mysql://nobody:nothing@127.0.0.1:1".into();
    let refused = Mysql::open(&options, Service::Like, test.clock.clone()).await.err().unwrap();
    assert!(matches!(refused, OpenError::Server { server: 1, .. }), "{refused}");
}
