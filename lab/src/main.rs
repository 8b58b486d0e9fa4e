//! The Lab's binary: the four programs, and the runner that breaks them.

use clap::Parser;

/// The Reliability Lab.
#[derive(Parser)]
#[command(name = "madang-lab")]
enum Program {
    /// Lists the experiments with their questions.
    List,
    /// What experiments start to kill it.
    #[command(flatten)]
    Child(madang_lab::children::Child),
}

fn main() -> anyhow::Result<()> {
    match Program::parse() {
        Program::List => {
            for experiment in madang_lab::experiments::all() {
                println!("{:<24} {}", experiment.id(), experiment.question());
            }
            Ok(())
        }
        Program::Child(child) => child.run(),
    }
}
