//! What docs/metrics.md says a process tells, compared with what one tells: in both directions, names, types and labels.

use std::collections::{BTreeMap, BTreeSet};

const PAGE: &str = include_str!("../../../../docs/metrics.md");
/// Labels that belong to the type of a metric.
const OF_THE_TYPE: [&str; 2] = ["le", "quantile"];

/// A metric as the page or a process tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Told {
    kind: String,
    labels: BTreeSet<String>,
}

/// What differs between the page and these answers of `/metrics`. `always` is told by them for certain, `perhaps` may be: both
/// as the page names those who tell a metric.
pub(crate) fn differences(answers: &[String], always: &[&str], perhaps: &[&str]) -> Vec<String> {
    let page = rows();
    let told: BTreeMap<String, Told> = answers.iter().flat_map(|answer| metrics(answer)).collect();
    let mut found = Vec::new();
    for (name, (by, meant)) in &page {
        match told.get(name) {
            None if always.contains(&by.as_str()) => found.push(format!("{name} is on the page, and nobody tells it")),
            Some(told) if told != meant => found.push(format!("{name} is {told:?}, and {meant:?} on the page")),
            Some(_) if !always.contains(&by.as_str()) && !perhaps.contains(&by.as_str()) => {
                found.push(format!("{name} is told here, and on the page only by: {by}"));
            }
            _ => {}
        }
    }
    found.extend(told.keys().filter(|name| !page.contains_key(*name)).map(|name| format!("{name} is not on the page")));
    for answer in answers {
        let helped: BTreeSet<&str> =
            answer.lines().filter_map(|line| line.strip_prefix("# HELP ")?.split(' ').next()).collect();
        found.extend(
            metrics(answer)
                .keys()
                .filter(|name| !helped.contains(name.as_str()))
                .map(|name| format!("{name} has no HELP")),
        );
    }
    found
}

/// The rows of the page: who tells a metric, and what it is.
fn rows() -> BTreeMap<String, (String, Told)> {
    let row = |line: &str| {
        let cells: Vec<&str> = line.strip_prefix("| `")?.split('|').map(str::trim).collect();
        let labels = cells[2].split(',').map(|label| label.trim().trim_matches('`').to_owned());
        let told = Told { kind: cells[1].to_owned(), labels: labels.filter(|label| !label.is_empty()).collect() };
        Some((cells[0].trim_end_matches('`').to_owned(), (cells[3].to_owned(), told)))
    };
    PAGE.lines().filter_map(row).collect()
}

/// The metrics of an answer.
fn metrics(answer: &str) -> BTreeMap<String, Told> {
    let mut metrics = BTreeMap::new();
    let mut of = String::new();
    for line in answer.lines() {
        if let Some((name, kind)) = line.strip_prefix("# TYPE ").and_then(|line| line.split_once(' ')) {
            name.clone_into(&mut of);
            metrics.insert(of.clone(), Told { kind: kind.to_owned(), labels: BTreeSet::new() });
        } else if let Some((_, labels)) = line.split_once('{').filter(|_| line.starts_with(&of)) {
            let names = labels.split("=\"").filter_map(|part| part.rsplit([',', '"']).next());
            // The last part is a value.
            let names: Vec<_> = names.collect();
            let known = names.split_last().map_or(&[][..], |(_, names)| names);
            let told = metrics.get_mut(&of).unwrap();
            told.labels.extend(known.iter().filter(|name| !OF_THE_TYPE.contains(name)).map(|name| (*name).to_owned()));
        }
    }
    metrics
}

#[test]
fn labels_are_read_whatever_their_values_hold() {
    let answer = "# TYPE a counter\na{b=\"x,y\",c=\"{z}\"} 1\n# TYPE d histogram\nd_bucket{le=\"1\"} 2\n";
    let labels = |name: &str| metrics(answer)[name].labels.iter().cloned().collect::<Vec<_>>();
    assert_eq!(labels("a"), ["b", "c"]);
    assert!(labels("d").is_empty());
}
