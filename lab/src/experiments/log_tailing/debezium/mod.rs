//! Debezium's engine, the peer of our reader of the binary log: fetched by Maven, and run by Java where both are there. What it
//! does is shown beside the others and counted on neither side.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use mysql_async::Opts;
use tokio::process::Command;

use super::kafka::TopicSettings;

/// The release; its engine and its connector to MariaDB come together.
const VERSION: &str = "2.7.0.Final";
/// How long its jars, about 40 MB, may take to arrive.
const FETCH_MAX: Duration = Duration::from_secs(300);

const POM: &str = include_str!("pom.xml");
const PROGRAM: &str = include_str!("Tail.java");

/// The jars, fetched unless an earlier run did.
pub(super) async fn jars() -> anyhow::Result<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")));
    let home = cache.context("there is no folder for caches")?.join(format!("madang/lab/debezium-{VERSION}"));
    let jars = home.join("jars");
    if jars.exists() {
        return Ok(jars);
    }
    let parent = home.parent().context("a cache without a folder")?;
    std::fs::create_dir_all(parent)?;
    // Renamed at the end: what is there is whole.
    let part = tempfile::tempdir_in(parent)?;
    std::fs::write(part.path().join("pom.xml"), POM.replace("@version@", VERSION))?;
    let mut command = Command::new("mvn");
    command.args(["--batch-mode", "--no-transfer-progress", "-Dstyle.color=never", "dependency:copy-dependencies"]);
    command.args(["-DoutputDirectory=jars", "-DincludeScope=runtime"]).current_dir(part.path());
    let fetching = command.stdin(Stdio::null()).kill_on_drop(true).output();
    let output = tokio::time::timeout(FETCH_MAX, fetching).await.context("Maven took too long")?.context("mvn")?;
    let said = String::from_utf8_lossy(&output.stdout);
    let error = said.lines().find(|line| line.contains("[ERROR]")).unwrap_or_default();
    ensure!(output.status.success(), "Maven could not fetch it: {error}");
    match std::fs::rename(part.path(), &home) {
        Err(_) if home.exists() => Ok(jars),
        renamed => renamed.map(|()| jars).context("the jars could not be kept"),
    }
}

/// The command that reads the outbox of a database; `folder` is where it keeps how far it is.
pub(super) fn command(
    jars: &Path,
    url: &str,
    database: &str,
    folder: &Path,
    topic: &TopicSettings,
) -> anyhow::Result<Command> {
    std::fs::create_dir_all(folder)?;
    let program = folder.join("Tail.java");
    std::fs::write(&program, PROGRAM)?;
    let opts = Opts::from_url(url)?;
    let mut command = Command::new("java");
    command.args(["-Xmx256m", "-cp"]).arg(jars.join("*")).arg(program).arg(opts.tcp_port().to_string());
    command.args([opts.user().unwrap_or_default(), opts.pass().unwrap_or_default(), database]).arg(folder);
    command.args([&topic.brokers, &topic.topic]);
    command.stderr(Stdio::null());
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_project_names_no_repository_to_fetch_from_and_the_program_its_class() {
        assert_eq!(POM.matches("@version@").count(), 2);
        assert!(!POM.contains("<repositories>") && !POM.contains("<url>"));
        assert!(PROGRAM.contains("public class Tail"));
    }
}
