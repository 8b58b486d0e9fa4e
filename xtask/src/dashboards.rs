//! `cargo xtask dashboards`: runs the query of every panel of deploy/grafana against a real Prometheus, under load.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::alerts::SPEED;
use crate::interrupt::Interrupt;
use crate::observed::ObservedSite;
use crate::workspace;

/// Runs the query of every panel of deploy/grafana against a real Prometheus, under load.
///
/// Starts the stack and the site of `cargo xtask alerts`, lets people use it, and asks Prometheus what every panel would ask.
/// Fails on a query that is an error or has no answer. Needs root, as that command does.
#[derive(clap::Args)]
pub(crate) struct Dashboards {
    /// Uses the binary as it was built last.
    #[arg(long)]
    no_build: bool,
}

/// How long people use the site before the queries are run.
const USED_FOR: Duration = Duration::from_secs(45);
/// How long a query may take to have an answer: some figures are read every 30 s.
const ANSWER_MAX: Duration = Duration::from_secs(60);
/// What Grafana puts in place of its variables, on a Prometheus whose times are a fifteenth.
const VARIABLES: [(&str, &str); 2] = [("$__rate_interval", "20s"), ("$instance", ".+")];

/// A query of a panel.
#[derive(Debug, PartialEq, Eq)]
struct Query {
    dashboard: String,
    panel: String,
    expression: String,
}

impl Dashboards {
    /// Runs it.
    pub(crate) fn run(&self) -> Result<()> {
        let queries = queries(&workspace::root().join("deploy/grafana"))?;
        let interrupt = Interrupt::listen()?;
        let site = ObservedSite::up(SPEED, !self.no_build, &interrupt)?;
        interrupt.pause(USED_FOR)?;
        let mut failures = Vec::new();
        for query in &queries {
            let expression = filled_in(&query.expression);
            let asked =
                site.wait(ANSWER_MAX, "it has an answer", || Ok(!site.prometheus.query(&expression)?.is_empty()));
            interrupt.check()?;
            match asked.and_then(|_| site.prometheus.query(&expression)) {
                Ok(series) => println!("{:<10} {:<44} {:>4} series", query.dashboard, query.panel, series.len()),
                Err(error) => {
                    failures.push(format!("{} / {}: {error:#}\n    {expression}", query.dashboard, query.panel));
                }
            }
        }
        println!("{} of {} queries have an answer", queries.len() - failures.len(), queries.len());
        ensure!(failures.is_empty(), "without one:\n{}", failures.join("\n"));
        Ok(())
    }
}

/// Every query of every dashboard in a folder.
fn queries(folder: &Path) -> Result<Vec<Query>> {
    let mut files: Vec<_> = std::fs::read_dir(folder)?.map(|file| Ok(file?.path())).collect::<Result<_>>()?;
    files.retain(|file| file.extension().is_some_and(|kind| kind == "json"));
    files.sort();
    let mut queries = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file)?;
        let dashboard: Value = serde_json::from_str(&text).with_context(|| file.display().to_string())?;
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        queries.extend(of_dashboard(&name, &dashboard));
    }
    Ok(queries)
}

fn of_dashboard(name: &str, dashboard: &Value) -> Vec<Query> {
    let panels = dashboard["panels"].as_array().into_iter().flatten();
    let queries = panels.flat_map(|panel| {
        let targets = panel["targets"].as_array().into_iter().flatten();
        targets.map(|target| Query {
            dashboard: name.to_owned(),
            panel: panel["title"].as_str().unwrap_or_default().to_owned(),
            expression: target["expr"].as_str().unwrap_or_default().to_owned(),
        })
    });
    queries.collect()
}

fn filled_in(expression: &str) -> String {
    VARIABLES.iter().fold(expression.to_owned(), |text, (name, value)| text.replace(name, value))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const METRICS: &str = include_str!("../../docs/metrics.md");
    const RULES: &str = include_str!("../../deploy/prometheus/rules/recorded.yml");

    /// The names of ours within a query.
    fn names(expression: &str) -> impl Iterator<Item = &str> {
        let words = expression.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_' && letter != ':');
        words.filter(|word| {
            ["madang_", "messaging_", "process_", "instance:", "group:", "service:"]
                .iter()
                .any(|mark| word.starts_with(mark))
        })
    }

    #[test]
    fn panels_ask_for_metrics_that_are_told() {
        let told: BTreeSet<_> =
            METRICS.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
        let recorded: BTreeSet<_> = RULES.lines().filter_map(|line| line.trim().strip_prefix("- record: ")).collect();
        let queries = queries(&workspace::root().join("deploy/grafana")).unwrap();
        assert!(queries.len() > 30, "{}", queries.len());
        for query in &queries {
            for name in names(&query.expression) {
                let plain = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
                assert!(told.contains(plain) || told.contains(name) || recorded.contains(name), "{name} in {query:?}");
            }
        }
    }

    #[test]
    fn every_panel_has_a_query_a_title_and_a_unit() {
        for file in ["site", "messaging", "stores"] {
            let text = std::fs::read_to_string(workspace::root().join(format!("deploy/grafana/{file}.json"))).unwrap();
            let dashboard: Value = serde_json::from_str(&text).unwrap();
            for panel in dashboard["panels"].as_array().unwrap() {
                assert!(panel["title"].is_string() && panel["targets"][0]["expr"].is_string(), "{panel}");
                assert!(panel["fieldConfig"]["defaults"]["unit"].is_string(), "{panel}");
            }
        }
    }

    #[test]
    fn variables_are_filled_in() {
        assert_eq!(filled_in("rate(a{b=~\"$instance\"}[$__rate_interval])"), "rate(a{b=~\".+\"}[20s])");
    }
}
