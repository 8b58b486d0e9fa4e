//! `cargo xtask tidy`: the rules a compiler does not know. Each violation says where it is and what to do.

mod asvs_walk;
mod dependencies_page;
mod files;
mod layers;
mod named_in_documents;
mod text;

use anyhow::{Result, bail};

use crate::workspace;

/// The rules a compiler does not know.
///
///   - every .rs file opens with a `//!` line that says why it exists
///   - every .sql file opens with a comment
///   - no .rs or .sql file is longer than 600 lines
///   - nothing is left unfinished: no marker comments, no macros that stand for missing code
///   - an error does not tell its cause in its own text and as its source
///   - every crate takes the lints of the workspace
///   - dependencies point up the list of layers (ARCHITECTURE.md), by `cargo metadata`
///   - docs/dependencies.md has a row for every dependency of the workspace, and for nothing else; each is used
///   - source files and tests that a document names are there
///   - docs/security.md answers every requirement of OWASP ASVS, levels 1 and 2, once, and what is met names its test
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Tidy {}

/// Something that is not as the rules have it.
#[derive(Debug, PartialEq, Eq)]
struct Violation {
    /// The file, from the root of the workspace.
    place: String,
    /// What is wrong and what to do.
    what: String,
}

impl Violation {
    fn new(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self { place: place.into(), what: what.into() }
    }
}

/// The task.
pub(crate) fn run() -> Result<()> {
    check()?;
    eprintln!("tidy");
    Ok(())
}

/// Checks the whole workspace; the error lists every violation.
pub(crate) fn check() -> Result<()> {
    let mut violations = text::violations(&workspace::root())?;
    violations.extend(layers::violations()?);
    violations.extend(dependencies_page::violations(&workspace::root())?);
    violations.extend(asvs_walk::violations(&workspace::root())?);
    violations.extend(named_in_documents::violations(&workspace::root())?);
    report(violations)
}

fn report(mut violations: Vec<Violation>) -> Result<()> {
    if violations.is_empty() {
        return Ok(());
    }
    // By file only: within one file they come in the order of its lines.
    violations.sort_by(|one, other| one.place.cmp(&other.place));
    let lines: Vec<_> =
        violations.iter().map(|violation| format!("  {}: {}", violation.place, violation.what)).collect();
    bail!("{} not tidy:\n{}", lines.len(), lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_is_tidy() {
        check().map_err(|error| format!("{error:#}")).unwrap();
    }

    #[test]
    fn a_report_lists_every_violation_in_order() {
        let violations = vec![Violation::new("b.rs", "is long"), Violation::new("a.rs", "is longer")];
        let error = report(violations).unwrap_err().to_string();
        assert_eq!(error, "2 not tidy:\n  a.rs: is longer\n  b.rs: is long");
        report(Vec::new()).unwrap();
    }
}
