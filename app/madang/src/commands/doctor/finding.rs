//! What was looked at and what came of it, in words and as JSON.

use serde::Serialize;

/// How bad a thing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Level {
    /// As it should be.
    Ok,
    /// Worth doing something about.
    Warning,
    /// Something does not work, or acknowledged data can be lost.
    Problem,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    /// How bad it is.
    pub(super) level: Level,
    /// The part it is about, such as `disk` or `mysql 10.0.0.1:3306`.
    pub(super) part: String,
    /// What was found.
    pub(super) found: String,
    /// What to do about it; nothing where all is well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) advice: Option<String>,
}

/// Everything that was looked at.
#[derive(Debug, Default, Serialize)]
pub(in crate::commands) struct Report {
    pub(super) findings: Vec<Finding>,
}

impl Report {
    pub(in crate::commands) fn ok(&mut self, part: &str, found: impl Into<String>) {
        self.add(Level::Ok, part, found.into(), None);
    }

    pub(in crate::commands) fn warning(&mut self, part: &str, found: impl Into<String>, advice: impl Into<String>) {
        self.add(Level::Warning, part, found.into(), Some(advice.into()));
    }

    pub(in crate::commands) fn problem(&mut self, part: &str, found: impl Into<String>, advice: impl Into<String>) {
        self.add(Level::Problem, part, found.into(), Some(advice.into()));
    }

    fn add(&mut self, level: Level, part: &str, found: String, advice: Option<String>) {
        self.findings.push(Finding { level, part: part.to_owned(), found, advice });
    }

    pub(super) fn count(&self, level: Level) -> usize {
        self.findings.iter().filter(|finding| finding.level == level).count()
    }

    /// 1 with a problem, 2 with warnings alone, otherwise 0.
    pub(super) fn exit_code(&self) -> u8 {
        match self.findings.iter().map(|finding| finding.level).max() {
            Some(Level::Problem) => 1,
            Some(Level::Warning) => 2,
            Some(Level::Ok) | None => 0,
        }
    }

    /// One line a finding, and one for what to do about it.
    pub(super) fn in_words(&self) -> String {
        let mut text = String::new();
        for Finding { level, part, found, advice } in &self.findings {
            let mark = match level {
                Level::Ok => "ok      ",
                Level::Warning => "warning ",
                Level::Problem => "PROBLEM ",
            };
            text.push_str(&format!("{mark} {part}: {found}\n"));
            if let Some(advice) = advice {
                text.push_str(&format!("          -> {advice}\n"));
            }
        }
        let (problems, warnings) = (self.count(Level::Problem), self.count(Level::Warning));
        text.push_str(&format!("{problems} problems, {warnings} warnings, {} in order\n", self.count(Level::Ok)));
        text
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The findings of a part at a level, in one text.
    pub(in super::super) fn told(report: &Report, level: Level) -> String {
        let of_level = report.findings.iter().filter(|finding| finding.level == level);
        of_level.map(|finding| format!("{}: {}\n", finding.part, finding.found)).collect()
    }

    #[test]
    fn the_worst_finding_is_the_exit_code() {
        let mut report = Report::default();
        assert_eq!(report.exit_code(), 0);
        report.ok("a", "fine");
        assert_eq!(report.exit_code(), 0);
        report.warning("b", "hm", "do");
        assert_eq!(report.exit_code(), 2);
        report.problem("c", "oh", "do this");
        assert_eq!(report.exit_code(), 1);
        assert!(report.in_words().contains("PROBLEM  c: oh\n          -> do this\n"), "{}", report.in_words());
    }
}
