//! The crates of the workspace and what they depend on, as `cargo metadata` tells.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::workspace;

/// A crate of the workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// From the root, with forward slashes: `services/article`.
    pub(crate) folder: String,
    pub(crate) dependencies: Vec<Dependency>,
    /// Its test programs that need servers or programs which a machine may not have, by name: `needs-servers` in the
    /// package's own metadata.
    pub(crate) needs_servers: Vec<String>,
}

/// One line of a crate's dependencies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// Only for its tests, examples and benches.
    pub(crate) dev: bool,
}

/// The crates of this workspace. Needs neither network nor lock file.
pub(crate) fn packages() -> Result<Vec<Package>> {
    let mut command = workspace::cargo();
    let output = command
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .output()
        .context("could not start `cargo metadata`")?;
    if !output.status.success() {
        bail!("`cargo metadata` failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    parse(&serde_json::from_slice(&output.stdout).context("`cargo metadata` gave no JSON")?)
}

fn parse(metadata: &Value) -> Result<Vec<Package>> {
    let root = Path::new(text(metadata, "workspace_root")?);
    let packages = metadata["packages"].as_array().context("`cargo metadata` names no packages")?;
    packages.iter().map(|package| parse_package(root, package)).collect()
}

fn parse_package(root: &Path, package: &Value) -> Result<Package> {
    let name = text(package, "name")?.to_owned();
    let manifest = Path::new(text(package, "manifest_path")?);
    let folder = manifest.parent().and_then(|folder| folder.strip_prefix(root).ok());
    let folder =
        folder.with_context(|| format!("{name} lies outside the workspace"))?.to_string_lossy().replace('\\', "/");
    let dependencies = package["dependencies"].as_array().into_iter().flatten();
    let dependencies = dependencies
        .map(|line| Ok(Dependency { name: text(line, "name")?.to_owned(), dev: line["kind"] == "dev" }))
        .collect::<Result<_>>()?;
    let needs_servers = package["metadata"]["madang"]["needs-servers"].as_array().into_iter().flatten();
    let needs_servers = needs_servers.filter_map(|suite| suite.as_str().map(str::to_owned)).collect();
    Ok(Package { name, folder, dependencies, needs_servers })
}

fn text<'a>(value: &'a Value, field: &str) -> Result<&'a str> {
    value[field].as_str().with_context(|| format!("`cargo metadata` lacks a `{field}`"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn folders_are_relative_to_the_root_and_kinds_of_dependencies_differ() {
        let metadata = json!({
            "workspace_root": "/w",
            "packages": [{
                "name": "madang-article",
                "manifest_path": "/w/services/article/Cargo.toml",
                "dependencies": [{"name": "serde", "kind": null}, {"name": "proptest", "kind": "dev"}],
                "metadata": {"madang": {"needs-servers": ["cluster"]}},
            }],
        });
        let dependency = |name: &str, dev| Dependency { name: name.into(), dev };
        let expected = Package {
            name: "madang-article".into(),
            folder: "services/article".into(),
            dependencies: vec![dependency("serde", false), dependency("proptest", true)],
            needs_servers: vec!["cluster".into()],
        };
        assert_eq!(parse(&metadata).unwrap(), [expected]);
        assert!(parse(&json!({"packages": []})).is_err());
    }
}
