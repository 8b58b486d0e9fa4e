//! The Lab's binary: the four programs, and the runner that breaks them.

use std::process::ExitCode;

use clap::Parser;
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
}

/// What a shell says of a program that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

#[tokio::main]
async fn main() -> ExitCode {
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_env_filter(filter()).init();
    let outcome = match Program::parse() {
        Program::List { ids } => run::choose(madang_lab::experiments::all(), &ids).map(|chosen| {
            print!("{}", run::listed(&chosen));
            ExitCode::SUCCESS
        }),
        Program::Run(options) => run::run(&options).await.map(|ended| match ended {
            Ended::AllShown => ExitCode::SUCCESS,
            Ended::NotAllShown => ExitCode::FAILURE,
            Ended::Interrupted => ExitCode::from(INTERRUPTED),
        }),
        Program::Write(options) => write::write(&options).map(|page| {
            println!("{} is written anew", page.display());
            ExitCode::SUCCESS
        }),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

/// What goes wrong here is told; what the engines say of servers that are killed on purpose is not, unless asked for.
fn filter() -> tracing_subscriber::EnvFilter {
    tracing_subscriber::EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("error,madang_lab=warn"))
}
