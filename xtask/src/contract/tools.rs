//! The programs that read the description: a linter and a compiler from npm, a generator of clients by Maven, what clients in
//! Python need. Each is fetched once, in the version that is named, from wherever this machine is set up to look.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::interrupt::Interrupt;
use crate::{program, python, workspace};

/// How long npm or Maven may take to fetch some 70 MB.
const FETCH_MAX: Duration = Duration::from_secs(900);
const PACKAGE: &str = include_str!("../../contract/package.json");
const POM: &str = include_str!("../../contract/pom.xml");
const REQUIREMENTS: &str = include_str!("../../contract/requirements.txt");

/// Where each program is.
pub(super) struct Tools {
    /// Redocly's linter and the compiler of TypeScript.
    npm: PathBuf,
    /// The generator of clients.
    pub(super) generator: PathBuf,
    /// Python, with what a generated client imports.
    pub(super) python: PathBuf,
}

impl Tools {
    /// Fetches what is not there yet.
    pub(super) fn ready() -> Result<Self> {
        let npm = fetched("npm", PACKAGE, "package.json", |folder| {
            let mut npm = Command::new(program::get("npm")?);
            npm.args(["install", "--no-audit", "--no-fund", "--no-package-lock"]).current_dir(folder);
            Ok(npm)
        });
        let jars = fetched("generator", POM, "pom.xml", |folder| {
            let mut maven = Command::new(program::get("mvn")?);
            maven.args([
                "--batch-mode",
                "--no-transfer-progress",
                "-Dstyle.color=never",
                "dependency:copy-dependencies",
            ]);
            maven
                .args(["-DoutputDirectory=.", "-DexcludeTransitive=true", "-Dmdep.stripVersion=true"])
                .current_dir(folder);
            Ok(maven)
        });
        let npm = npm.context("Redocly's linter and TypeScript cannot be fetched; Debian has npm in npm")?;
        let jars = jars.context("the generator of clients cannot be fetched; Debian has Maven in maven")?;
        let python = python::program("contract/python", REQUIREMENTS, "python")?;
        Ok(Self { npm, generator: jars.join("openapi-generator-cli.jar"), python })
    }

    /// A program that came from npm.
    pub(super) fn npm_program(&self, name: &str) -> Command {
        Command::new(self.npm.join("node_modules/.bin").join(name))
    }
}

/// The folder of what a file asks for. Fetched into a folder beside it that is renamed at the end: what is there is whole.
fn fetched(name: &str, asked: &str, file: &str, fetch: impl FnOnce(&Path) -> Result<Command>) -> Result<PathBuf> {
    let cache = workspace::cache()?.join("contract");
    let home = cache.join(name);
    if std::fs::read_to_string(home.join(file)).is_ok_and(|fetched| fetched == asked) {
        return Ok(home);
    }
    eprintln!("fetching what {file} asks for into {}", home.display());
    std::fs::create_dir_all(&cache).with_context(|| format!("could not make {}", cache.display()))?;
    let part = tempfile::tempdir_in(&cache)?;
    std::fs::write(part.path().join(file), asked)?;
    program::run(&mut fetch(part.path())?, &part.path().join("log"), FETCH_MAX, &Interrupt::default())?;
    // What another version asked for.
    let _ = std::fs::remove_dir_all(&home);
    std::fs::rename(part.keep(), &home).with_context(|| format!("could not make {}", home.display()))?;
    Ok(home)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_fetched_has_its_version_and_no_host_is_named() {
        assert!(!POM.contains("<repositories>") && !POM.contains("<url>"));
        for asked in [PACKAGE, POM, REQUIREMENTS] {
            let links = asked.lines().filter(|line| line.contains("://") && !line.contains("xmlns"));
            assert_eq!(links.count(), 0, "{asked}");
        }
        let package: serde_json::Value = serde_json::from_str(PACKAGE).unwrap();
        let versions = package["dependencies"].as_object().unwrap().values();
        assert!(versions.clone().all(|version| version.as_str().unwrap().starts_with(|c: char| c.is_ascii_digit())));
        let pinned = |line: &str| line.starts_with('#') || line.contains("==");
        assert!(REQUIREMENTS.lines().all(pinned), "{REQUIREMENTS}");
    }
}
