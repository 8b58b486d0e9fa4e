//! The relational servers of a cluster: durability first, then what makes texts equal, then room.

use madang_mysql::{DatabaseState, Inspection};

use super::finding::Report;
use crate::commands::upgrade;
use crate::config::ClusterSettings;

const COLLATION: &str = "utf8mb4_bin";
/// The largest record of an outbox, and some.
const PACKET_MIN_BYTES: u64 = 16 << 20;
/// Databases of a site on one server.
const DATABASES: u64 = 6;

/// Judges one server.
pub(super) fn judge(host: &str, found: &Inspection, cluster: &ClusterSettings, report: &mut Report) {
    let part = format!("mysql {host}");
    let set = |name: &str| found.variables.get(name).map_or("", String::as_str);
    let number = |name: &str| set(name).parse::<u64>().ok();
    let is_on = |name: &str| matches!(set(name).to_ascii_uppercase().as_str(), "ON" | "1" | "YES");
    report.ok(&part, format!("responds, version {}", set("version")));
    if set("innodb_flush_log_at_trx_commit") != "1" {
        report.problem(
            &part,
            format!(
                "innodb_flush_log_at_trx_commit is {}: what was acknowledged is lost when the power goes",
                set("innodb_flush_log_at_trx_commit")
            ),
            "set innodb_flush_log_at_trx_commit = 1 in its configuration, and SET GLOBAL the same",
        );
    } else if is_on("log_bin") && set("sync_binlog") != "1" {
        report.problem(
            &part,
            format!("sync_binlog is {}: after a power cut the binary log, replicas and backups may miss what was acknowledged", set("sync_binlog")),
            "set sync_binlog = 1 in its configuration, and SET GLOBAL the same",
        );
    } else {
        report.ok(&part, "a COMMIT is on the disk before it is answered");
    }
    if !is_on("log_bin") {
        report.warning(
            &part,
            "it writes no binary log: there is no replica to fail over to, and nothing to restore from after the last backup",
            "set log_bin, sync_binlog = 1 and binlog_format = ROW",
        );
    }
    if matches!(set("innodb_doublewrite").to_ascii_uppercase().as_str(), "OFF" | "0") {
        report.problem(
            &part,
            "innodb_doublewrite is off: a power cut in the middle of a page destroys it",
            "set innodb_doublewrite = ON",
        );
    }
    if is_on("read_only") || is_on("super_read_only") {
        report.problem(&part, "it is read-only", "name the primary in [[cluster.mysql]], or promote this server");
    }
    if number("max_allowed_packet").is_some_and(|bytes| bytes < PACKET_MIN_BYTES) {
        report.warning(
            &part,
            format!("max_allowed_packet is {}: a batch of long texts is refused", set("max_allowed_packet")),
            "set max_allowed_packet = 64M",
        );
    }
    let wanted = cluster.mysql_connections_max as u64 * DATABASES;
    if number("max_connections").is_some_and(|most| most < wanted) {
        report.warning(
            &part,
            format!("max_connections is {}, and one process with all roles may open {wanted}", set("max_connections")),
            "raise max_connections to that number for each process, or lower cluster.mysql_connections_max",
        );
    }
    isolation(&part, set("transaction_isolation"), set("tx_isolation"), report);
    clock(&part, found, cluster.clock_skew_max_ms, report);
    for database in &found.databases {
        collation(&part, database, report);
    }
    upgrade::judge_databases(&part, &found.databases, report);
}

/// Every connection of ours sets its own; said so that nobody has to look.
fn isolation(part: &str, present: &str, older: &str, report: &mut Report) {
    let level = if present.is_empty() { older } else { present };
    report.ok(part, format!("isolation {level} for others; each connection of madang sets READ COMMITTED for itself"));
}

fn clock(part: &str, found: &Inspection, max_ms: u64, report: &mut Report) {
    let apart = found.skew.at_least_ms();
    let text = format!("its clock is {} ms from this one", found.skew.ahead_ms.unsigned_abs());
    let advice = "synchronise the clocks of all hosts and databases (chrony, or another NTP client)";
    if apart > max_ms {
        report.problem(part, format!("{text}, more than cluster.clock_skew_max_ms = {max_ms}"), advice);
    } else if apart > 1_000 {
        report.warning(part, text, advice);
    } else {
        report.ok(part, text);
    }
}

fn collation(part: &str, database: &DatabaseState, report: &mut Report) {
    match &database.collation {
        Some(collation) if collation != COLLATION => report.problem(
            part,
            format!("{} has the collation {collation}: texts that differ may count as equal", database.name),
            format!("run ALTER DATABASE `{}` COLLATE {COLLATION}, and convert its tables", database.name),
        ),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use madang_mysql::ClockSkew;

    use super::super::finding::Level;
    use super::super::finding::tests::told;
    use super::*;
    use crate::config::{Config, Sources};

    fn cluster() -> ClusterSettings {
        let file = tempfile::NamedTempFile::new().unwrap();
        let text = "[cluster]\nsecret = \"0123456789abcdef0123456789abcdef\"\n[[cluster.mysql]]\nurl = \"mysql://a:b@h:1\"\n\
                    shards = \"0-63\"\n[cluster.redis]\nurls = [\"redis://h:2\"]\n[cluster.kafka]\nbootstrap = [\"h:3\"]\n";
        std::fs::write(file.path(), text).unwrap();
        let sources = Sources { file: Some(file.path().to_owned()), ..Sources::default() };
        Config::load(&sources).unwrap().settings.cluster.unwrap()
    }

    fn judged(variables: &[(&str, &str)], ahead_ms: i64) -> Report {
        let right = [
            ("version", "11.8"),
            ("innodb_flush_log_at_trx_commit", "1"),
            ("sync_binlog", "1"),
            ("log_bin", "ON"),
            ("innodb_doublewrite", "ON"),
            ("read_only", "OFF"),
            ("max_allowed_packet", "67108864"),
            ("max_connections", "500"),
            ("transaction_isolation", "REPEATABLE-READ"),
        ];
        let all = right.iter().chain(variables).map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let found = Inspection {
            variables: all.collect::<BTreeMap<_, _>>(),
            skew: ClockSkew { ahead_ms, uncertainty_ms: 1 },
            databases: Vec::new(),
        };
        let mut report = Report::default();
        judge("h:1", &found, &cluster(), &mut report);
        report
    }

    #[test]
    fn a_server_that_may_lose_what_it_acknowledged_is_a_problem() {
        assert_eq!(judged(&[], 3).exit_code(), 0);
        for (name, value) in [
            ("innodb_flush_log_at_trx_commit", "2"),
            ("sync_binlog", "0"),
            ("innodb_doublewrite", "OFF"),
            ("read_only", "ON"),
        ] {
            let report = judged(&[(name, value)], 0);
            assert_eq!(report.exit_code(), 1, "{name}: {}", report.in_words());
            assert_eq!(report.count(Level::Problem), 1, "{name}");
        }
        assert_eq!(judged(&[], 3_600_000).exit_code(), 1);
        assert!(told(&judged(&[("log_bin", "OFF"), ("sync_binlog", "0")], 0), Level::Warning).contains("binary log"));
        assert!(told(&judged(&[("max_connections", "10")], 0), Level::Warning).contains("max_connections"));
    }
}
