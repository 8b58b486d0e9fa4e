//! The Redis of a cluster: what it does when its memory is full.

use madang_engine_redis::NodeInspection;

use super::finding::Report;

/// Older ones lack what scripts use.
const MAJOR_MIN: u32 = 7;

/// Judges one server.
pub(super) fn judge(host: &str, found: &NodeInspection, report: &mut Report) {
    let part = format!("redis {host}");
    let told = |name: &str| found.info.get(name).map_or("", String::as_str);
    let version = told("redis_version");
    let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
    match major {
        Some(major) if major < MAJOR_MIN => {
            report.problem(&part, format!("is version {version}"), format!("upgrade it to {MAJOR_MIN} or later"));
        }
        _ => report.ok(&part, format!("responds, version {version}")),
    }
    if told("role") == "slave" {
        report.problem(&part, "is a replica and takes no writes", "name the primary in cluster.redis.urls");
    }
    if told("cluster_enabled") == "1" && told("cluster_state") != "ok" {
        report.problem(
            &part,
            format!("its cluster is {}: some slots are served by nobody", told("cluster_state")),
            "look at CLUSTER NODES, and bring the missing nodes back",
        );
    }
    memory(&part, found, report);
}

/// Everything in it can be made again, and every key expires but the epochs, by which it is known whether it was emptied:
/// what is evicted must be chosen among keys that expire.
fn memory(part: &str, found: &NodeInspection, report: &mut Report) {
    let used = found.info.get("used_memory").and_then(|used| used.parse::<u64>().ok()).unwrap_or(0);
    let (Some(most), Some(policy)) = (found.settings.get("maxmemory"), found.settings.get("maxmemory-policy")) else {
        return report.warning(
            part,
            "does not tell maxmemory and maxmemory-policy (CONFIG is not allowed)",
            "make sure that there is a limit, and that the policy is volatile-lru",
        );
    };
    let most: u64 = most.parse().unwrap_or(0);
    if policy.starts_with("allkeys") {
        report.problem(
            part,
            format!("maxmemory-policy is {policy}: the epochs are evicted too, which looks as if Redis was emptied"),
            "CONFIG SET maxmemory-policy volatile-lru, and the same in its configuration",
        );
    } else if most == 0 {
        report.warning(
            part,
            "maxmemory is not set: the query model grows until the system kills Redis",
            "CONFIG SET maxmemory to what the machine can spare, and maxmemory-policy volatile-lru",
        );
    } else if policy == "noeviction" {
        report.warning(
            part,
            format!(
                "maxmemory is {} MB and the policy noeviction: once it is full, views and the query model stand still",
                most / 1_000_000
            ),
            "CONFIG SET maxmemory-policy volatile-lru, and the same in its configuration",
        );
    } else {
        report.ok(part, format!("uses {} of {} MB, and evicts by {policy}", used / 1_000_000, most / 1_000_000));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(most: &str, policy: &str, info: &[(&str, &str)]) -> u8 {
        let text = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let right = [("redis_version", "7.0.15"), ("role", "master"), ("used_memory", "1000000")];
        let found = NodeInspection {
            info: right.iter().chain(info).map(text).collect(),
            settings: [("maxmemory", most), ("maxmemory-policy", policy)].iter().map(text).collect(),
        };
        let mut report = Report::default();
        judge("h:1", &found, &mut report);
        report.exit_code()
    }

    #[test]
    fn what_is_evicted_must_be_what_expires() {
        assert_eq!(judged("1000000000", "volatile-lru", &[]), 0);
        assert_eq!(judged("1000000000", "noeviction", &[]), 2);
        assert_eq!(judged("0", "noeviction", &[]), 2);
        assert_eq!(judged("1000000000", "allkeys-lru", &[]), 1);
        assert_eq!(judged("1000000000", "volatile-lru", &[("role", "slave")]), 1);
        assert_eq!(judged("1000000000", "volatile-lru", &[("redis_version", "6.2.1")]), 1);
        let cluster = [("cluster_enabled", "1"), ("cluster_state", "fail")];
        assert_eq!(judged("1000000000", "volatile-lru", &cluster), 1);
    }
}
