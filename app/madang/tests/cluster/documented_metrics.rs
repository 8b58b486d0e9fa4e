//! docs/metrics.md and what `/metrics` tells on servers say the same: of one process with every role, and of several that ask
//! one another.

use crate::cluster::Cluster;
use crate::servers::Servers;
use crate::told_metrics::differences;
use crate::waiting::eventually;

fn are_the_same(roles: &[&str], always: &[&str], perhaps: &[&str]) {
    let mut cluster = Cluster::prepared(&Servers::of_environment(), roles);
    cluster.start();
    let (ann, board) = (cluster.member("ann"), cluster.board("talk", "two_level"));
    let article = cluster.article(&board, &ann, "first");
    cluster.like(&article, &ann);
    cluster.comment(&article, &ann, None);
    cluster.view(&article, "one");
    let mut last = Vec::new();
    eventually("the page and what is told are the same", || {
        let told: Vec<_> = cluster.processes.iter().map(|process| process.get("/metrics").text()).collect();
        let found = differences(&told, always, perhaps);
        if found != last {
            println!("{found:#?}");
            last.clone_from(&found);
        }
        found.is_empty().then_some(())
    });
    cluster.stop();
}

#[test]
fn what_the_page_says_of_one_process_and_what_it_tells_are_the_same() {
    are_the_same(&["all"], &["everywhere", "cluster"], &["cluster, with peers"]);
}

#[test]
fn what_the_page_says_of_peers_and_what_they_tell_are_the_same() {
    let roles = ["member,article", "comment,like,view", "article-read,hot-article"];
    are_the_same(&roles, &["everywhere", "cluster", "cluster, with peers"], &[]);
}
