//! What lanes promise when things go wrong: every answer is true, and one caller's failure is nobody else's.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use madang_board::{ArticleId, MemberId};
use madang_event::{Envelope, Writer};
use madang_kernel::{EventId, Id, ShardId, StoreError, Timestamp};
use madang_like::{Like, LikeAnswer, LikeOutcome, LikeStore, Unlike};
use madang_messaging::AfterCommit;
use madang_mysql::{Mysql, MysqlLikes, Service};
use mysql_async::prelude::Queryable;
use tokio::task::JoinSet;

use crate::proxy::Proxy;
use crate::support::{OneServer, TestDb, TwoServers, eventually, servers};

const ARTICLE: i64 = 77 << 22;
/// Times that a refused call is made again.
const ASK_MAX: i64 = 100;

fn article() -> ArticleId {
    ArticleId::from_raw(ARTICLE)
}

fn like_of(member: i64, event: i64) -> Like {
    Like {
        article_id: article(),
        member: Writer { member_id: MemberId::from_raw(member), name: format!("m{member}") },
        created_at: Timestamp::from_millis(1_750_000_000_000),
        event_id: EventId::from_raw(event),
    }
}

async fn answer(likes: &MysqlLikes, member: i64, liked: bool, event: i64) -> LikeAnswer {
    for again in 0..ASK_MAX {
        // A call that was refused changed nothing, so that asking again is as good as asking for the first time.
        let event = event * ASK_MAX + again;
        let outcome = if liked {
            likes.like(like_of(member, event)).await
        } else {
            let event_id = EventId::from_raw(event);
            likes.unlike(Unlike { article_id: article(), member_id: MemberId::from_raw(member), event_id }).await
        };
        match outcome {
            Ok(LikeOutcome::Done(answer)) => return answer,
            Err(StoreError::Unavailable { .. }) => {}
            other => panic!("{other:?}"),
        }
    }
    panic!("refused {ASK_MAX} times")
}

/// Each caller has a member of their own, and so knows what their own answers must be.
async fn call_for_a_while(likes: &MysqlLikes, callers: i64, turns: i64) {
    let mut tasks = JoinSet::new();
    for member in 1..=callers {
        let likes = likes.clone();
        tasks.spawn(async move {
            let mut liked = false;
            for turn in 0..turns {
                // Two of three turns ask for what is so already.
                let wish = (member + turn) % 3 != 0;
                let event = member * 100_000 + turn;
                let answer = answer(&likes, member, wish, event).await;
                assert_eq!((answer.changed, answer.state.liked), (wish != liked, wish), "member {member}, turn {turn}");
                liked = wish;
            }
            liked
        });
    }
    let liked = tasks.join_all().await.into_iter().filter(|liked| *liked).count() as u64;
    assert_eq!(likes.state(article(), None).await.unwrap().unwrap().like_count, liked);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_are_true_when_replies_to_commit_are_lost() {
    for lost_after in [true, false] {
        let mut test = TestDb::fresh::<OneServer>(Service::Like).await;
        let direct = servers()[0].clone();
        let (proxy, through) = Proxy::start(&direct).await;
        test.options.servers[0].url = through;
        let db = test.another().await;
        let likes = MysqlLikes::new(db.clone());
        let cuts = Arc::clone(&proxy.cuts);
        let armed = if lost_after { &cuts.after } else { &cuts.before };
        let arming = async {
            // One cut after another, each once the last has hit.
            for _ in 0..15 {
                armed.store(1, Ordering::SeqCst);
                while armed.load(Ordering::SeqCst) > 0 {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            }
        };
        let calling = call_for_a_while(&likes, 32, 60);
        let cut_all = tokio::time::timeout(Duration::from_secs(60), async { tokio::join!(calling, arming) }).await;
        assert!(cut_all.is_ok(), "after {lost_after}: the calls ended before all cuts were made");
        test.options.servers[0].url = direct;
        assert_eq!(test.like_differences().await, Vec::<String>::new());
        assert_versions_are_gapless(&test).await;
        db.close().await;
    }
}

/// Every version once: a batch that ran twice would show.
async fn assert_versions_are_gapless(test: &TestDb) {
    let versions: Vec<u64> =
        test.outbox().await.iter().map(|message| Envelope::decode(&message.payload).unwrap().version).collect();
    assert_eq!(versions, (1..=versions.len() as u64).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_processes_count_every_like_of_one_article() {
    let test = TestDb::fresh::<TwoServers>(Service::Like).await;
    let stores = [MysqlLikes::new(test.db.clone()), MysqlLikes::new(test.another().await)];
    let mut tasks = JoinSet::new();
    for task in 0..100 {
        let likes = stores[task as usize % 2].clone();
        tasks.spawn(async move {
            let mut counts = Vec::new();
            for member in (1..=3_000).filter(|member| member % 100 == task) {
                let answer = answer(&likes, member, true, member).await;
                assert!(answer.changed);
                counts.push(answer.state.like_count);
            }
            counts
        });
    }
    let counts: BTreeSet<u64> = tasks.join_all().await.into_iter().flatten().collect();
    assert_eq!(counts, (1..=3_000).collect(), "everyone was told their own count");
    assert_eq!(test.like_differences().await, Vec::<String>::new());
    assert_versions_are_gapless(&test).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_bad_call_fails_alone() {
    let mut test = TestDb::fresh::<OneServer>(Service::Like).await;
    test.options.lock_wait_s = 60;
    let db = test.another().await;
    let likes = MysqlLikes::new(db.clone());
    answer(&likes, 1, true, 1).await;
    // The counter's lock holds the lane up while calls gather behind it.
    let mut holder = test.connect(0).await;
    holder.query_drop("START TRANSACTION").await.unwrap();
    holder.query_drop("SELECT * FROM article_like_count FOR UPDATE").await.unwrap();
    let mut tasks = JoinSet::new();
    let gathered = Arc::new(AtomicUsize::new(0));
    for member in 2..=60 {
        let (likes, gathered) = (likes.clone(), Arc::clone(&gathered));
        let mut like = like_of(member, member);
        if member == 30 {
            // Longer than its column takes.
            like.member.name = "x".repeat(1_000);
        }
        tasks.spawn(async move {
            let mut call = likes.like(like);
            // A call that has begun is in its lane.
            assert!(futures_util::poll!(&mut call).is_pending());
            gathered.fetch_add(1, Ordering::SeqCst);
            (member, call.await)
        });
    }
    eventually("all of them wait", async || gathered.load(Ordering::SeqCst) == 59).await;
    holder.query_drop("COMMIT").await.unwrap();
    for (member, outcome) in tasks.join_all().await {
        match outcome {
            Ok(LikeOutcome::Done(answer)) => assert!(answer.changed && member != 30),
            Err(StoreError::Broken { .. }) => assert_eq!(member, 30),
            other => panic!("member {member}: {other:?}"),
        }
    }
    assert_eq!(likes.state(article(), None).await.unwrap().unwrap().like_count, 59);
    assert_eq!(test.like_differences().await, Vec::<String>::new());
    db.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_that_is_held_too_long_is_an_unavailable_store_and_nothing_is_changed() {
    let mut test = TestDb::fresh::<OneServer>(Service::Like).await;
    test.options.lock_wait_s = 1;
    let db = test.another().await;
    let likes = MysqlLikes::new(db.clone());
    answer(&likes, 1, true, 1).await;
    let mut holder = test.connect(0).await;
    holder.query_drop("START TRANSACTION").await.unwrap();
    holder.query_drop("SELECT * FROM article_like_count FOR UPDATE").await.unwrap();
    let refused = likes.like(like_of(2, 2)).await;
    assert!(matches!(refused, Err(StoreError::Unavailable { .. })), "{refused:?}");
    holder.query_drop("COMMIT").await.unwrap();
    assert_eq!(likes.state(article(), None).await.unwrap().unwrap().like_count, 1);
    assert_eq!(answer(&likes, 2, true, 3).await.state.like_count, 2);
    db.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_the_server_closed_are_made_anew() {
    let test = TestDb::fresh::<OneServer>(Service::Like).await;
    let likes = MysqlLikes::new(test.db.clone());
    answer(&likes, 1, true, 1).await;
    for _ in 0..8 {
        likes.state(article(), None).await.unwrap();
    }
    let mut conn = test.connect(0).await;
    let sql = format!(
        "SELECT ID FROM information_schema.PROCESSLIST WHERE DB = '{}' AND ID <> CONNECTION_ID()",
        test.database()
    );
    let ids: Vec<u64> = conn.query(sql).await.unwrap();
    assert!(ids.len() >= 2, "a lane and a reader");
    for id in ids {
        let _ = conn.query_drop(format!("KILL {id}")).await;
    }
    assert_eq!(answer(&likes, 2, true, 2).await.state.like_count, 2);
    assert_eq!(likes.state(article(), None).await.unwrap().unwrap().like_count, 2);
}

/// Notes the versions that are committed.
#[derive(Default)]
struct Versions(Mutex<Vec<u64>>);

impl AfterCommit<Envelope> for Versions {
    fn committed(&self, events: &[Envelope]) {
        self.0.lock().unwrap().extend(events.iter().map(|event| event.version));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn committed_events_are_followed_in_commit_order_before_the_answer() {
    let test = TestDb::fresh::<OneServer>(Service::Like).await;
    let follower = Arc::new(Versions::default());
    test.db.after_commit(follower.clone());
    let likes = MysqlLikes::new(test.db.clone());
    let mut tasks = JoinSet::new();
    for member in 1..=50 {
        let (likes, follower) = (likes.clone(), Arc::clone(&follower));
        tasks.spawn(async move {
            let answer = answer(&likes, member, true, member).await;
            assert!(follower.0.lock().unwrap().contains(&answer.committed.version), "followed before it was answered");
        });
    }
    tasks.join_all().await;
    let followed = follower.0.lock().unwrap().clone();
    assert_eq!(followed, (1..=followed.len() as u64).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_closed_store_has_committed_what_waited_and_takes_no_more() {
    let test = TestDb::fresh::<OneServer>(Service::Like).await;
    let db: Mysql = test.another().await;
    let likes = MysqlLikes::new(db.clone());
    let mut tasks = JoinSet::new();
    for member in 1..=20 {
        let likes = likes.clone();
        tasks.spawn(async move { likes.like(like_of(member, member)).await });
    }
    tokio::task::yield_now().await;
    db.close().await;
    let committed = tasks.join_all().await.into_iter().filter(Result::is_ok).count();
    let rows: Vec<u64> = test.rows("SELECT COUNT(*) FROM article_like").await;
    assert_eq!(rows, [committed as u64]);
    let refused = likes.like(like_of(99, 99)).await;
    assert!(matches!(refused, Err(StoreError::Unavailable { .. })), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_away_refuses_its_shards_and_no_others_and_comes_back() {
    let mut test = TestDb::fresh::<TwoServers>(Service::Like).await;
    let direct = test.options.servers[1].url.clone();
    let (proxy, through) = Proxy::start(&direct).await;
    test.options.servers[1].url = through;
    let db = test.another().await;
    test.options.servers[1].url = direct.clone();
    let likes = MysqlLikes::new(db.clone());
    let on = |server: u8| {
        let shards = if server == 0 { 0..32 } else { 32..64 };
        let ids = (1..).map(ArticleId::from_raw);
        ids.filter(|id| shards.contains(&ShardId::of_parts(*id).number())).take(10).collect::<Vec<_>>()
    };
    let like = |article_id: ArticleId, member: i64| {
        let event = article_id.raw() * 100 + member;
        likes.like(Like { article_id, ..like_of(member, event) })
    };
    for article in on(0).into_iter().chain(on(1)) {
        like(article, 1).await.unwrap();
    }
    let port = proxy.port();
    drop(proxy);
    let started = Instant::now();
    for article in on(1) {
        assert!(matches!(like(article, 2).await, Err(StoreError::Unavailable { .. })));
        assert!(matches!(likes.state(article, None).await, Err(StoreError::Unavailable { .. })));
    }
    for article in on(0) {
        assert!(matches!(like(article, 2).await, Ok(LikeOutcome::Done(_))));
        assert_eq!(likes.state(article, None).await.unwrap().unwrap().like_count, 2);
    }
    assert!(started.elapsed() < Duration::from_secs(10), "refusals are quick: {:?}", started.elapsed());
    let _proxy = Proxy::start_at(port, &direct).await;
    for article in on(1) {
        assert!(matches!(like(article, 3).await, Ok(LikeOutcome::Done(_))), "back without a restart");
        assert_eq!(likes.state(article, None).await.unwrap().unwrap().like_count, 2, "what was refused was not done");
    }
    assert_eq!(test.like_differences().await, Vec::<String>::new());
    db.close().await;
}
