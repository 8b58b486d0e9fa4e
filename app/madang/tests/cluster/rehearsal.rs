//! One secret, two names: whoever is somebody on one site is nobody on the other. And how a cluster gets there whose keys
//! followed from the secret alone.

use serde_json::json;

use crate::cluster::Cluster;
use crate::servers::Servers;

const SECRET: &str = "cluster.secret=the-same-for-the-site-and-its-rehearsal";

/// A site with the secret.
fn with_the_secret(roles: &[&str]) -> Cluster {
    let mut cluster = Cluster::prepared(&Servers::of_environment(), roles);
    cluster.processes.iter_mut().for_each(|process| process.set(SECRET));
    cluster
}

#[test]
fn the_administrator_of_a_rehearsal_with_the_same_secret_is_nobody_on_the_site() {
    let (mut site, mut rehearsal) = (with_the_secret(&["all"]), with_the_secret(&["all"]));
    site.start();
    rehearsal.start();
    let theirs = rehearsal.admin();
    let board = json!({"slug": "taken-over", "title": "t", "comment_mode": "tree"});
    let create = |token: &str| site.call("POST", "/api/v1/boards").token(token).json(&board).send().status;
    let (me, taken_over) = (site.call("GET", "/api/v1/members/me").token(&theirs).send().status, create(&theirs));
    println!("the rehearsal's administrator on the site: members/me {me}, a new board {taken_over}");
    assert_eq!((me, taken_over), (401, 401));
    assert_eq!(create(&site.admin()), 201);
}

#[test]
fn a_cluster_rolls_over_from_keys_without_a_name_and_nobody_is_signed_out_on_the_way() {
    let mut cluster = with_the_secret(&["member,article", "comment,like,view,article-read,hot-article"]);
    let set = |cluster: &mut Cluster, process: usize, step: &str| {
        cluster.processes[process].set(&format!("cluster.nameless_keys={step}"));
    };
    set(&mut cluster, 0, "use");
    set(&mut cluster, 1, "use");
    cluster.start();
    let ann = cluster.member("ann");
    let board = cluster.board("talk", "two_level");
    let article = cluster.article(&board, &ann, "first");
    for (process, step) in [(1, "accept"), (0, "accept")] {
        cluster.processes[process].stop();
        set(&mut cluster, process, step);
        cluster.start_one(process);
        // The first signed the token and is asked by the second, whichever of them are at which step.
        cluster.like(&article, &ann);
        cluster.like(&article, &cluster.sign_in("ann"));
        cluster.article(&board, &ann, step);
    }
    let under_the_name = cluster.sign_in("ann");
    for process in [0, 1] {
        cluster.processes[process].stop();
        set(&mut cluster, process, "refuse");
        cluster.start_one(process);
    }
    cluster.like(&article, &under_the_name);
    let before = cluster.call("GET", "/api/v1/members/me").token(&ann).send();
    assert_eq!(before.status, 401, "{}", before.text());
    cluster.stop();
}
