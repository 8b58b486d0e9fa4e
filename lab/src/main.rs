//! The Lab's binary: the four programs, and the runner that breaks them.

use std::process::ExitCode;

use clap::Parser;
use madang_lab::children::Child;
use madang_lab::programs::SystemProgram;
use madang_lab::run::{self, Ended};
use madang_lab::write;

/// The Reliability Lab.
#[derive(Parser)]
#[command(name = "madang-lab", term_width = 120)]
enum Program {
    /// Lists the experiments with their questions; those named, or all.
    List {
        /// The experiments.
        #[arg(value_name = "ID")]
        ids: Vec<String>,
    },
    /// Runs all experiments, or those named, and writes the report; fails unless every verdict is "shown".
    Run(run::Options),
    /// Writes the figures and pictures of a full run into docs/lab.md and docs/pictures/lab.
    Write(write::Options),
    /// A program of the system under test.
    #[command(flatten)]
    System(SystemProgram),
    /// What experiments about servers start to kill it.
    #[command(flatten)]
    Child(Child),
}

/// What a shell says of a program that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    let outcome = match Program::parse() {
        Program::List { ids } => run::choose(madang_lab::experiments::all(), &ids).map(|chosen| {
            print!("{}", run::listed(&chosen));
            ExitCode::SUCCESS
        }),
        Program::Run(options) => carry_out(&options),
        Program::Write(options) => write::write(&options).map(|page| {
            println!("{} is written anew", page.display());
            ExitCode::SUCCESS
        }),
        Program::System(program) => program.run().map(|()| ExitCode::SUCCESS),
        Program::Child(program) => program.run().map(|()| ExitCode::SUCCESS),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

/// Runs experiments. The programs that they start have runtimes and logs of their own.
fn carry_out(options: &run::Options) -> anyhow::Result<ExitCode> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_env_filter(filter()).init();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    Ok(match runtime.block_on(run::run(options))? {
        Ended::AllShown => ExitCode::SUCCESS,
        Ended::NotAllShown => ExitCode::FAILURE,
        Ended::Interrupted => ExitCode::from(INTERRUPTED),
    })
}

/// What goes wrong here is told; what the engines say of servers that are killed on purpose is not, unless asked for.
fn filter() -> tracing_subscriber::EnvFilter {
    tracing_subscriber::EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("error,madang_lab=warn"))
}
