//! Commands on a cluster open its servers themselves, beside the processes that serve it or without any.

use crate::cluster::Cluster;
use crate::process::PASSWORD;
use crate::quiet::{configure, quiet_zone};
use crate::servers::Servers;
use crate::waiting::eventually;

#[test]
fn a_site_is_filled_looked_at_and_checked_without_a_server() {
    let cluster = Cluster::prepared(&Servers::of_environment(), &["all"]);
    let tokens = cluster.directory().join("tokens");
    let seed = ["seed", "--boards", "2", "--articles", "300", "--members", "3", "--tokens", tokens.to_str().unwrap()];
    cluster.command(&seed, "").expect(0);
    assert_eq!(std::fs::read_to_string(&tokens).unwrap().lines().count(), 3);
    let created = cluster.command(&["member", "create", "--name", "eve", "--password-stdin"], PASSWORD).expect(0);
    assert!(created.stdout.contains("eve"), "{}", created.stdout);
    cluster.command(&["check"], "").expect(2);
    cluster.command(&["dlq", "list"], "").expect(0);
    let shown = cluster.command(&["config"], "").expect(0).stdout;
    assert!(shown.contains("[cluster.kafka]") && !shown.contains(&format!("{}-", cluster.name)), "{shown}");
}

#[test]
fn derived_data_is_made_anew_beside_a_server() {
    let cluster = Cluster::one();
    let ann = cluster.member("ann");
    let board = cluster.board("talk", "two_level");
    let article = cluster.article(&board, &ann, "first");
    cluster.like(&article, &ann);
    cluster.command(&["rebuild", "read-model"], "").expect(0);
    assert_eq!(cluster.read(&article)["like_count"], 1, "it comes back from its owners");
    cluster.command(&["rebuild", "hot"], "").expect(0);
    eventually("every group is listed as up to date", || {
        let listed = cluster.command(&["groups", "list"], "").expect(0).stdout;
        let lines: Vec<_> = listed.lines().collect();
        (lines.len() == 5 && lines.iter().all(|line| line.ends_with("up to date"))).then_some(())
    });
}

#[test]
fn a_check_that_could_not_compare_everything_says_so_by_its_exit_code() {
    let mut cluster = Cluster::prepared(&Servers::of_environment(), &["all"]);
    configure(&cluster, &format!("time_zone = {:?}", quiet_zone()));
    cluster.start();
    let (ann, board) = (cluster.member("ann"), cluster.board("talk", "two_level"));
    let article = cluster.article(&board, &ann, "first");
    cluster.command(&["groups", "pause", "hot-article"], "").expect(0);
    eventually("the group rests", || cluster.processes[0].get("/readyz").text().contains("paused, ").then_some(()));
    cluster.like(&article, &ann);
    let said = cluster.command(&["check"], "").expect(2).stdout;
    assert!(
        said.contains("not compared: the hot scores of today") && said.contains("not everything could be compared"),
        "{said}"
    );
    cluster.command(&["groups", "resume", "hot-article"], "").expect(0);
    eventually("everything is compared, and nothing differs", || {
        (cluster.command(&["check"], "").code == 0).then_some(())
    });
    cluster.stop();
}
