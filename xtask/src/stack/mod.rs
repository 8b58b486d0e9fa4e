//! `cargo xtask stack`: real servers for development and tests, private to this checkout, gone without a trace.

mod answers;
mod config;
mod down;
mod endpoints;
mod install;
mod kafka;
mod mariadb;
mod part;
mod place;
mod ports;
mod process;
mod programs;
mod redis;
mod secret;
mod site;
mod state;
mod status;
mod up;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Result, bail};

use crate::interrupt::Interrupt;
use crate::usage;
use endpoints::Endpoints;
use part::Part;
pub(crate) use place::test_dir as scratch_dir;
pub(crate) use programs::signal_group;
use state::State;
use status::Status;
use up::Missing;

pub(crate) const HELP: &str = "\
Real servers for development and tests, on free ports of 127.0.0.1.

Usage: cargo xtask stack <up|down|status|config|env> [OPTIONS]

Commands:
  up      Installs what is missing (Debian packages as root, Kafka by Maven) and starts two MariaDB servers, a Redis,
          a Redis Cluster of three nodes, and Kafka in KRaft mode; starts again what has ended, and nothing twice
  down    Ends what `up` started, waits for it, and removes its directory
  status  Says for each server whether it runs and answers, its port and version; fails when one does not
  config  Prints a commented cluster.toml for the running stack
  env     Prints the variables below for the running stack, for a shell: eval \"$(cargo xtask stack env)\"

Options:
  --dir DIR    The scratch directory (default: one of this checkout, in the system's temporary directory)
  --brokers N  How many Kafka brokers, 1 or 3 (default: 1; only `up`)

Servers of your own are used in place of the stack's where these are set:
  MADANG_TEST_MYSQL          two or more mysql://user:password@host:port, separated by commas
  MADANG_TEST_REDIS          redis://host:port
  MADANG_TEST_REDIS_CLUSTER  redis://host:port of the nodes, separated by commas
  MADANG_TEST_KAFKA          host:port of the brokers, separated by commas

docs/stack.md says more.
";

/// Runs one of the commands.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let Options { command, dir, brokers } = Options::parse(args)?;
    let dir = dir.unwrap_or_else(place::default_dir);
    match command {
        Command::Up => run_up(&dir, brokers.unwrap_or(1)),
        Command::Down => run_down(&dir),
        Command::Status => run_status(&dir),
        Command::Config => {
            // Whoever prints it again has other keys, which sign everybody out.
            let secret = secret::password()? + &secret::password()?;
            print!("{}", config::render(&Stack::find(&dir)?.endpoints(), &secret)?);
            Ok(())
        }
        Command::Env => {
            let variables = Stack::find(&dir)?.environment();
            variables.iter().for_each(|(name, value)| println!("{}", export(name, value)));
            Ok(())
        }
    }
}

fn run_up(dir: &Path, brokers: u8) -> Result<()> {
    let began = Instant::now();
    let stack = Stack::up(dir, brokers, false, &Interrupt::listen()?)?;
    print!("{}", Status::of(&stack.state).table());
    for Missing { part, why } in &stack.missing {
        eprintln!("\n{}: {why:#}", part.name());
    }
    if !stack.missing.is_empty() {
        let names: Vec<_> = stack.missing.iter().map(|missing| missing.part.name()).collect();
        bail!("not started: {}. What runs goes on; `up` tries the rest again, `down` ends it", names.join(", "));
    }
    eprintln!("\nup in {:.1} s, in {}", began.elapsed().as_secs_f64(), dir.display());
    Ok(())
}

fn run_down(dir: &Path) -> Result<()> {
    let began = Instant::now();
    // Once begun it is finished: Ctrl-C would leave half of it.
    let _held = Interrupt::listen()?;
    if down::down(dir)? {
        eprintln!("down in {:.1} s; {} is removed", began.elapsed().as_secs_f64(), dir.display());
    } else {
        eprintln!("there is no stack in {}", dir.display());
    }
    Ok(())
}

fn run_status(dir: &Path) -> Result<()> {
    let status = Status::of(&Stack::find(dir)?.state);
    print!("{}", status.table());
    for part in Part::ALL.into_iter().filter(|part| part.own().is_some()) {
        println!("{:<16} your own, in {}", part.name(), part.variable().unwrap_or_default());
    }
    if !status.is_well() {
        bail!("not every server answers; `cargo xtask stack up` starts again what has ended");
    }
    Ok(())
}

/// A line that sets a variable in any shell of the Bourne family, whatever the value holds.
fn export(name: &str, value: &str) -> String {
    format!("export {name}='{}'", value.replace('\'', r"'\''"))
}

/// A stack that was brought up.
pub(crate) struct Stack {
    dir: PathBuf,
    state: State,
    missing: Vec<Missing>,
}

impl Stack {
    /// Brings a stack up in `dir`; what cannot be had is in `missing`.
    fn up(dir: &Path, brokers: u8, is_for_tests: bool, interrupt: &Interrupt) -> Result<Self> {
        let (state, missing) = up::up(dir, brokers, is_for_tests, interrupt)?;
        Ok(Self { dir: dir.to_owned(), state, missing })
    }

    /// Brings a whole stack up in a new directory of its own, or fails with everything that cannot be had.
    pub(crate) fn for_tests(interrupt: &Interrupt) -> Result<Self> {
        let stack = Self::up(&place::test_dir()?, 1, true, interrupt)?;
        if stack.missing.is_empty() {
            return Ok(stack);
        }
        stack.down()?;
        let missing = stack.missing.iter().map(|Missing { part, why }| format!("{}: {why:#}\n", part.name()));
        bail!("a missing server is a failure, and --no-stack leaves its suites out:\n{}", missing.collect::<String>())
    }

    /// The stack that `up` left in `dir`.
    pub(crate) fn find(dir: &Path) -> Result<Self> {
        match State::load(dir)? {
            Some(state) => Ok(Self { dir: dir.to_owned(), state, missing: Vec::new() }),
            None => bail!("there is no stack in {}: `cargo xtask stack up` starts one", dir.display()),
        }
    }

    /// The variables by which tests find the servers: those of the stack, or the developer's own; and the state file,
    /// for tests that end a server and start it again.
    pub(crate) fn environment(&self) -> Vec<(&'static str, String)> {
        let mut variables = self.endpoints().variables();
        variables.push(("MADANG_TEST_STACK_STATE", self.dir.join(state::FILE).display().to_string()));
        variables
    }

    /// Ends what `up` started and removes the directory.
    pub(crate) fn down(&self) -> Result<()> {
        down::down(&self.dir).map(|_| ())
    }

    fn endpoints(&self) -> Endpoints {
        Endpoints::of(&self.state.running(), Part::own)
    }
}

#[derive(Debug, PartialEq)]
struct Options {
    command: Command,
    dir: Option<PathBuf>,
    brokers: Option<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Command {
    Up,
    Down,
    Status,
    Config,
    Env,
}

impl Options {
    fn parse(args: &[String]) -> Result<Self> {
        let (command, options) =
            args.split_first().ok_or_else(|| usage("`stack` needs a command: up, down, status, config or env"))?;
        let command = match command.as_str() {
            "up" => Command::Up,
            "down" => Command::Down,
            "status" => Command::Status,
            "config" => Command::Config,
            "env" => Command::Env,
            unknown => return Err(usage(format!("`stack` has no command `{unknown}`"))),
        };
        let mut parsed = Self { command, dir: None, brokers: None };
        let mut options = options.iter();
        while let Some(option) = options.next() {
            let mut value = || options.next().ok_or_else(|| usage(format!("`{option}` needs a value")));
            match option.as_str() {
                "--dir" => parsed.dir = Some(std::path::absolute(value()?)?),
                "--brokers" if command == Command::Up => {
                    let count = value()?.parse().ok().filter(|count| [1, 3].contains(count));
                    parsed.brokers = Some(count.ok_or_else(|| usage("`--brokers` is 1 or 3"))?);
                }
                unknown => return Err(usage(format!("`stack` has no option `{unknown}` here"))),
            }
        }
        Ok(parsed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Result<Options> {
        Options::parse(&args.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn options_are_understood() {
        let options = parse(&["up", "--brokers", "3", "--dir", "/scratch"]).unwrap();
        assert_eq!(options, Options { command: Command::Up, dir: Some("/scratch".into()), brokers: Some(3) });
        assert_eq!(parse(&["status"]).unwrap().command, Command::Status);
    }

    #[test]
    fn a_shell_reads_back_what_env_prints() {
        let value = "mysql://root:it's \"$HOME\"@127.0.0.1:1,x";
        let script = format!("{}\nprintf %s \"$NAME\"", export("NAME", value));
        let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), value);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for args in [
            &[][..],
            &["start"],
            &["up", "--brokers", "2"],
            &["up", "--brokers"],
            &["down", "--brokers", "3"],
            &["up", "x"],
        ] {
            assert!(parse(args).unwrap_err().is::<crate::Usage>(), "{args:?}");
        }
    }
}
