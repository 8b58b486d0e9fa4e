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

fn main() -> ExitCode {
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_env_filter(filter()).init();
    Program::parse().run().unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

impl Program {
    fn run(self) -> anyhow::Result<ExitCode> {
        match self {
            Self::List { ids } => {
                print!("{}", run::listed(&run::choose(madang_lab::experiments::all(), &ids)?));
                Ok(ExitCode::SUCCESS)
            }
            Self::Run(options) => Ok(match tokio::runtime::Runtime::new()?.block_on(run::run(&options))? {
                Ended::AllShown => ExitCode::SUCCESS,
                Ended::NotAllShown => ExitCode::FAILURE,
                Ended::Interrupted => ExitCode::from(INTERRUPTED),
            }),
            Self::Write(options) => {
                println!("{} is written anew", write::write(&options)?.display());
                Ok(ExitCode::SUCCESS)
            }
        }
    }
}

/// What goes wrong here is told; what the engines say of servers that are killed on purpose is not, unless asked for.
fn filter() -> tracing_subscriber::EnvFilter {
    tracing_subscriber::EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("error,madang_lab=warn"))
}
