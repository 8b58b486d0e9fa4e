//! The brokers of a cluster: how many copies there are of an event, and how many a write waits for.

use madang_engine_kafka::{LogInspection, TopicInspection};

use super::finding::Report;
use crate::config::ClusterSettings;

const PART: &str = "kafka";

/// Judges brokers and topics.
pub(super) fn judge(found: &LogInspection, cluster: &ClusterSettings, report: &mut Report) {
    report.ok(PART, format!("responds, {} brokers, {} topics of this site", found.brokers, found.topics.len()));
    let wanted = cluster.kafka.replication.map_or(1, usize::from);
    if found.brokers < wanted {
        report.problem(
            PART,
            format!("there are {} brokers, and cluster.kafka.replication is {wanted}", found.brokers),
            "start the missing brokers: topics cannot be made with fewer, and every copy that is away is a risk",
        );
    }
    if found.topics.is_empty() {
        report.ok(PART, "no topics yet: the first start makes them");
    }
    let mut worth_telling = Vec::new();
    for (name, topic) in &found.topics {
        worth_telling.extend(judge_topic(name, topic));
    }
    let of_one_copy = found.topics.values().filter(|topic| topic.replicas == 1).count();
    if of_one_copy > 0 {
        report.warning(
            PART,
            format!("{of_one_copy} topics have one copy: with its disk, events that consumers had not read are gone"),
            "run three brokers: new topics then have three copies unless cluster.kafka.replication says otherwise; topics that \
             exist are changed by kafka-reassign-partitions",
        );
    }
    for (is_problem, text, advice) in worth_telling {
        if is_problem { report.problem(PART, text, advice) } else { report.warning(PART, text, advice) }
    }
}

fn judge_topic(name: &str, topic: &TopicInspection) -> Vec<(bool, String, &'static str)> {
    let mut found = Vec::new();
    let in_sync = topic.settings.get("min.insync.replicas").and_then(|min| min.parse::<usize>().ok()).unwrap_or(1);
    if topic.under_replicated > 0 {
        let text = format!(
            "{name}: {} of {} partitions have a copy that is behind or away",
            topic.under_replicated, topic.partitions
        );
        found.push((false, text, "bring the broker back; a copy that is behind catches up by itself"));
    }
    if topic.replicas > 1 && in_sync >= topic.replicas {
        let text = format!(
            "{name}: min.insync.replicas is {in_sync} of {} copies, so that one broker away stops events",
            topic.replicas
        );
        found.push((true, text, "set min.insync.replicas one below the number of copies (kafka-configs --alter)"));
    }
    if topic.replicas > 2 && in_sync < 2 {
        let text =
            format!("{name}: min.insync.replicas is {in_sync}: an acknowledged event may be on one broker alone");
        found.push((true, text, "set min.insync.replicas one below the number of copies (kafka-configs --alter)"));
    }
    if topic.settings.get("unclean.leader.election.enable").is_some_and(|enabled| enabled == "true") {
        let text = format!("{name}: a copy that is behind may become the leader, and what it lacks is lost");
        found.push((true, text, "set unclean.leader.election.enable = false (kafka-configs --alter)"));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(replicas: usize, settings: &[(&str, &str)], under_replicated: usize) -> Vec<bool> {
        let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let topic = TopicInspection { partitions: 3, replicas, under_replicated, settings };
        judge_topic("t", &topic).into_iter().map(|(is_problem, ..)| is_problem).collect()
    }

    #[test]
    fn a_write_waits_for_all_copies_but_one() {
        assert_eq!(problems(3, &[("min.insync.replicas", "2")], 0), Vec::<bool>::new());
        assert_eq!(problems(1, &[("min.insync.replicas", "1")], 0), Vec::<bool>::new());
        assert_eq!(problems(3, &[("min.insync.replicas", "1")], 0), [true]);
        assert_eq!(problems(3, &[("min.insync.replicas", "3")], 0), [true]);
        assert_eq!(problems(3, &[("min.insync.replicas", "2"), ("unclean.leader.election.enable", "true")], 0), [true]);
        assert_eq!(problems(3, &[("min.insync.replicas", "2")], 1), [false]);
    }
}
