//! Redis is restored from a snapshot that is older than what happened since: nobody is shown what was deleted or changed, and
//! no view is lost that was stored.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::cache::Cache;
use crate::cluster::Cluster;
use crate::servers::Servers;
use crate::truth::{check_compares_everything_and_finds_nothing, configure, quiet_zone};
use crate::turns::alone;
use crate::waiting::{eventually, within};

/// Views before the snapshot, and all of them.
const VIEWS: [u64; 2] = [5, 40];
/// How long readers may be shown what the snapshot held: it is noticed within a second, on a busy machine a little later.
const NOTICED: Duration = Duration::from_secs(20);

#[test]
fn a_redis_restored_from_an_older_snapshot_brings_nothing_back() {
    let _turn = alone();
    let mut cache = Cache::start();
    let servers = Servers { redis: cache.servers(), ..Servers::of_environment() };
    let mut cluster = Cluster::prepared(&servers, &["all"]);
    configure(&cluster, &format!("time_zone = {:?}", quiet_zone()));
    cluster.start();
    let (ann, board) = (cluster.member("ann"), cluster.board("talk", "two_level"));
    let edited = cluster.article(&board, &ann, "as it was");
    let deleted = cluster.article(&board, &ann, "a regret");
    let view = |from: u64, to: u64| {
        for browser in from..to {
            assert_eq!(cluster.view(&edited, &format!("browser-{browser}"))["counted"], true);
        }
    };
    let read = |article: &str| cluster.get(&format!("/api/v1/articles/{article}"));
    view(0, VIEWS[0]);
    assert_eq!((read(&edited).status, read(&deleted).status), (200, 200));
    eventually("the first views are stored", || (cluster.read(&edited)["view_count"] == VIEWS[0]).then_some(()));
    cache.snapshot();

    let path = |article: &str| format!("/api/v1/articles/{article}");
    let edit = json!({"title": "as it is", "content": "another text"});
    cluster.call("PUT", &path(&edited)).token(&ann).json(&edit).send().json(200);
    assert_eq!(cluster.call("DELETE", &path(&deleted)).token(&ann).send().status, 204);
    view(VIEWS[0], VIEWS[1]);
    eventually("all views are stored, and scored", || {
        let days = cluster.get("/api/v1/hot-articles").json(200);
        (days["days"][0]["items"][0]["view_count"] == VIEWS[1]).then_some(())
    });

    cache.kill();
    cache.start_restored();
    let begun = Instant::now();
    let title = || {
        let answer = read(&edited);
        (answer.status == 200).then(|| answer.json(200)["title"].as_str().unwrap().to_owned())
    };
    within(NOTICED, "the text is as it is", || (title().as_deref() == Some("as it is")).then_some(()));
    within(NOTICED, "what was deleted is gone", || (read(&deleted).status == 404).then_some(()));
    within(NOTICED, "no view is lost", || (cluster.read(&edited)["view_count"] == VIEWS[1]).then_some(()));
    println!("everything is as it was before the restore after {:?}", begun.elapsed());
    let counted = eventually("views are counted again", || {
        let view = cluster.view(&edited, "a new one");
        (view["counted"] == true).then_some(view)
    });
    assert_eq!(counted["view_count"], VIEWS[1] + 1);
    // By now Redis is asked again, and not the owners behind it.
    assert_eq!((title().as_deref(), read(&deleted).status), (Some("as it is"), 404));
    check_compares_everything_and_finds_nothing(&cluster);
    cluster.stop();
}
