//! The rules of deploy/prometheus, checked and unit-tested by promtool.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::{program, workspace};

/// The part of `cargo xtask test`; the stack has installed promtool.
pub(crate) fn step() -> Result<()> {
    let tool = program::get("promtool").context(
        "the alerts are tested by promtool, which Debian's package `prometheus` brings; `cargo xtask stack up` installs it, as root",
    )?;
    let files = workspace::root().join("deploy/prometheus");
    run(&tool, &files, &["check", "config", "prometheus.yml"])?;
    run(&tool, &files, &["check", "rules", "rules/alerts.yml", "rules/recorded.yml"])?;
    run(&tool, &files.join("tests"), &["test", "rules", "alerts.yml"])
}

fn run(tool: &Path, folder: &Path, arguments: &[&str]) -> Result<()> {
    workspace::run(Command::new(tool).args(arguments).current_dir(folder))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    const ALERTS: &str = include_str!("../../deploy/prometheus/rules/alerts.yml");
    const UNIT_TESTS: &str = include_str!("../../deploy/prometheus/tests/alerts.yml");
    const RUNBOOKS: &str = include_str!("../../docs/runbooks.md");

    fn after<'a>(text: &'a str, mark: &str) -> BTreeSet<&'a str> {
        text.lines().filter_map(|line| line.trim().strip_prefix(mark)).collect()
    }

    #[test]
    fn every_alert_has_a_runbook_and_a_test_and_nothing_else_has() {
        let alerts = after(ALERTS, "- alert: ");
        assert!(alerts.len() > 20, "{alerts:?}");
        assert_eq!(alerts, after(UNIT_TESTS, "- name: "));
        let mut sections = after(RUNBOOKS, "## ");
        assert!(sections.remove("How each was seen to fire"));
        assert_eq!(alerts, sections);
        for alert in alerts {
            let link = format!("runbook: docs/runbooks.md#{}", alert.to_lowercase());
            assert!(ALERTS.lines().any(|line| line.trim() == link), "{alert} does not link to its runbook");
        }
    }
}
