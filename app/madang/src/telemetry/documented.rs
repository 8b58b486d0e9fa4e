//! Keeps docs/metrics.md true: every metric has a row there that says what the catalog says, and nothing else has one.

use madang_server::RefusedBy;

use super::catalog;
use super::metric::{Kind, Metric, Series};

const PAGE: &str = include_str!("../../../../docs/metrics.md");

fn row(metric: &Metric) -> String {
    let labels: Vec<String> = metric.labels().iter().map(|label| format!("`{label}`")).collect();
    let kind = format!("{:?}", metric.kind).to_lowercase();
    format!("| `{}` | {kind} | {} | {} | {} |", metric.name, labels.join(", "), metric.told.words(), metric.help)
}

#[test]
fn the_page_says_of_every_metric_what_the_catalog_says() {
    let rows = PAGE.lines().filter(|line| line.starts_with("| `"));
    let (told, meant): (Vec<&str>, Vec<String>) = (rows.collect(), catalog::all().map(row).collect());
    assert_eq!(told.join("\n"), meant.join("\n"));
}

#[test]
fn names_tell_their_unit_and_counters_that_they_are() {
    for metric in catalog::all() {
        assert_eq!(metric.name.ends_with("_total"), metric.kind == Kind::Counter, "{}", metric.name);
        for unit in ["_ms", "_us", "_kb", "_mb", "_percent", "_minutes"] {
            assert!(!metric.name.contains(unit), "{} is not in a base unit", metric.name);
        }
        assert!(metric.help.ends_with('.'), "{}: {}", metric.name, metric.help);
    }
}

#[test]
fn every_limit_is_there_from_the_start() {
    let refusals = catalog::all().find(|metric| metric.name == "madang_refusals_total").unwrap();
    let names: Vec<_> = RefusedBy::ALL.into_iter().map(RefusedBy::name).collect();
    assert!(matches!(refusals.series, Series::Each("limit", values) if values == names), "{names:?}");
}
