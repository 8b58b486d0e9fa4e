//! The Lab's private servers: a stack that nobody else uses, ended with the run unless somebody wants to look at it.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use super::{this_program, watched};
use crate::interrupt::Interrupt;
use crate::workspace;

/// The variables by which a developer names servers of their own. The Lab kills its servers, and never those.
const OWN: [&str; 4] = ["MADANG_TEST_MYSQL", "MADANG_TEST_REDIS", "MADANG_TEST_REDIS_CLUSTER", "MADANG_TEST_KAFKA"];

/// Starts a program without the names of servers that are not ours.
pub(super) fn without_own(command: &mut Command) -> &mut Command {
    OWN.iter().fold(command, |command, name| command.env_remove(name))
}

/// A running stack of the Lab's own; taken down also when this task panics.
pub(super) struct Servers {
    dir: PathBuf,
    is_kept: Cell<bool>,
}

impl Servers {
    /// Brings it up, in a new directory.
    pub(super) fn up(interrupt: &Interrupt) -> Result<Self> {
        let dir = std::env::temp_dir().join(format!("madang-lab-stack-{:08x}", rand::random::<u32>()));
        // Made before anything is started, so that whatever has started ends with it.
        let servers = Self { dir, is_kept: Cell::new(false) };
        let mut up = servers.stack("up")?;
        let status = watched(&mut up, interrupt);
        interrupt.check()?;
        workspace::succeeded(&up, status?).context("the Lab has no servers to break")?;
        Ok(servers)
    }

    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Ends it and removes its directory.
    pub(super) fn down(&self) -> Result<()> {
        if self.is_kept.get() || !self.dir.exists() {
            return Ok(());
        }
        // Not interruptible: half of it would be left.
        workspace::run(&mut self.stack("down")?)
    }

    /// Leaves it running, and says how to look at it and how to end it.
    pub(super) fn keep(&self) -> Result<String> {
        self.is_kept.set(true);
        let mut env = self.stack("env")?;
        let output = env.stderr(Stdio::inherit()).output().context("could not ask the stack where it is")?;
        workspace::succeeded(&env, output.status)?;
        Ok(how_to_connect(&String::from_utf8_lossy(&output.stdout), &self.dir))
    }

    fn stack(&self, verb: &str) -> Result<Command> {
        let mut command = Command::new(this_program()?);
        command.args(["stack", verb, "--dir"]).arg(&self.dir).stdin(Stdio::null());
        without_own(&mut command);
        Ok(command)
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        let _ = self.down();
    }
}

/// Lines to paste, from what `stack env` prints.
fn how_to_connect(variables: &str, dir: &Path) -> String {
    let addresses = |name: &str| {
        let line =
            variables.lines().find_map(|line| line.strip_prefix(&format!("export {name}='"))?.strip_suffix('\''));
        line.unwrap_or_default().split(',').map(str::to_owned).collect::<Vec<_>>()
    };
    let mut text = "\nkept; look at it with\n".to_owned();
    for url in addresses("MADANG_TEST_MYSQL") {
        if let Some((user, place)) = url.strip_prefix("mysql://").and_then(|rest| rest.split_once('@')) {
            let (user, password) = user.split_once(':').unwrap_or((user, ""));
            let (host, port) = place.split_once(':').unwrap_or((place, "3306"));
            text += &format!("  mariadb -h {host} -P {port} -u {user} -p{password}\n");
        }
    }
    let redis = |name: &str, flag: &str| {
        let first = addresses(name).into_iter().next().unwrap_or_default();
        let port = first.rsplit(':').next().unwrap_or_default().to_owned();
        format!("  redis-cli {flag}-p {port}\n")
    };
    text += &redis("MADANG_TEST_REDIS", "");
    text += &redis("MADANG_TEST_REDIS_CLUSTER", "-c ");
    // Each trial has topics of its own, under the name of its databases.
    text += &format!(
        "  java -cp \"{}/*\" org.apache.kafka.tools.consumer.ConsoleConsumer \\\n    --bootstrap-server {} --include '.*account.balance.v1' --from-beginning\n",
        kafka_jars().display(),
        addresses("MADANG_TEST_KAFKA").join(",")
    );
    text + &format!(
        "and end it with\n  cargo xtask stack down --dir {}\nthe logs of the programs stay in the directories named above until you remove them\n",
        dir.display()
    )
}

/// Where the stack keeps Kafka's jars, its console tools among them.
fn kafka_jars() -> PathBuf {
    let home = workspace::cache().unwrap_or_default().join("stack");
    let kept = std::fs::read_dir(&home).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_kafka = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("kafka-"));
    kept.filter(is_kafka).max().unwrap_or(home).join("jars")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_comes_with_lines_to_paste() {
        let variables = "export MADANG_TEST_MYSQL='mysql://root:pw@127.0.0.1:21001,mysql://root:pw@127.0.0.1:21002'\n\
            export MADANG_TEST_REDIS='redis://127.0.0.1:21003'\n\
            export MADANG_TEST_REDIS_CLUSTER='redis://127.0.0.1:21004,redis://127.0.0.1:21005'\n\
            export MADANG_TEST_KAFKA='127.0.0.1:21006'\n";
        let told = how_to_connect(variables, Path::new("/tmp/x"));
        for line in [
            "mariadb -h 127.0.0.1 -P 21001 -u root -ppw",
            "mariadb -h 127.0.0.1 -P 21002 -u root -ppw",
            "redis-cli -p 21003",
            "redis-cli -c -p 21004",
            "--bootstrap-server 127.0.0.1:21006 --include '.*account.balance.v1'",
            "cargo xtask stack down --dir /tmp/x",
        ] {
            assert!(told.contains(line), "{line} is not in {told}");
        }
    }

    #[test]
    fn servers_that_are_not_ours_are_never_named_to_the_lab() {
        let mut command = Command::new("true");
        let removed: Vec<_> = without_own(&mut command).get_envs().collect();
        assert_eq!(removed.len(), OWN.len());
        assert!(removed.iter().all(|(_, value)| value.is_none()));
    }
}
