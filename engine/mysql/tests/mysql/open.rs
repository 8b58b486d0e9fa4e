//! Opening: databases are made once, and refused under another topology.

use madang_engine_mysql::{Database, MysqlOptions, OpenError};
use madang_kernel::StoreError;
use mysql_async::prelude::Queryable;
use tokio::task::JoinSet;

use crate::program::{Mark, Mysql, Tallies, tallies};
use crate::proxy::Proxy;
use crate::support::{TestDb, TwoServers, connect, eventually, servers};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_shard_map_is_refused_and_says_why() {
    let test = TestDb::fresh::<TwoServers>(tallies()).await;
    let mut other = test.options.clone();
    other.servers[0].shards = "0-15".into();
    other.servers[1].shards = "16-63".into();
    let refused = Mysql::open(&other, tallies(), test.clock.clone()).await.err().unwrap();
    let said = refused.to_string();
    assert!(matches!(refused, OpenError::OtherTopology { server: 0, .. }), "{said}");
    assert!(said.contains("0-31=0 32-63=1") && said.contains("0-15=0 16-63=1"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_that_changed_places_are_refused() {
    let test = TestDb::fresh::<TwoServers>(tallies()).await;
    let mut swapped = test.options.clone();
    let (first, second) = swapped.servers.split_at_mut(1);
    std::mem::swap(&mut first[0].url, &mut second[0].url);
    let refused = Mysql::open(&swapped, tallies(), test.clock.clone()).await.err().unwrap();
    assert!(matches!(refused, OpenError::OtherTopology { found_server: 1, .. }), "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_may_start_together_on_empty_servers() {
    let test = TestDb::fresh::<TwoServers>(tallies()).await;
    let mut starts = JoinSet::new();
    for _ in 0..4 {
        let (options, clock) = (test.options.clone(), test.clock.clone());
        // Another than the test's own: it is not there yet.
        starts.spawn(async move { Mysql::open(&options, Database::new("other"), clock).await.map(|_| ()) });
    }
    for started in starts.join_all().await {
        started.unwrap();
    }
    for server in 0..2 {
        let mut conn = connect(&test.options.servers[server].url, None).await;
        let drop = format!("DROP DATABASE `{}`", Database::new("other").under(&test.options.database_prefix));
        conn.query_drop(drop).await.unwrap();
    }
}

/// A mark whose tally is on a server of two.
fn mark_on(server: i64) -> Mark {
    Mark { tally: tally_on(server), member: 1, name: "m".into(), set: true, event: 1 + server }
}

fn tally_on(server: i64) -> i64 {
    32 * server + 1
}

/// Databases that are not there yet, on two servers, the second at an address of its own choice.
async fn with_second_at(port: u16) -> (TestDb, MysqlOptions) {
    let test = TestDb::fresh::<TwoServers>(tallies()).await;
    for server in 0..2 {
        let mut conn = connect(&test.options.servers[server].url, None).await;
        conn.query_drop(format!("DROP DATABASE `{}`", test.database())).await.unwrap();
    }
    let mut options = test.options.clone();
    let (credentials, _) = options.servers[1].url.rsplit_once('@').unwrap();
    options.servers[1].url = format!("{credentials}@127.0.0.1:{port}");
    (test, options)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_comes_late_is_set_up_before_it_is_used() {
    let (proxy, _) = Proxy::start(&servers()[1]).await;
    let port = proxy.port();
    drop(proxy);
    let (test, options) = with_second_at(port).await;
    let db = Mysql::open(&options, tallies(), test.clock.clone()).await.unwrap();
    let store = Tallies::new(db.clone());
    assert!(store.mark(mark_on(0)).await.is_ok(), "this one is there");
    let refused = store.mark(mark_on(1)).await;
    assert!(matches!(refused, Err(StoreError::Unavailable { .. })), "{refused:?}");
    let refused = store.marks(tally_on(1)).await;
    assert!(matches!(refused, Err(StoreError::Unavailable { .. })), "{refused:?}");
    let _proxy = Proxy::start_at(port, &servers()[1]).await;
    eventually("the server that came is used", async || store.mark(mark_on(1)).await.is_ok()).await;
    assert_eq!(test.rows::<i64>("SELECT COUNT(*) FROM mark").await, [1, 1]);
    db.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_late_server_of_another_topology_stays_unavailable() {
    let test = TestDb::fresh::<TwoServers>(tallies()).await;
    let (proxy, through) = Proxy::start(&servers()[0]).await;
    let port = proxy.port();
    drop(proxy);
    // The first server, set up as the first, appears where the second should be.
    let mut options = test.options.clone();
    options.servers[1].url = through;
    let db = Mysql::open(&options, tallies(), test.clock.clone()).await.unwrap();
    let store = Tallies::new(db.clone());
    let _proxy = Proxy::start_at(port, &servers()[0]).await;
    eventually("it is found to be another", async || {
        let refused = store.mark(mark_on(1)).await;
        refused.is_err_and(|error| error.to_string().contains("was set up as server 0"))
    })
    .await;
    assert!(store.mark(mark_on(0)).await.is_ok(), "the others go on");
    db.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_without_any_server_succeeds_and_one_with_a_wrong_password_does_not() {
    let test = TestDb::fresh::<TwoServers>(tallies()).await;
    let mut options = test.options.clone();
    for server in &mut options.servers {
        server.url = "mysql://nobody:nothing@127.0.0.1:1".into();
    }
    let db = Mysql::open(&options, tallies(), test.clock.clone()).await.unwrap();
    let refused = Tallies::new(db.clone()).marks(tally_on(0)).await;
    assert!(matches!(refused, Err(StoreError::Unavailable { .. })), "{refused:?}");
    db.close().await;
    let mut options = test.options.clone();
    let (_, address) = options.servers[1].url.rsplit_once('@').unwrap();
    options.servers[1].url = format!("mysql://nobody:nothing@{address}");
    let refused = Mysql::open(&options, tallies(), test.clock.clone()).await.err().unwrap();
    assert!(matches!(refused, OpenError::Server { server: 1, .. }), "{refused}");
}
