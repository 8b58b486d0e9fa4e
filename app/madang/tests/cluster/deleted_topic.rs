//! A topic that somebody deletes is made again, with a word about what that means and what to do; nothing has to be started anew.

use std::time::Duration;

use rdkafka::ClientConfig;
use rdkafka::admin::{AdminClient, AdminOptions};
use rdkafka::client::DefaultClientContext;

use crate::first_article::FirstArticle;
use crate::records::LIKES;
use crate::waiting::{eventually, within};

/// Noticed within seconds; producers and groups find the new topic when they ask for it next.
const RESTORED: Duration = Duration::from_secs(120);

#[test]
fn a_deleted_topic_is_made_again_and_rebuilds_put_right_what_was_lost_with_it() {
    let FirstArticle { servers, mut cluster, ann, article, .. } = FirstArticle::on_one_process();
    cluster.like(&article, &ann);
    let hot_likes = || cluster.get("/api/v1/hot-articles").json(200)["days"][0]["items"][0]["like_count"].clone();
    eventually("the first like is scored", || (hot_likes() == 1).then_some(()));
    // An offset that is stored while the topic is deleted would be one of the new topic.
    eventually("every group has stored what it did", || {
        let groups = cluster.command(&["groups", "list"], "").expect(0).stdout;
        groups.lines().all(|line| line.ends_with("up to date")).then_some(())
    });
    let topic = format!("{}.{LIKES}", cluster.name);
    let admin: AdminClient<DefaultClientContext> =
        ClientConfig::new().set("bootstrap.servers", &servers.kafka).create().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let deleted = runtime.block_on(admin.delete_topics(&[&topic], &AdminOptions::new())).unwrap();
    assert_eq!(deleted, [Ok(topic.clone())]);
    within(RESTORED, "it is noticed, and said", || {
        let said = format!("topic {topic} was deleted and is created again");
        cluster.processes[0].log().contains(&said).then_some(())
    });
    let bob = cluster.member("bob");
    cluster.like(&article, &bob);
    // What was said to do: events that were in the topic, or came while it was made again, may be lost to a group.
    within(RESTORED, "rebuilds find what was lost with it", || {
        for derived in ["hot", "read-model"] {
            cluster.command(&["rebuild", derived], "").expect(0);
        }
        (hot_likes() == 2 && cluster.command(&["check"], "").code == 0).then_some(())
    });
    cluster.stop();
}
