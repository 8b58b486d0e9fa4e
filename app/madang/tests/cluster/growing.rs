//! A server is added to a cluster that is at work, and the command refuses what cannot be.

use crate::cluster::Cluster;
use crate::servers::Servers;
use crate::waiting::eventually;

fn address(url: &str) -> &str {
    url.rsplit('@').next().unwrap().trim_end_matches('/')
}

#[test]
fn a_server_is_added_while_people_write_and_every_process_knows_it() {
    let all = Servers::of_environment();
    let servers = Servers { mysql: all.mysql[..1].to_vec(), ..all.clone() };
    let mut cluster = Cluster::prepared(&servers, &["all", "all"]);
    let early = cluster.command(&["shards", "list"], "").expect(1).stderr;
    assert!(early.contains("no server could tell the shard map") && early.contains("shards status"), "{early}");
    cluster.start();
    let (ann, board) = (cluster.member("ann"), cluster.board("talk", "two_level"));
    let article = cluster.article(&board, &ann, "before");
    let (first, second) = (address(&all.mysql[0]), address(&all.mysql[1]));
    let listed = cluster.command(&["shards", "list"], "").expect(0).stdout;
    assert!(listed.contains("every service, version 1"), "{listed}");
    assert!(listed.contains(&format!("server 0 ({first}): 0-63 (64 shards)")), "{listed}");

    for (wrong, says) in [
        ("10.0.0.9", "write mysql://HOST:PORT"),
        ("mysql://root:secret@10.0.0.9:3306", "without a user and password"),
        ("mysql://127.0.0.1:1", "127.0.0.1:1 was not added"),
    ] {
        let refused = cluster.command(&["shards", "add-server", wrong], "");
        assert!(refused.code != 0 && refused.stderr.contains(says), "{}", refused.stderr);
    }
    cluster.command(&["shards", "status"], "").expect(0);

    let said = cluster.command(&["shards", "add-server", &format!("mysql://{second}")], "").expect(0).stdout;
    assert!(said.contains(&format!("server 1 ({second}) is part of the cluster and holds no shards yet")), "{said}");
    let again = cluster.command(&["shards", "add-server", &format!("mysql://{second}")], "").expect(0).stdout;
    assert!(again.contains("server 1 ("), "{again}");
    let listed = cluster.command(&["shards", "list"], "").expect(0).stdout;
    assert!(listed.contains(&format!("server 1 ({second}): no shards (0 shards)")), "{listed}");
    let status = cluster.command(&["shards", "status"], "").expect(0).stdout;
    assert_eq!(status.matches("knows the map of 6 services").count(), 2, "{status}");

    for process in &cluster.processes {
        eventually("the new server is a part of this process", || {
            process.get("/readyz").text().contains(second).then_some(())
        });
    }
    cluster.like(&article, &ann);
    cluster.article(&board, &ann, "after");
    cluster.command(&["check"], "");
    cluster.stop();
    // The configuration names one server still.
    cluster.start();
    assert_eq!(cluster.read(&article)["like_count"], 1);
    cluster.stop();
}
