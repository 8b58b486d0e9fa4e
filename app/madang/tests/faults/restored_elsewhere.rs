//! A cluster whose relational servers were copied while people wrote, restored on other servers by the commands of
//! docs/backup.md: what was acknowledged before is there, and a check finds no difference.

use std::collections::HashSet;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use crate::broker::Broker;
use crate::cache::Cache;
use crate::cluster::Cluster;
use crate::servers::Servers;
use crate::turns;
use crate::waiting::eventually;
use madang_test_servers::{PASSWORD, Relational};

const PAGE: &str = include_str!("../../../../docs/backup.md");
const WRITERS: usize = 4;

/// The commands of the page under a name.
fn commands(name: &str) -> String {
    let mark = format!("<!-- commands: {name} -->\n```sh\n");
    let (_, after) = PAGE.split_once(&mark).unwrap_or_else(|| panic!("{mark} is on the page"));
    after.split_once("```").unwrap().0.to_owned()
}

/// Runs them as an operator would.
fn run(name: &str, variables: &[(&str, &str)]) {
    let bin = Path::new(env!("CARGO_BIN_EXE_madang")).parent().unwrap();
    let path = format!("{}:/usr/sbin:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    for (variable, _) in std::env::vars().filter(|(variable, _)| variable.starts_with("MADANG_")) {
        shell.env_remove(variable);
    }
    shell.args(["-eu", "-c", &commands(name)]).env("PATH", path).envs(variables.iter().copied());
    let ended = shell.output().unwrap();
    let said = [ended.stdout, ended.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(ended.status.success(), "{name}: {said}");
}

/// The settings of the first cluster with the servers of the second.
fn configure(first: &Cluster, second: &Cluster) {
    let read = |cluster: &Cluster| std::fs::read_to_string(cluster.config()).unwrap();
    let (first, text) = (read(first), read(second));
    let of_first = |key: &str| first.lines().find(|line| line.starts_with(key)).unwrap().to_owned();
    let line = |line: &str| match line.split_once(" = ") {
        Some((key @ ("name" | "secret"), _)) => of_first(&format!("{key} = ")),
        _ => line.to_owned(),
    };
    let text: Vec<String> = text.lines().map(line).collect();
    std::fs::write(second.config(), text.join("\n") + "\n").unwrap();
    // There are secrets in it, and the doctor looks.
    std::fs::set_permissions(second.config(), Permissions::from_mode(0o600)).unwrap();
}

#[test]
fn what_was_acknowledged_before_the_copies_is_on_the_other_servers() {
    let _turn = turns::alone();
    let _ = madang_test_servers::program("mariadb-backup");
    let (databases, cache) = ([Relational::start(), Relational::start()], Cache::start());
    let servers = Servers {
        mysql: databases.iter().map(Relational::url).collect(),
        redis: cache.servers(),
        ..Servers::of_environment()
    };
    let mut first = Cluster::prepared(&servers, &["all"]);
    first.start();
    let (ann, board) = (first.member("ann"), first.board("talk", "two_level"));

    // People write, reply, like and delete until the copies are made.
    let (stop, acknowledged) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    let copies = tempfile::tempdir().unwrap();
    let before: Vec<String> = std::thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(|| {
                for number in 0.. {
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    let article = first.article(&board, &ann, "kept");
                    first.comment(&article, &ann, None);
                    first.like(&article, &ann);
                    if number % 5 == 4 {
                        let gone = first.call("DELETE", &format!("/api/v1/articles/{article}")).token(&ann).send();
                        assert_eq!(gone.status, 204);
                    } else {
                        acknowledged.lock().unwrap().push(article);
                    }
                }
            });
        }
        eventually("enough was written", || (acknowledged.lock().unwrap().len() >= 100).then_some(()));
        let before = acknowledged.lock().unwrap().clone();
        for (number, database) in databases.iter().enumerate() {
            let copy = copies.path().join(number.to_string());
            run(
                "copy",
                &[
                    ("HOST", "127.0.0.1"),
                    ("PORT", &database.port().to_string()),
                    ("USER", "root"),
                    ("PASSWORD", PASSWORD),
                    ("DATADIR", database.data().to_str().unwrap()),
                    ("COPY", copy.to_str().unwrap()),
                ],
            );
        }
        stop.store(true, Ordering::Relaxed);
        before
    });
    first.stop();

    let restore = |number: usize| {
        let copy = copies.path().join(number.to_string());
        Relational::start_on(|data| {
            run("restore", &[("COPY", copy.to_str().unwrap()), ("DATADIR", data.to_str().unwrap())]);
        })
    };
    let (others, cache, broker) = ([restore(0), restore(1)], Cache::start(), Broker::start());
    drop(databases);
    let servers = Servers {
        mysql: others.iter().map(Relational::url).collect(),
        redis: cache.servers(),
        kafka: broker.address(),
        ..Servers::of_environment()
    };
    let mut second = Cluster::prepared(&servers, &["all"]);
    configure(&first, &second);
    second.start();
    eventually("every group is up to date", || {
        let listed = second.command(&["groups", "list"], "").expect(0).stdout;
        listed.lines().all(|line| line.ends_with("up to date")).then_some(())
    });
    run("mend", &[("CONFIG", second.config().to_str().unwrap())]);

    let there: HashSet<&String> =
        before.iter().filter(|article| second.get(&format!("/api/v1/articles/{article}")).status == 200).collect();
    let lost: Vec<_> = before.iter().filter(|article| !there.contains(article)).collect();
    assert!(lost.is_empty(), "acknowledged before the copies and gone: {lost:?}");
    let article = second.read(&before[0]);
    assert_eq!((&article["comment_count"], &article["like_count"]), (&json!(1), &json!(1)));
    // Keys come from the secret: who was signed in still is, and writing goes on.
    second.article(&board, &ann, "after");
    second.stop();
}
