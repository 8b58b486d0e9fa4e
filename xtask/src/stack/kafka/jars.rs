//! Kafka's jars: resolved by Maven from wherever the machine's Maven is set up to look, and kept outside the repository.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use super::VERSION;
use crate::stack::part::Part;
use crate::stack::up::Up;
use crate::{program, workspace};

/// How long the jars, about 50 MB, may take to arrive.
const FETCH_MAX: Duration = Duration::from_secs(900);
/// The project Maven resolves: Kafka and what it needs at run time.
const POM: &str = include_str!("pom.xml");
/// The release of the JMX exporter.
const EXPORTER_VERSION: &str = "1.0.1";
/// The project that resolves to it alone: it brings what it needs in its own jar.
const EXPORTER_POM: &str = include_str!("exporter-pom.xml");

/// The folder of the jars, fetched unless an earlier run did.
pub(super) fn get(up: &Up<'_>) -> Result<PathBuf> {
    let home = home()?;
    if !home.exists() {
        up.say(Part::Kafka.name(), &format!("fetching Kafka {VERSION} by Maven"));
        fetch(up, &home, &POM.replace("@version@", VERSION))?;
    }
    Ok(home.join("jars"))
}

fn home() -> Result<PathBuf> {
    Ok(workspace::cache()?.join(format!("stack/kafka-{VERSION}")))
}

/// The folder of the jars that `up` fetched, for Kafka's own tools.
pub(crate) fn fetched() -> Result<PathBuf> {
    Ok(home()?.join("jars"))
}

/// The JMX exporter, which runs within a broker; fetched unless an earlier run did.
pub(super) fn exporter(up: &Up<'_>) -> Result<PathBuf> {
    let home = workspace::cache()?.join(format!("stack/jmx-exporter-{EXPORTER_VERSION}"));
    if !home.exists() {
        up.say(Part::Kafka.name(), &format!("fetching the JMX exporter {EXPORTER_VERSION} by Maven"));
        fetch(up, &home, &EXPORTER_POM.replace("@version@", EXPORTER_VERSION))?;
    }
    Ok(home.join(format!("jars/jmx_prometheus_javaagent-{EXPORTER_VERSION}.jar")))
}

/// Fetches into a folder beside it and renames that at the end: what is there is whole.
fn fetch(up: &Up<'_>, home: &Path, project: &str) -> Result<()> {
    let cache = home.parent().context("a cache without a folder")?;
    std::fs::create_dir_all(cache).with_context(|| format!("could not make {}", cache.display()))?;
    let part = tempfile::tempdir_in(cache)?;
    std::fs::write(part.path().join("pom.xml"), project)?;
    let mut command = Command::new(program::get("mvn")?);
    command
        .args(["--batch-mode", "--no-transfer-progress", "-Dstyle.color=never", "dependency:copy-dependencies"])
        .args(["-DoutputDirectory=jars", "-DincludeScope=runtime"])
        .current_dir(part.path());
    program::run(&mut command, &up.dir.join("maven.log"), FETCH_MAX, up.interrupt)?;
    match std::fs::rename(part.path(), home) {
        // Another `up` may have been quicker: then its folder is as good.
        Err(_) if home.exists() => Ok(()),
        renamed => renamed.with_context(|| format!("could not make {}", home.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_names_the_version_once_and_no_repository_to_fetch_from() {
        for project in [POM, EXPORTER_POM] {
            assert_eq!(project.matches("@version@").count(), 1);
            assert!(!project.contains("<repositories>") && !project.contains("<url>"));
        }
    }
}
