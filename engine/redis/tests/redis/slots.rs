//! Slots of a cluster move while callers work, and no caller learns of it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use futures_util::future::join_all;
use madang_engine_redis::{Command, Redis, Script, Tag, Value};

use crate::own_server::OwnCluster;

static COUNT_BOTH: LazyLock<Script> =
    LazyLock::new(|| Script::new("redis.call('INCR', KEYS[1]) return redis.call('INCR', KEYS[2])"));

/// Callers at work.
const CALLERS: usize = 8;
/// Groups of keys, each with a slot of its own.
const GROUPS: usize = 4;
/// How often one node takes all slots of the groups.
const MOVES: usize = 12;

fn keys(redis: &Redis, tag: &Tag) -> [String; 2] {
    [redis.key(tag, ":one"), redis.key(tag, ":other")]
}

/// Counts in one group after another until told to stop; tells how often it was told that it counted, by group.
async fn count(redis: &Redis, stop: &AtomicBool) -> Result<[i64; GROUPS], String> {
    let mut told = [0; GROUPS];
    while !stop.load(Ordering::Relaxed) {
        for (group, told) in told.iter_mut().enumerate() {
            let tag = Tag::new(group);
            let counted = redis.ask(Command::script(tag.clone(), &COUNT_BOTH, &keys(redis, &tag))).await;
            counted.map_err(|failure| failure.to_string())?;
            *told += 1;
        }
    }
    Ok(told)
}

#[tokio::test(flavor = "multi_thread")]
async fn slots_that_move_while_callers_work_reach_none_of_them_and_lose_no_count() {
    let cluster = OwnCluster::running().await;
    let redis = Redis::connect(&cluster.options()).await.unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let moving = async {
        let mut slots = Vec::new();
        for group in 0..GROUPS {
            let slot = cluster.slot(&redis.key(&Tag::new(group), ":one")).await;
            slots.push((slot, usize::from(slot >= 8_192)));
        }
        for number in 0..MOVES {
            let to = number % 2;
            for (slot, owner) in slots.iter_mut().filter(|(_, owner)| *owner != to) {
                cluster.move_slot(*slot, *owner).await;
                *owner = to;
            }
            cluster.settle().await;
        }
        stop.store(true, Ordering::Relaxed);
    };
    let callers = join_all((0..CALLERS).map(|_| count(&redis, &stop)));
    let (told, ()) = tokio::join!(callers, moving);
    let told: Vec<[i64; GROUPS]> = told.into_iter().collect::<Result<_, _>>().unwrap();
    for group in 0..GROUPS {
        let tag = Tag::new(group);
        let held = redis.ask(Command::new(tag.clone(), "MGET").arg(&keys(&redis, &tag))).await.unwrap();
        let sum: i64 = told.iter().map(|told| told[group]).sum();
        let text = Value::BulkString(sum.to_string().into_bytes());
        assert_eq!(held, Value::Array(vec![text.clone(), text]), "group {group}");
        assert!(sum > 0);
    }
}
