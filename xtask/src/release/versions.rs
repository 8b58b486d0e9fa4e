//! One version in every place that names it, and told in the changelog.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use super::said;
use crate::{metadata, workspace};

/// Every crate takes the version of the workspace, the lock file has it, and no tag has it yet.
pub(super) fn one(version: &str) -> Result<String> {
    let (root, packages) = (workspace::root(), metadata::packages()?);
    for package in &packages {
        let manifest = std::fs::read_to_string(root.join(&package.folder).join("Cargo.toml"))?;
        ensure!(manifest.contains("version.workspace = true"), "{} has a version of its own", package.name);
    }
    let lock = std::fs::read_to_string(root.join("Cargo.lock"))?;
    ensure!(locked(&lock, "madang") == Some(version), "Cargo.lock has another version of madang: run cargo check");
    let tags = said("git", &["tag", "--list", &format!("v{version}")], &root)?;
    ensure!(tags.is_empty(), "v{version} is tagged already: raise the version in Cargo.toml");
    Ok(format!("{version} in {} crates and Cargo.lock", packages.len()))
}

fn locked<'a>(lock: &'a str, name: &str) -> Option<&'a str> {
    let (_, after) = lock.split_once(&format!("name = \"{name}\"\nversion = \""))?;
    after.split('"').next()
}

/// The changelog has a section of the version, with a date, and nothing waits for the next one.
pub(super) fn told(version: &str) -> Result<String> {
    let page = Path::new(&workspace::root()).join("CHANGELOG.md");
    section(&std::fs::read_to_string(page)?, version)
}

fn section(changelog: &str, version: &str) -> Result<String> {
    let heading = format!("## {version} - ");
    let date = changelog.lines().find_map(|line| line.strip_prefix(&heading));
    let date = date.with_context(|| format!("CHANGELOG.md has no section `{heading}YYYY-MM-DD`: rename Unreleased"))?;
    let digits = |text: &str, count| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<_> = date.split('-').collect();
    let is_date = matches!(parts[..], [year, month, day] if digits(year, 4) && digits(month, 2) && digits(day, 2));
    ensure!(is_date, "`{date}` is no date");
    let waits = changelog.split("## Unreleased\n").nth(1).and_then(|after| after.split("\n## ").next());
    ensure!(waits.is_none_or(|text| text.trim().is_empty()), "something is still under Unreleased");
    Ok(format!("of {date}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_has_a_dated_section_and_leaves_nothing_behind() {
        let good = "# Changelog\n\n## Unreleased\n\n## 0.2.0 - 2026-11-18\n\n### Added\n- a\n";
        assert_eq!(section(good, "0.2.0").unwrap(), "of 2026-11-18");
        for wrong in [
            "## 0.1.0 - 2026-11-18\n",
            "## 0.2.0 - soon\n",
            "## 0.2.0 - 2026-11\n",
            "## Unreleased\n- b\n\n## 0.2.0 - 2026-11-18\n",
        ] {
            assert!(section(wrong, "0.2.0").is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_version_in_the_lock_file_is_that_of_the_name() {
        let lock = "[[package]]\nname = \"madang-api\"\nversion = \"9\"\n\n[[package]]\nname = \"madang\"\nversion = \"0.1.0\"\n";
        assert_eq!(locked(lock, "madang"), Some("0.1.0"));
        assert_eq!(locked(lock, "other"), None);
    }
}
