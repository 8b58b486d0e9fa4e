//! `madang groups` on a cluster: a group rests in every process that runs it, and goes on where it stopped.

use serde_json::Value;

use crate::cluster::Cluster;
use crate::quiet::{configure, quiet_zone};
use crate::servers::Servers;
use crate::waiting::eventually;

const GROUP: &str = "hot-article";

/// What each process says of the group.
fn details(cluster: &Cluster) -> Vec<String> {
    let detail = |ready: Value| {
        let parts = ready["parts"].as_array().unwrap().clone();
        let part = parts.into_iter().find(|part| part["name"] == format!("group {GROUP}").as_str()).unwrap();
        part["detail"].as_str().unwrap().to_owned()
    };
    cluster.processes.iter().map(|process| detail(process.get("/readyz").json(200))).collect()
}

fn all_rest(cluster: &Cluster, rests: bool) {
    eventually("every process has heard", || {
        details(cluster).iter().all(|detail| detail.starts_with("paused") == rests).then_some(())
    });
}

fn hot_likes(cluster: &Cluster, article: &str) -> u64 {
    let list = cluster.get("/api/v1/hot-articles").json(200);
    let items = list["days"][0]["items"].as_array().unwrap().clone();
    items.iter().find(|item| item["article_id"] == article).map_or(0, |item| item["like_count"].as_u64().unwrap())
}

/// A gauge of the group, in the first process.
fn gauge(cluster: &Cluster, name: &str) -> f64 {
    let metrics = cluster.processes[0].get("/metrics").text();
    let line = metrics.lines().find(|line| line.starts_with(&format!("{name}{{group=\"{GROUP}\"}}")));
    line.and_then(|line| line.rsplit(' ').next()).and_then(|value| value.parse().ok()).unwrap_or(f64::NAN)
}

#[test]
fn a_group_rests_in_every_process_until_it_is_told_to_go_on() {
    let mut cluster = Cluster::prepared(&Servers::of_environment(), &["all", "all"]);
    configure(&cluster, &format!("time_zone = {:?}", quiet_zone()));
    cluster.start();
    let (ann, board) = (cluster.member("ann"), cluster.board("talk", "two_level"));
    let article = cluster.article(&board, &ann, "first");
    cluster.like(&article, &ann);
    eventually("the list tells of it", || (hot_likes(&cluster, &article) == 1).then_some(()));

    let said = cluster.command(&["groups", "pause", GROUP], "").expect(0).stdout;
    assert!(said.contains(&format!("madang groups resume {GROUP}")), "{said}");
    all_rest(&cluster, true);
    let bob = cluster.member("bob");
    cluster.like(&article, &bob);
    eventually("the group is behind and said to rest", || {
        let listed = cluster.command(&["groups", "list"], "").expect(0).stdout;
        let line = listed.lines().find(|line| line.starts_with(GROUP)).unwrap().to_owned();
        (line.contains("paused, ") && !line.ends_with("up to date")).then_some(())
    });
    assert_eq!(hot_likes(&cluster, &article), 1, "nobody has told the list");
    eventually("the gauges move while nothing is applied", || {
        let (behind, for_s) =
            (gauge(&cluster, "madang_group_lag_messages"), gauge(&cluster, "messaging_consumer_lag_seconds"));
        // More than the one like, if partitions moved just before the pause and what was done had not been noted yet.
        (behind >= 1.0 && for_s > 3.0).then_some(())
    });
    assert_eq!(cluster.read(&article)["like_count"], 2, "other groups do not rest");

    cluster.command(&["groups", "resume", GROUP], "").expect(0);
    all_rest(&cluster, false);
    eventually("the list tells of both", || (hot_likes(&cluster, &article) == 2).then_some(()));
    eventually("and the gauges fall", || {
        let (behind, for_s) =
            (gauge(&cluster, "madang_group_lag_messages"), gauge(&cluster, "messaging_consumer_lag_seconds"));
        (behind == 0.0 && for_s < 3.0).then_some(())
    });
    let refused = cluster.command(&["groups", "pause", "kitchen"], "").expect(1).stderr;
    assert!(refused.contains("\"kitchen\"") && refused.contains("article-read, comment, hot-article"), "{refused}");
    cluster.stop();
}
