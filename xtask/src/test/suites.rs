//! The test programs of the workspace, as `cargo test --no-run` tells of them, and the order in which they are run.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::metadata::{self, Package};
use crate::workspace;

/// Programs that take longest, most of it waiting: they begin first, so that the others run beside them.
const LONGEST: [&str; 8] = ["faults", "on_seven", "on_cluster", "e2e", "cluster", "mysql", "kafka", "web"];

/// One test program.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Suite {
    /// `madang --test faults`, as one would name it to `cargo test -p`.
    pub(super) name: String,
    target: String,
    program: PathBuf,
    /// Where its crate is, and it runs.
    folder: PathBuf,
    /// Whether its crate says that it needs servers.
    pub(super) needs_servers: bool,
}

impl Suite {
    /// The command that runs it.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder);
        command
    }
}

/// Builds every test program, and names them in the order in which they are to begin.
pub(super) fn build() -> Result<Vec<Suite>> {
    let mut command = workspace::cargo();
    command.args(["test", "--workspace", "--no-run", "--message-format", "json-render-diagnostics"]);
    let output = command.stderr(Stdio::inherit()).output().context("could not start `cargo test --no-run`")?;
    workspace::succeeded(&command, output.status)?;
    let packages = metadata::packages()?;
    let mut suites = Vec::new();
    for line in String::from_utf8_lossy(&output.stdout).lines().filter(|line| line.starts_with('{')) {
        let message: Value = serde_json::from_str(line).context("`cargo test --no-run` gave no JSON")?;
        suites.extend(suite(&message, &packages));
    }
    if suites.is_empty() {
        bail!("the workspace has no tests");
    }
    every_name_is_a_suite(&packages, &suites)?;
    suites.sort_by_key(|suite| (start_order(suite), suite.name.clone()));
    Ok(suites)
}

/// A name under `needs-servers` that no test has would leave nothing out.
fn every_name_is_a_suite(packages: &[Package], suites: &[Suite]) -> Result<()> {
    for (package, target) in packages.iter().flat_map(|p| p.needs_servers.iter().map(move |name| (&p.name, name))) {
        let name = format!("{package} --test {target}");
        if !suites.iter().any(|suite| suite.name == name) {
            bail!("{package} says that its test `{target}` needs servers, and has no such test: mend its Cargo.toml");
        }
    }
    Ok(())
}

/// The test program that a message tells of, if it does.
fn suite(message: &Value, packages: &[Package]) -> Option<Suite> {
    if message["reason"] != "compiler-artifact" || message["profile"]["test"] != true {
        return None;
    }
    let program = PathBuf::from(message["executable"].as_str()?);
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
    let target = message["target"]["name"].as_str()?;
    let kind = message["target"]["kind"].as_array()?.first()?.as_str()?;
    let package = package(message["package_id"].as_str()?);
    let name = match kind {
        "lib" => format!("{package} --lib"),
        kind => format!("{package} --{kind} {target}"),
    };
    let needs = packages.iter().filter(|p| p.name == package && kind == "test").flat_map(|p| &p.needs_servers);
    let needs_servers = needs.into_iter().any(|suite| suite == target);
    Some(Suite { name, target: target.to_owned(), program, folder, needs_servers })
}

/// The name in `path+file:///folder#name@0.1.0`, or in `path+file:///folder/name#0.1.0`.
fn package(id: &str) -> &str {
    let (before, after) = id.rsplit_once('#').unwrap_or(("", id));
    match after.split_once('@') {
        Some((name, _)) => name,
        None => before.rsplit('/').next().unwrap_or(after),
    }
}

fn start_order(suite: &Suite) -> usize {
    LONGEST.iter().position(|target| *target == suite.target).unwrap_or(LONGEST.len())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_program_is_named_as_one_would_name_it_to_cargo() {
        let message = |kind: &str, test: bool, id: &str| {
            json!({"reason": "compiler-artifact", "package_id": id, "manifest_path": "/w/app/Cargo.toml",
                   "profile": {"test": test}, "target": {"name": "faults", "kind": [kind]}, "executable": "/t/faults-1"})
        };
        let package = Package { name: "madang".into(), needs_servers: vec!["faults".into()], ..Package::default() };
        let suite = |message: &Value| suite(message, std::slice::from_ref(&package));
        let named = suite(&message("test", true, "path+file:///w/app#madang@0.1.0")).unwrap();
        assert_eq!((named.name.as_str(), named.folder.to_str()), ("madang --test faults", Some("/w/app")));
        assert!(named.needs_servers);
        every_name_is_a_suite(std::slice::from_ref(&package), &[named]).unwrap();
        assert!(every_name_is_a_suite(std::slice::from_ref(&package), &[]).is_err());
        let named = suite(&message("lib", true, "path+file:///w/xtask#0.1.0")).unwrap();
        assert_eq!((named.name.as_str(), named.needs_servers), ("xtask --lib", false));
        assert_eq!(suite(&message("bin", false, "path+file:///w/app#madang@0.1.0")), None, "no test");
    }

    #[test]
    fn what_takes_longest_begins_first() {
        let named = |target: &str| Suite {
            name: target.into(),
            target: target.into(),
            program: PathBuf::new(),
            folder: PathBuf::new(),
            needs_servers: false,
        };
        assert!(start_order(&named("faults")) < start_order(&named("mysql")));
        assert!(start_order(&named("mysql")) < start_order(&named("madang_kernel")));
    }
}
