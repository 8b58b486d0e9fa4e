//! Kafka's jars: resolved by Maven from wherever the machine's Maven is set up to look, and kept outside the repository.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::stack::part::Part;
use crate::stack::site::Site;
use crate::stack::{programs, secret};

/// The release of Kafka that is run.
pub(super) const VERSION: &str = "4.1.1";
/// How long the jars, about 50 MB, may take to arrive.
const FETCH_LIMIT_S: u64 = 900;

/// The project Maven resolves: Kafka and what it needs at run time.
const POM: &str = include_str!("pom.xml");

/// A folder of jars.
pub(super) struct Artifacts {
    jars: PathBuf,
}

impl Artifacts {
    /// The jars, fetched unless an earlier run did.
    pub(super) fn get(site: &Site<'_>) -> Result<Self> {
        let home = cache()?.join(format!("kafka-{VERSION}"));
        if !home.exists() {
            site.say(Part::Kafka.name(), &format!("fetching Kafka {VERSION} by Maven"));
            fetch(site, &home)?;
        }
        Ok(Self { jars: home.join("jars") })
    }

    /// All of them, in Java's way of saying so.
    pub(super) fn class_path(&self) -> OsString {
        self.jars.join("*").into_os_string()
    }
}

/// Fetches into a folder beside it and renames that at the end: what is there is whole.
fn fetch(site: &Site<'_>, home: &Path) -> Result<()> {
    let part = home.with_extension(format!("part-{}", secret::password()?));
    let fetched = fetch_into(site, &part);
    // Another `up` may have been quicker: then its folder is as good.
    let placed = fetched.and_then(|()| match std::fs::rename(&part, home) {
        Err(_) if home.exists() => Ok(()),
        renamed => renamed.with_context(|| format!("could not make {}", home.display())),
    });
    let _ = std::fs::remove_dir_all(&part);
    placed
}

fn fetch_into(site: &Site<'_>, part: &Path) -> Result<()> {
    std::fs::create_dir_all(part).with_context(|| format!("could not make {}", part.display()))?;
    std::fs::write(part.join("pom.xml"), POM.replace("@version@", VERSION))?;
    let mut command = Command::new(programs::get("mvn")?);
    command
        .args(["--batch-mode", "--no-transfer-progress", "-Dstyle.color=never", "dependency:copy-dependencies"])
        .args(["-DoutputDirectory=jars", "-DincludeScope=runtime"])
        .current_dir(part);
    let log = site.dir().join("maven.log");
    programs::run(&mut command, &log, Duration::from_secs(FETCH_LIMIT_S), site.interrupt())
}

/// Where this user keeps what can be fetched again.
fn cache() -> Result<PathBuf> {
    let named = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"));
    Ok(named.or_else(home).context("neither XDG_CACHE_HOME nor HOME is set")?.join("madang").join("stack"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_project_names_the_version_once_and_no_place_to_fetch_from() {
        assert_eq!(POM.matches("@version@").count(), 1);
        assert!(!POM.contains("<repositories>") && !POM.contains("<url>"));
    }
}
