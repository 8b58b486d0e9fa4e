//! The doctor on real servers: what is set against losing data is found on each of them, and so is a schema that is newer
//! than the program.

use std::fs::Permissions;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;

use mysql_async::prelude::Queryable as _;
use serde_json::Value;

use crate::cache::Cache;
use crate::cluster::{Cluster, Ended};
use crate::servers::{RedisServers, Servers};
use madang_test_servers::Relational;

fn execute(url: &str, statements: &[&str]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut conn = mysql_async::Conn::from_url(url).await.unwrap();
        for statement in statements {
            conn.query_drop(*statement).await.unwrap();
        }
        conn.disconnect().await.unwrap();
    });
}

fn set_redis(cache: &Cache, name: &str, value: &str) {
    let RedisServers::Single(url) = cache.servers() else { panic!("one server") };
    let mut stream = std::net::TcpStream::connect(url.strip_prefix("redis://").unwrap()).unwrap();
    stream.write_all(format!("CONFIG SET {name} {value}\r\n").as_bytes()).unwrap();
    let mut answer = [0; 5];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"+OK\r\n");
}

fn doctor(cluster: &Cluster) -> (i32, Vec<Value>) {
    std::fs::set_permissions(cluster.config(), Permissions::from_mode(0o600)).unwrap();
    let Ended { code, stdout, stderr } = cluster.command(&["doctor", "--json"], "");
    let report: Value = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}"));
    (code, report["findings"].as_array().unwrap().clone())
}

/// The findings at a level, as one text.
fn at(findings: &[Value], level: &str) -> String {
    let of_level = findings.iter().filter(|finding| finding["level"] == level);
    of_level.map(|finding| format!("{}: {} -> {}\n", finding["part"], finding["found"], finding["advice"])).collect()
}

#[test]
fn settings_that_lose_data_are_found_on_every_server() {
    let (database, cache) = (Relational::start(), Cache::start());
    let servers = Servers { mysql: vec![database.url()], redis: cache.servers(), ..Servers::of_environment() };
    let cluster = Cluster::prepared(&servers, &["all"]);
    set_redis(&cache, "maxmemory", "100mb");
    set_redis(&cache, "maxmemory-policy", "volatile-lru");
    let (code, findings) = doctor(&cluster);
    assert!(code == 2 && at(&findings, "problem").is_empty(), "{}", at(&findings, "problem"));
    let fine = at(&findings, "ok");
    for text in
        ["a COMMIT is on the disk", "evicts by volatile-lru", "databases do not exist yet", "READ COMMITTED", "brokers"]
    {
        assert!(fine.contains(text), "{text}: {fine}");
    }
    assert!(at(&findings, "warning").contains("binary log"), "{}", at(&findings, "warning"));

    let wrong = [
        "SET GLOBAL innodb_flush_log_at_trx_commit = 2",
        "SET GLOBAL read_only = ON",
        "SET GLOBAL max_connections = 20",
    ];
    execute(&database.url(), &wrong);
    set_redis(&cache, "maxmemory-policy", "allkeys-lru");
    std::fs::set_permissions(cluster.config(), Permissions::from_mode(0o644)).unwrap();
    let (code, findings) = doctor(&cluster);
    let problems = at(&findings, "problem");
    for text in ["innodb_flush_log_at_trx_commit", "read-only", "allkeys-lru"] {
        assert!(problems.contains(text), "{text}: {problems}");
    }
    assert!(code == 1 && at(&findings, "warning").contains("max_connections"), "{findings:?}");

    drop((database, cache));
    let problems = at(&doctor(&cluster).1, "problem");
    assert!(problems.contains("mysql 127.0.0.1") && problems.contains("redis 127.0.0.1"), "{problems}");
}

#[test]
fn a_configuration_with_secrets_that_others_can_read_is_a_problem() {
    let cluster = Cluster::prepared(&Servers::of_environment(), &["all"]);
    std::fs::set_permissions(cluster.config(), Permissions::from_mode(0o644)).unwrap();
    let said = cluster.command(&["doctor"], "").expect(1).stdout;
    assert!(said.contains("which holds secrets") && said.contains("chmod 640"), "{said}");
}

#[test]
fn databases_of_a_newer_version_are_refused_and_an_upgrade_is_told_before_it_runs() {
    let servers = Servers::of_environment();
    let mut cluster = Cluster::prepared(&servers, &["all"]);
    let said = cluster.command(&["upgrade", "--check"], "").expect(2).stdout;
    assert!(said.contains("_comment on 127.0.0.1") && said.contains("would run 1 ("), "{said}");
    cluster.start();
    cluster.stop();
    let said = cluster.command(&["upgrade", "--check"], "").expect(0).stdout;
    assert!(said.contains("changes nothing"), "{said}");
    let fine = at(&doctor(&cluster).1, "ok");
    assert!(
        fine.contains("the schemas of 6 databases are up to date") && fine.contains("topics of this site"),
        "{fine}"
    );

    let database = format!("{}_article", cluster.name);
    let newer = format!("INSERT INTO {database}.schema_history VALUES (999, 'later', '2030-01-01T00:00:00Z', '1')");
    execute(&servers.mysql[0], &[&newer]);
    let said = cluster.command(&["upgrade", "--check"], "").expect(1).stdout;
    assert!(said.contains("newer version of madang (schema 999"), "{said}");
    assert!(at(&doctor(&cluster).1, "problem").contains("schema 999"));
    let refused = cluster.command(&["check"], "").expect(1).stderr;
    assert!(refused.contains("newer version of this program (schema 999"), "{refused}");
}
