//! What is compiled into the binary: every library with version, licence and checksum, as cargo resolved them.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::workspace;

/// A crate that is not ours and ends up in the binary, or builds what does.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Library {
    pub(crate) name: String,
    pub(crate) version: String,
    /// As an SPDX expression.
    pub(crate) license: String,
    /// Names of those it depends on directly, as `name@version`.
    pub(crate) needs: Vec<String>,
}

impl Library {
    /// By which other libraries name it.
    pub(crate) fn key(&self) -> String {
        format!("{}@{}", self.name, self.version)
    }
}

/// The libraries of the binary on this machine's platform, by name; tests' own are not among them.
pub(crate) fn of_binary() -> Result<Vec<Library>> {
    let mut command = workspace::cargo();
    command.args(["metadata", "--locked", "--format-version", "1", "--filter-platform", &platform()?]);
    let output = command.output().context("could not start `cargo metadata`")?;
    if !output.status.success() {
        bail!("`cargo metadata` failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    parse(&serde_json::from_slice(&output.stdout).context("`cargo metadata` gave no JSON")?)
}

/// The triple that rustc builds for.
pub(crate) fn platform() -> Result<String> {
    let output = std::process::Command::new("rustc").args(["--version", "--verbose"]).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc names no host")?;
    Ok(host.to_owned())
}

fn parse(metadata: &Value) -> Result<Vec<Library>> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let packages: BTreeMap<String, Value> =
        list(&metadata["packages"]).into_iter().map(|package| (word(&package["id"]), package)).collect();
    let nodes: BTreeMap<String, Vec<String>> = list(&metadata["resolve"]["nodes"])
        .into_iter()
        .map(|node| {
            let needed = list(&node["deps"]).into_iter().filter(|dependency| {
                // No kind is the usual one; "build" runs while building, and may put code in.
                list(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"] != "dev")
            });
            (word(&node["id"]), needed.map(|dependency| word(&dependency["pkg"])).collect())
        })
        .collect();
    let binary = packages.iter().find(|(_, package)| package["name"] == "madang").context("no package madang")?.0;
    let (mut seen, mut left) = (BTreeSet::from([binary.clone()]), vec![binary.clone()]);
    while let Some(id) = left.pop() {
        let needed = nodes.get(&id).into_iter().flatten();
        left.extend(needed.filter(|needed| seen.insert((*needed).clone())).cloned());
    }
    let theirs = |id: &&String| packages.get(*id).is_some_and(|package| !package["source"].is_null());
    let key = |id: &String| {
        let package = packages.get(id)?;
        (!package["source"].is_null()).then(|| format!("{}@{}", word(&package["name"]), word(&package["version"])))
    };
    let mut libraries: Vec<_> = seen
        .iter()
        .filter(theirs)
        .map(|id| Library {
            name: word(&packages[id]["name"]),
            version: word(&packages[id]["version"]),
            license: packages[id]["license"].as_str().unwrap_or("NOASSERTION").replace('/', " OR "),
            needs: nodes.get(id).into_iter().flatten().filter_map(key).collect(),
        })
        .collect();
    libraries.sort();
    Ok(libraries)
}

fn word(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// As a table that people read.
pub(crate) fn table(libraries: &[Library]) -> String {
    let header = "Libraries that are compiled into madang: name, version, licence.\n\n".to_owned();
    let row = |one: &Library| format!("{:<32} {:<16} {}\n", one.name, one.version, one.license);
    libraries.iter().map(row).fold(header, |text, row| text + &row)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_only_tests_need_is_not_in_the_binary() {
        let package = |id: &str, source: Value| json!({"id": id, "name": id, "version": "1", "license": "MIT/Zlib", "source": source});
        let needs = |id: &str, kind: Value| json!({"pkg": id, "dep_kinds": [{"kind": kind}]});
        let metadata = json!({
            "packages": [
                package("madang", Value::Null), package("ours", Value::Null),
                package("deep", json!("registry")), package("tested", json!("registry")), package("built", json!("registry")),
            ],
            "resolve": {"nodes": [
                {"id": "madang", "deps": [needs("ours", Value::Null), needs("tested", json!("dev"))]},
                {"id": "ours", "deps": [needs("deep", Value::Null)]},
                {"id": "deep", "deps": [needs("built", json!("build"))]},
            ]},
        });
        let libraries = parse(&metadata).unwrap();
        assert_eq!(libraries.iter().map(Library::key).collect::<Vec<_>>(), ["built@1", "deep@1"]);
        assert_eq!(
            (libraries[1].license.as_str(), &libraries[1].needs[..]),
            ("MIT OR Zlib", &["built@1".to_owned()][..])
        );
        assert!(table(&libraries).contains("deep"));
    }
}
