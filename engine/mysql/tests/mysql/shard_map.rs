//! The shard map: taken over from before, learned within a second, and enforced by the database. Shards change hands here by
//! statements of the tests' own: fence, copy, switch.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use madang_engine_mysql::{AddServerError, Database, MysqlOptions, OpenError, add_server, shard_copies};
use madang_kernel::{ServerIndex, ShardId, StoreError};
use mysql_async::Conn;
use mysql_async::prelude::Queryable;
use tokio::task::JoinSet;

use crate::program::{Mark, Mysql, Tallies, tallies, version_of};
use crate::support::{OneServer, TestDb, TwoServers, connect, eventually, servers};

/// Its shard is 7, on the first of two servers.
const TALLY: i64 = 7;
const SHARD: u8 = 7;
/// Within which every process knows of a change.
const LEARNED_MAX: Duration = Duration::from_secs(1);

fn mark(member: i64, event: i64) -> Mark {
    Mark { tally: TALLY, member, name: format!("m{member}"), set: true, event }
}

fn owner(db: &Mysql) -> ServerIndex {
    db.map().server(ShardId::new(SHARD).unwrap())
}

async fn run(conn: &mut Conn, sql: &str) {
    conn.query_drop(sql).await.unwrap();
}

/// A connection to the test's database on every server.
async fn connections(test: &TestDb) -> [Conn; 2] {
    let url = |server: usize| servers()[server].clone();
    [connect(&url(0), Some(&test.database())).await, connect(&url(1), Some(&test.database())).await]
}

/// Takes no more writes for the shard; waits for those that are under way.
async fn fence(conn: &mut Conn) {
    run(conn, &format!("UPDATE shard_map SET writable = 0 WHERE shard = {SHARD}")).await;
}

/// Some hundred rows in one statement, so that the fence is short.
async fn insert(conn: &mut Conn, into: &str, rows: Vec<String>) {
    for rows in rows.chunks(500) {
        run(conn, &format!("INSERT INTO {into} VALUES {}", rows.join(","))).await;
    }
}

/// Gives the fenced shard with all its rows from one server to the other.
async fn switch(from: &mut Conn, to: &mut Conn, to_server: u8) {
    run(to, &format!("DELETE FROM tally WHERE shard = {SHARD}")).await;
    run(to, &format!("DELETE FROM mark WHERE shard = {SHARD}")).await;
    let tallies: Vec<(u8, i64, u64, u64)> =
        from.query(format!("SELECT shard, tally, marks, version FROM tally WHERE shard = {SHARD}")).await.unwrap();
    let tallies =
        tallies.iter().map(|(shard, tally, marks, version)| format!("({shard}, {tally}, {marks}, {version})"));
    insert(to, "tally (shard, tally, marks, version)", tallies.collect()).await;
    let marks: Vec<(u8, i64, i64, String)> =
        from.query(format!("SELECT shard, tally, member, name FROM mark WHERE shard = {SHARD}")).await.unwrap();
    let marks = marks.iter().map(|(shard, tally, member, name)| format!("({shard}, {tally}, {member}, '{name}')"));
    insert(to, "mark (shard, tally, member, name)", marks.collect()).await;
    let epoch: u64 =
        from.query_first(format!("SELECT epoch FROM shard_map WHERE shard = {SHARD}")).await.unwrap().unwrap();
    let set = |writable: u8| {
        format!(
            "UPDATE shard_map SET server = {to_server}, epoch = {}, writable = {writable} WHERE shard = {SHARD}",
            epoch + 1
        )
    };
    run(to, &set(1)).await;
    run(from, &set(0)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frozen_map_is_taken_over_unchanged_and_needs_no_ranges_any_more() {
    let mut test = TestDb::fresh::<TwoServers>(tallies()).await;
    for mut conn in connections(&test).await {
        // As the version before left it, with a map that even shares would not give.
        run(&mut conn, "DROP TABLE shard_map, shard_server, shard_move, shard_change").await;
        run(&mut conn, "ALTER TABLE topology DROP COLUMN term, DROP COLUMN primary_id").await;
        run(&mut conn, "DELETE FROM schema_backbone WHERE version > 1").await;
        run(&mut conn, "UPDATE topology SET shard_map = '0-6=0 7-9=1 10-63=0'").await;
    }
    for server in &mut test.options.servers {
        server.shards.clear();
    }
    let db = test.another().await;
    let held: Vec<u8> = db.map().owners().shards_of(ServerIndex(1)).map(ShardId::number).collect();
    assert_eq!((held, db.map().owners().version()), (vec![7, 8, 9], 1));
    let store = Tallies::new(db.clone());
    store.mark(mark(1, 1)).await.unwrap();
    let rows: Vec<i64> = test.rows("SELECT COUNT(*) FROM mark").await;
    assert_eq!(rows, [0, 1]);
    db.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_without_ranges_get_even_shares() {
    let test = TestDb::fresh::<TwoServers>(tallies()).await;
    let mut options = test.options.clone();
    options.servers.iter_mut().for_each(|server| server.shards.clear());
    let other = Database::new("other");
    let db = Mysql::open(&options, other.clone(), test.clock.clone()).await.unwrap();
    assert_eq!(db.map().owners().shards_of(ServerIndex(1)).next().map(ShardId::number), Some(32));
    db.close().await;
    for url in servers().iter().take(2) {
        run(&mut connect(url, None).await, &format!("DROP DATABASE `{}`", other.under(&options.database_prefix))).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_by_an_old_map_is_refused_by_the_database_and_follows_the_shard() {
    let test = TestDb::fresh::<TwoServers>(tallies()).await;
    let store = Tallies::new(test.db.clone());
    store.mark(mark(1, 1)).await.unwrap();
    let [mut first, mut second] = connections(&test).await;
    fence(&mut first).await;
    switch(&mut first, &mut second, 1).await;
    // At once: the process cannot have looked yet.
    assert_eq!(owner(&test.db), ServerIndex(0));
    let marked = store.mark(mark(2, 2)).await.unwrap();
    assert_eq!((marked.changed, marked.marks, marked.version), (true, 2, 2));
    assert_eq!(owner(&test.db), ServerIndex(1));
    let rows: Vec<i64> = test.rows(&format!("SELECT COUNT(*) FROM mark WHERE shard = {SHARD}")).await;
    assert_eq!(rows, [1, 2], "the old copy stays as it was");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_process_learns_of_a_change_within_a_second_without_writing() {
    let test = TestDb::fresh::<TwoServers>(tallies()).await;
    let another = test.another().await;
    let [mut first, mut second] = connections(&test).await;
    fence(&mut first).await;
    switch(&mut first, &mut second, 1).await;
    let began = Instant::now();
    eventually("both know", async || [&test.db, &another].map(owner) == [ServerIndex(1); 2]).await;
    assert!(began.elapsed() < LEARNED_MAX, "{:?}", began.elapsed());
    another.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writes_wait_for_a_fence_and_those_of_other_shards_do_not() {
    let test = TestDb::fresh::<TwoServers>(tallies()).await;
    let store = Tallies::new(test.db.clone());
    let [mut first, _] = connections(&test).await;
    fence(&mut first).await;
    let began = Instant::now();
    let waiting = async { (store.mark(mark(1, 1)).await.unwrap(), began.elapsed()) };
    let others = async {
        // The same lane of the same server.
        for event in 2..12 {
            store.mark(Mark { tally: TALLY + 2, ..mark(event, event) }).await.unwrap();
        }
        let took = began.elapsed();
        tokio::time::sleep(Duration::from_millis(500)).await;
        run(&mut first, &format!("UPDATE shard_map SET writable = 1 WHERE shard = {SHARD}")).await;
        took
    };
    let ((marked, waited), others_took) = tokio::join!(waiting, others);
    assert!(marked.changed && waited > others_took, "{waited:?}, {others_took:?}");

    fence(&mut first).await;
    let refused = store.mark(mark(2, 20)).await;
    assert!(matches!(&refused, Err(StoreError::Unavailable { reason, .. }) if reason.contains("moved")), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_while_a_shard_changes_hands_again_and_again() {
    const MOVES: u8 = 12;
    let test = TestDb::fresh::<TwoServers>(tallies()).await;
    let stores = [Tallies::new(test.db.clone()), Tallies::new(test.another().await)];
    let done = Arc::new(AtomicBool::new(false));
    let mut callers = JoinSet::new();
    for caller in 0..16_i64 {
        let (store, done) = (stores[usize::from(caller % 2 == 1)].clone(), Arc::clone(&done));
        callers.spawn(async move {
            let (mut acknowledged, mut retries, mut longest) = (0_u64, 0_u64, Duration::ZERO);
            while !done.load(Ordering::Relaxed) {
                let number = caller * 1_000_000 + i64::try_from(acknowledged).unwrap() + 1;
                let began = Instant::now();
                let marked = match store.mark(mark(number, number)).await {
                    Err(StoreError::Unavailable { .. }) => {
                        retries += 1;
                        store.mark(mark(number, number)).await.expect("no call fails twice")
                    }
                    marked => marked.unwrap(),
                };
                longest = longest.max(began.elapsed());
                assert!(marked.changed, "nobody has marked before");
                acknowledged += 1;
            }
            (acknowledged, retries, longest)
        });
    }
    let mut connections = connections(&test).await;
    for turn in 0..MOVES {
        tokio::time::sleep(Duration::from_millis(150)).await;
        let (from, to) = (usize::from(turn % 2), usize::from(1 - turn % 2));
        let [first, second] = &mut connections;
        let (from_conn, to_conn) = if from == 0 { (first, second) } else { (second, first) };
        fence(from_conn).await;
        switch(from_conn, to_conn, u8::try_from(to).unwrap()).await;
    }
    done.store(true, Ordering::Relaxed);
    let ended = callers.join_all().await;
    let acknowledged: u64 = ended.iter().map(|(acknowledged, ..)| acknowledged).sum();
    let retries: u64 = ended.iter().map(|(_, retries, _)| retries).sum();
    let longest = ended.iter().map(|(.., longest)| *longest).max().unwrap();
    println!("{acknowledged} marks over {MOVES} moves, {retries} calls made again, the longest call took {longest:?}");
    // After an even number of moves it is where it was.
    let marks: Vec<u64> = test.rows(&format!("SELECT COUNT(*) FROM mark WHERE shard = {SHARD}")).await;
    assert_eq!(marks[0], acknowledged);
    assert_eq!(stores[0].marks(TALLY).await.unwrap(), acknowledged);
    let mut versions: Vec<u64> = test.outbox().await.iter().map(version_of).collect();
    versions.sort_unstable();
    assert_eq!(versions, (1..=versions.len() as u64).collect::<Vec<_>>(), "each version once, on either server");
    assert_eq!(test.db.map().owners().version(), 1 + u64::from(MOVES));
}

fn address(url: &str) -> String {
    url.rsplit('@').next().unwrap().trim_end_matches('/').to_owned()
}

/// What is on the second server of a test on one is dropped too.
async fn drop_on_second(options: &MysqlOptions) {
    let name = tallies().under(&options.database_prefix);
    run(&mut connect(&servers()[1], None).await, &format!("DROP DATABASE IF EXISTS `{name}`")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_is_added_under_a_running_process_and_takes_a_shard() {
    let test = TestDb::fresh::<OneServer>(tallies()).await;
    let store = Tallies::new(test.db.clone());
    store.mark(mark(1, 1)).await.unwrap();
    let second = address(&servers()[1]);
    for _ in 0..2 {
        assert_eq!(add_server(&test.options, &[tallies()], &second).await.unwrap(), 1, "again changes nothing");
    }
    let began = Instant::now();
    eventually("it is known", async || test.db.servers().len() == 2).await;
    assert!(began.elapsed() < LEARNED_MAX, "{:?}", began.elapsed());
    eventually("it is used", async || test.db.ping().await.iter().all(Result::is_ok)).await;
    let copies = shard_copies(&test.options, &[tallies()]).await;
    let held: Vec<usize> = (0..2)
        .map(|server| {
            copies[1].copies.as_ref().unwrap()[0].as_ref().unwrap().owners.shards_of(ServerIndex(server)).count()
        })
        .collect();
    assert_eq!((copies.len(), held), (2, vec![64, 0]));

    let [mut from, mut to] = connections(&test).await;
    fence(&mut from).await;
    switch(&mut from, &mut to, 1).await;
    assert_eq!(store.mark(mark(2, 2)).await.unwrap().marks, 2);
    let on_second: Option<i64> = to.query_first("SELECT COUNT(*) FROM mark").await.unwrap();
    assert_eq!(on_second, Some(2));
    // A process whose configuration does not name it finds it, and so does one whose configuration does.
    let another = test.another().await;
    assert_eq!(Tallies::new(another.clone()).marks(TALLY).await.unwrap(), 2);
    another.close().await;
    let mut named = test.options.clone();
    named.servers.push(madang_engine_mysql::ServerOptions { url: servers()[1].clone(), shards: String::new() });
    let another = Mysql::open(&named, tallies(), test.clock.clone()).await.unwrap();
    assert_eq!(Tallies::new(another.clone()).marks(TALLY).await.unwrap(), 2);
    another.close().await;
    drop_on_second(&test.options).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_was_never_added_or_belongs_to_others_is_refused() {
    let test = TestDb::fresh::<OneServer>(tallies()).await;
    let mut named = test.options.clone();
    named.servers.push(madang_engine_mysql::ServerOptions { url: servers()[1].clone(), shards: String::new() });
    let refused = Mysql::open(&named, tallies(), test.clock.clone()).await.err().unwrap();
    assert!(matches!(refused, OpenError::NotAdded { server: 1, .. }), "{refused}");
    drop_on_second(&test.options).await;

    let nobody = add_server(&test.options, &[tallies()], "127.0.0.1:1").await.unwrap_err();
    assert!(matches!(nobody, AddServerError::Sql(_)), "{nobody}");
    assert_eq!(shard_copies(&test.options, &[tallies()]).await.len(), 1, "nobody learned of it");

    // Somebody else's first server, under the same name.
    let mut elsewhere = test.options.clone();
    elsewhere.servers[0].url = servers()[1].clone();
    let other = Mysql::open(&elsewhere, tallies(), test.clock.clone()).await.unwrap();
    let refused = add_server(&test.options, &[tallies()], &address(&servers()[1])).await.unwrap_err();
    assert!(matches!(refused, AddServerError::HoldsData { .. }), "{refused}");
    other.close().await;
    drop_on_second(&test.options).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupted_addition_is_finished_by_the_same_address_and_by_no_other() {
    let test = TestDb::fresh::<OneServer>(tallies()).await;
    let second = address(&servers()[1]);
    add_server(&test.options, &[tallies()], &second).await.unwrap();
    // As if it had ended before the first server learned of it.
    let [mut first, _] = connections(&test).await;
    run(&mut first, "DELETE FROM shard_server WHERE server = 1").await;
    let other = Database::new("other");
    let db = Mysql::open(&test.options, other.clone(), test.clock.clone()).await.unwrap();
    db.close().await;
    let both = [other.clone(), tallies()];
    add_server(&test.options, &both[..1], &second).await.unwrap();
    let refused = add_server(&test.options, &both, "127.0.0.1:1").await.unwrap_err();
    assert!(matches!(&refused, AddServerError::Unfinished { address } if *address == second), "{refused}");
    assert_eq!(add_server(&test.options, &both, &second).await.unwrap(), 1);
    eventually("the process knows", async || test.db.servers().len() == 2).await;
    for url in servers().iter().take(2) {
        run(&mut connect(url, None).await, &format!("DROP DATABASE `{}`", other.under(&test.options.database_prefix)))
            .await;
    }
    drop_on_second(&test.options).await;
}
