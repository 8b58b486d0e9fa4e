//! Kafka in KRaft mode, one broker or three, each broker a controller as well.

mod artifacts;
mod settings;

use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail, ensure};

use super::part::Part;
use super::site::{Plan, Site};
use super::state::Server;
use super::{answers, programs};
use artifacts::Artifacts;

/// How long a directory may take to be formatted: a Java program that starts and ends.
const FORMAT_LIMIT_S: u64 = 120;
/// How long a broker may take to answer, with its peers.
const START_LIMIT_S: u64 = 180;
/// The oldest Java that runs Kafka 4.
const JAVA_MIN: u32 = 17;

/// Starts the brokers that do not run.
pub(crate) fn up(site: &Site<'_>) -> Result<()> {
    let brokers = usize::from(site.state().brokers);
    let plan = |number| Plan { name: format!("kafka-{number}"), part: Part::Kafka, has_peers: true };
    let plans: Vec<_> = (1..=brokers).map(plan).collect();
    let nodes = site.place(&plans)?;
    let servers = super::up::not_running(site, nodes.clone())?;
    if servers.is_empty() {
        return Ok(());
    }
    site.installer.ensure(Part::Kafka, site)?;
    let java = Java::find(site)?;
    let artifacts = Artifacts::get(site)?;
    super::up::all(servers.iter().map(|server| {
        let (nodes, java, artifacts) = (&nodes, &java, &artifacts);
        move || start(site, server, nodes, java, artifacts)
    }))
}

fn start(site: &Site<'_>, server: &Server, nodes: &[Server], java: &Java, artifacts: &Artifacts) -> Result<()> {
    let folder = site.folder(&server.name);
    let file = folder.join("server.properties");
    std::fs::write(&file, settings::broker(server, nodes, &folder))?;
    std::fs::write(folder.join("log4j2.properties"), settings::LOGGING)?;
    let data = folder.join("data");
    if !data.join("meta.properties").exists() {
        site.say(&server.name, "formatting its directory");
        let mut format = java.command(site, artifacts, &folder);
        format.args(["kafka.tools.StorageTool", "format", "--cluster-id", &site.state().kafka_cluster_id, "--config"]);
        format.arg(&file);
        programs::run(&mut format, &server.log, Duration::from_secs(FORMAT_LIMIT_S), site.interrupt())?;
    }
    let mut command = java.command(site, artifacts, &folder);
    command.arg("kafka.Kafka").arg(&file);
    site.launch(server, &mut command, Duration::from_secs(START_LIMIT_S), || {
        let known = answers::kafka(server.port)?;
        ensure!(known >= nodes.len(), "it knows {known} of {} brokers", nodes.len());
        Ok(artifacts::VERSION.to_owned())
    })
}

/// A Java that is new enough.
struct Java {
    program: std::path::PathBuf,
}

impl Java {
    fn find(site: &Site<'_>) -> Result<Self> {
        let home = std::env::var_os("JAVA_HOME").map(|home| std::path::Path::new(&home).join("bin/java"));
        let program = match home.filter(|java| java.exists()) {
            Some(java) => java,
            None => programs::get("java")?,
        };
        let output = Command::new(&program).arg("-version").output()?;
        let text = String::from_utf8_lossy(&output.stderr);
        match version_of(&text) {
            Some(version) if version >= JAVA_MIN => {
                site.say(Part::Kafka.name(), &format!("runs on Java {version}"));
                Ok(Self { program })
            }
            Some(version) => bail!("Kafka needs Java {JAVA_MIN}, and {} is {version}", program.display()),
            None => bail!("{} does not tell its version: {text}", program.display()),
        }
    }

    /// Java with Kafka on its class path: a small heap, since a development broker holds little. For tests only the quick
    /// compiler, which makes a start a third cheaper (3.6 s of processor time, against 5.5 s); a broker that stays runs
    /// faster with both (500 events a second to five groups: 35 % of a core, against 50 %).
    fn command(&self, site: &Site<'_>, artifacts: &Artifacts, folder: &std::path::Path) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["-Xms128m", "-Xmx512m", "-XX:+UseSerialGC", "-Djava.awt.headless=true"]);
        if site.is_for_tests {
            command.arg("-XX:TieredStopAtLevel=1");
        }
        command.arg(format!("-Dlog4j2.configurationFile={}", folder.join("log4j2.properties").display()));
        command.arg("-cp").arg(artifacts.class_path());
        command
    }
}

/// The major version in what `java -version` says.
fn version_of(text: &str) -> Option<u32> {
    let (_, version) = text.split_once("version \"")?;
    let major: String = version.chars().take_while(char::is_ascii_digit).collect();
    major.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn javas_tell_their_major_version() {
        assert_eq!(version_of("openjdk version \"17.0.15\" 2025-04-15\nOpenJDK …"), Some(17));
        assert_eq!(version_of("openjdk version \"21\" 2023-09-19"), Some(21));
        assert_eq!(version_of("java version \"1.8.0_392\""), Some(1));
        assert_eq!(version_of("bash: java: not found"), None);
    }
}
