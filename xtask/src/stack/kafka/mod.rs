//! Kafka in KRaft mode, one broker or three, each broker a controller as well.

pub(crate) mod jars;
mod settings;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};

use super::part::Part;
use super::probe;
use super::state::Server;
use super::up::{self, Up};
use crate::{program, workspace};

/// The release of Kafka that is run.
pub(crate) const VERSION: &str = "4.1.1";
/// The name under which the directories of brokers that belong together are formatted; these talk to no others.
const CLUSTER_ID: &str = "TWFkYW5nIG9uIEthZmthIQ";
/// How long a directory may take to be formatted: a Java program that starts and ends.
const FORMAT_MAX: Duration = Duration::from_secs(120);
/// How long a broker may take to answer, with its peers.
const START_MAX: Duration = Duration::from_secs(180);
/// The oldest Java that runs Kafka 4.
const JAVA_MIN: u32 = 17;

/// Starts the brokers that do not run.
pub(crate) fn start(up: &Up<'_>, nodes: &[Server], stopped: &[Server]) -> Result<()> {
    let java = Java::find(up)?;
    let jars = jars::get(up)?;
    up::all(stopped, |server| start_broker(up, server, nodes, &java, &jars))
}

fn start_broker(up: &Up<'_>, server: &Server, nodes: &[Server], java: &Java, jars: &Path) -> Result<()> {
    let folder = up.folder(&server.name);
    let file = folder.join("server.properties");
    std::fs::write(&file, settings::broker(server, nodes, &folder))?;
    std::fs::write(folder.join("log4j2.properties"), settings::LOGGING)?;
    if !folder.join("data/meta.properties").exists() {
        up.say(&server.name, "formatting its directory");
        let mut format = java.command(up, jars, &folder);
        format.args(["kafka.tools.StorageTool", "format", "--cluster-id", CLUSTER_ID, "--config"]).arg(&file);
        program::run(&mut format, &server.log, FORMAT_MAX, up.interrupt)?;
    }
    let mut command = java.command(up, jars, &folder);
    if let Some(port) = server.exporter_port {
        let (agent, rules) = (jars::exporter(up)?, workspace::root().join("deploy/prometheus/kafka-jmx.yml"));
        command.arg(format!("-javaagent:{}=127.0.0.1:{port}:{}", agent.display(), rules.display()));
    }
    command.arg("kafka.Kafka").arg(&file);
    up.launch(server, &mut command, START_MAX, || probe::version_with_peers(server, nodes.len()))
}

/// A Java that is new enough.
struct Java {
    program: PathBuf,
}

impl Java {
    fn find(up: &Up<'_>) -> Result<Self> {
        let home = std::env::var_os("JAVA_HOME").map(|home| Path::new(&home).join("bin/java"));
        let program = match home.filter(|java| java.exists()) {
            Some(java) => java,
            None => program::get("java")?,
        };
        let output = Command::new(&program).arg("-version").output()?;
        let text = String::from_utf8_lossy(&output.stderr);
        match version_of(&text) {
            Some(version) if version >= JAVA_MIN => {
                up.say(Part::Kafka.name(), &format!("runs on Java {version}"));
                Ok(Self { program })
            }
            Some(version) => bail!("Kafka needs Java {JAVA_MIN}, and {} is {version}", program.display()),
            None => bail!("{} does not tell its version: {text}", program.display()),
        }
    }

    /// Java with Kafka on its class path: a small heap, since a development broker holds little. For tests only the quick
    /// compiler, which makes a start a third cheaper (3.6 s of processor time, against 5.5 s); a broker that stays runs
    /// faster with both (500 events a second to five groups: 35 % of a core, against 50 %).
    fn command(&self, up: &Up<'_>, jars: &Path, folder: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["-Xms128m", "-Xmx512m", "-XX:+UseSerialGC", "-Djava.awt.headless=true"]);
        if up.is_for_tests {
            command.arg("-XX:TieredStopAtLevel=1");
        }
        command.arg(format!("-Dlog4j2.configurationFile={}", folder.join("log4j2.properties").display()));
        command.arg("-cp").arg(jars.join("*"));
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
