//! Keeps docs/dependencies.md honest: a row for every library of the workspace, none for one that has left, and no
//! library that no crate uses.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::Violation;
use crate::metadata::{self, Package};

const PAGE: &str = "docs/dependencies.md";
const MANIFEST: &str = "Cargo.toml";

/// Every difference between the page, the manifest and what the crates use.
pub(super) fn violations(root: &Path) -> Result<Vec<Violation>> {
    let read = |file| fs::read_to_string(root.join(file)).with_context(|| format!("could not read {file}"));
    Ok(check(&read(MANIFEST)?, &read(PAGE)?, &metadata::packages()?))
}

fn check(manifest: &str, page: &str, packages: &[Package]) -> Vec<Violation> {
    let (listed, told) = (libraries(manifest), rows(page));
    let used: BTreeSet<_> =
        packages.iter().flat_map(|package| &package.dependencies).map(|one| one.name.as_str()).collect();
    let unused = listed.difference(&used).map(|name| {
        let what = format!("no crate uses `{name}`: remove it from [workspace.dependencies] and from {PAGE}");
        Violation::new(MANIFEST, what)
    });
    let missing = listed.difference(&told).map(|name| {
        let what = format!("say in {PAGE} why `{name}` is here: a row that starts with | `{name}` |");
        Violation::new(MANIFEST, what)
    });
    let stale = told.difference(&listed).map(|name| {
        Violation::new(PAGE, format!("`{name}` is no dependency of the workspace any more: remove its row"))
    });
    unused.chain(missing).chain(stale).collect()
}

/// Names in `[workspace.dependencies]` that do not come from this workspace.
fn libraries(manifest: &str) -> BTreeSet<&str> {
    let lines = manifest.lines().skip_while(|line| line.trim() != "[workspace.dependencies]").skip(1);
    let lines = lines.take_while(|line| !line.starts_with('['));
    let entries = lines.filter_map(|line| line.split_once('=')).filter(|(_, value)| !value.contains("path ="));
    entries.map(|(name, _)| name.trim()).filter(|name| !name.starts_with('#')).collect()
}

/// Names in backticks in the first column of the page's tables.
fn rows(page: &str) -> BTreeSet<&str> {
    let cells = page.lines().filter_map(|line| line.strip_prefix('|')?.split('|').next());
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::Dependency;

    const MANIFEST_TEXT: &str = "[workspace]\n[workspace.dependencies]\n# Ours.\nours = { path = \"a\" }\n\n\
        # Theirs = libraries.\nserde = { version = \"1\", features = [\"derive\"] }\nbytes = \"1\"\n[profile.dev]\nx = 1\n";

    /// One crate that uses these.
    fn using(names: &[&str]) -> [Package; 1] {
        let dependencies = names.iter().map(|name| Dependency { name: (*name).into(), dev: false }).collect();
        [Package { name: "ours".into(), folder: "a".into(), dependencies, ..Package::default() }]
    }

    #[test]
    fn a_row_for_each_library_passes() {
        let page = "| crate | why |\n|---|---|\n| `bytes` | shares `Vec` |\n| `serde` | JSON |\n";
        assert_eq!(check(MANIFEST_TEXT, page, &using(&["serde", "bytes"])), []);
    }

    #[test]
    fn missing_and_stale_rows_are_both_found() {
        let found = check(MANIFEST_TEXT, "| `serde`, `rand` | JSON and chance |\n", &using(&["serde", "bytes"]));
        let places: Vec<_> = found.iter().map(|violation| violation.place.as_str()).collect();
        assert_eq!(places, [MANIFEST, PAGE]);
        assert!(found[0].what.contains("`bytes`") && found[1].what.contains("`rand`"));
    }

    #[test]
    fn a_library_that_nobody_uses_is_found() {
        let found = check(MANIFEST_TEXT, "| `serde`, `bytes` | both |\n", &using(&["serde"]));
        assert_eq!(found.len(), 1);
        assert!(found[0].what.starts_with("no crate uses `bytes`"), "{}", found[0].what);
    }
}
