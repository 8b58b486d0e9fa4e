//! The databases of a cluster of the first release, opened by this version: migrated, answered as they were then, and written
//! on. Redis and the brokers have nothing of it: what they had is made again.

use std::path::{Path, PathBuf};
use std::process::Command;

use mysql_async::prelude::Queryable as _;
use serde_json::json;

use crate::answered_then::{self, PASSWORD};
use crate::cluster::Cluster;
use crate::servers::Servers;
use crate::waiting::eventually;

/// What the databases were called by then.
const NAME_THEN: &str = "`firstrel_";

fn fixture(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/first-release").join(file)
}

/// Loads the dump of a server under the name of another site.
fn load(url: &str, dump: &str, name: &str) {
    let unpacked = Command::new("gzip").arg("-dc").arg(fixture(dump)).output().unwrap();
    assert!(unpacked.status.success());
    let text = String::from_utf8(unpacked.stdout).unwrap().replace(NAME_THEN, &format!("`{name}_"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut conn = mysql_async::Conn::from_url(url).await.unwrap();
        for statement in text.split(";\n").filter(|statement| !statement.trim().is_empty()) {
            conn.query_drop(statement).await.unwrap_or_else(|error| panic!("{error}: {statement}"));
        }
        conn.disconnect().await.unwrap();
    });
}

#[test]
fn a_cluster_of_the_first_release_is_answered_as_it_was_and_goes_on() {
    let mut servers = Servers::of_environment();
    servers.mysql.truncate(2);
    let mut cluster = Cluster::prepared(&servers, &["all"]);
    for (url, dump) in servers.mysql.iter().zip(["server-1.sql.gz", "server-2.sql.gz"]) {
        load(url, dump, &cluster.name);
    }
    let said = cluster.command(&["upgrade", "--check"], "").expect(2).stdout;
    assert!(said.contains("would run") && said.contains("make a backup first"), "{said}");
    cluster.start();
    for (path, then) in answered_then::read(&fixture("servers.answers.tsv")) {
        answered_then::compare(&path, &then, &cluster.get(&format!("/api/v1{path}")).json(200));
    }
    let said = cluster.command(&["check"], "").expect(0).stdout;
    assert!(said.contains("no differences"), "{said}");

    // People of then sign in, write, comment and like.
    let body = json!({"name": "마당쇠", "password": PASSWORD});
    let session = cluster.call("POST", "/api/v1/sessions").json(&body).send().json(201);
    let token = session["token"].as_str().unwrap().to_owned();
    let boards = cluster.get("/api/v1/boards").json(200);
    let article = cluster.article(boards["items"][0]["board_id"].as_str().unwrap(), &token, "after the upgrade");
    cluster.comment(&article, &token, None);
    cluster.like(&article, &token);
    eventually("every group is up to date", || {
        let listed = cluster.command(&["groups", "list"], "").expect(0).stdout;
        listed.lines().all(|line| line.ends_with("up to date")).then_some(())
    });
    cluster.command(&["check"], "").expect(0);
    cluster.stop();
    cluster.command(&["upgrade", "--check"], "").expect(0);
}
