//! `cargo xtask`: the project's own tasks, so that a person, a hook and the CI run exactly the same checks.

mod bench;
mod interrupt;
mod lint;
mod metadata;
mod schemathesis;
mod stack;
mod steps;
mod test;
mod tidy;
mod workspace;

use std::process::ExitCode;

const HELP: &str = "\
The tasks of this repository.

Usage: cargo xtask <TASK> [OPTIONS]

Tasks:
  lint    Formatting, Clippy without warnings, tidy, and cargo-deny where it is installed
  test    Everything that proves the product: tidy, then every test of the workspace
  schemathesis
          The HTTP contract against a live server: requests generated from its description
  stack   Real servers for development and tests: MariaDB, Redis, Redis Cluster, Kafka
  bench   Measures the product beside the limits it is compared with (release build)
  tidy    The rules a compiler does not know: module headers, dependency directions, file sizes
  help    This text; `cargo xtask help TASK` or `cargo xtask TASK --help` says more about one task
";

/// How a task's command line is refused: code 2, as shells and clap have it.
const EXIT_USAGE: u8 = 2;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (task, rest) = match args.split_first() {
        Some((task, rest)) => (task.as_str(), rest),
        None => ("help", [].as_slice()),
    };
    if rest.iter().take_while(|arg| *arg != "--").any(|arg| arg == "--help" || arg == "-h") && task != "bench" {
        return help(Some(task));
    }
    let outcome = match task {
        "lint" => without_options(task, rest, lint::run),
        "test" => test::run(rest),
        "schemathesis" => schemathesis::run(rest),
        "stack" => stack::run(rest),
        "bench" => bench::run(rest),
        "tidy" => without_options(task, rest, tidy::run),
        "help" | "--help" | "-h" => return help(rest.first().map(String::as_str)),
        unknown => Err(usage(format!("there is no task `{unknown}`"))),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nerror: {error:#}");
            if error.is::<Usage>() {
                eprintln!("\n{HELP}");
                return ExitCode::from(EXIT_USAGE);
            }
            ExitCode::FAILURE
        }
    }
}

/// A command line that cannot be understood; says what is wrong with it.
#[derive(Debug)]
struct Usage(String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

fn usage(what: impl Into<String>) -> anyhow::Error {
    anyhow::Error::new(Usage(what.into()))
}

fn without_options(task: &str, rest: &[String], run: fn() -> anyhow::Result<()>) -> anyhow::Result<()> {
    match rest.first() {
        Some(option) => Err(usage(format!("`{task}` takes no options, and was given `{option}`"))),
        None => run(),
    }
}

fn help(task: Option<&str>) -> ExitCode {
    let text = match task {
        None | Some("help" | "--help" | "-h") => HELP,
        Some("lint") => lint::HELP,
        Some("test") => test::HELP,
        Some("schemathesis") => schemathesis::HELP,
        Some("stack") => stack::HELP,
        Some("bench") => bench::HELP,
        Some("tidy") => tidy::HELP,
        Some(unknown) => {
            eprintln!("error: there is no task `{unknown}`\n\n{HELP}");
            return ExitCode::from(EXIT_USAGE);
        }
    };
    println!("{}", text.trim_end());
    ExitCode::SUCCESS
}
