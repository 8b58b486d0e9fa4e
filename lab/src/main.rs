//! The Lab's binary: the four programs, and the runner that breaks them.

use clap::Parser;

/// The Reliability Lab.
#[derive(Parser)]
#[command(name = "madang-lab")]
enum Program {
    /// Lists the experiments with their questions.
    List,
    /// One experiment on a stack that somebody brought up, with what it found as plain text.
    #[command(hide = true)]
    Try(madang_lab::trial::Trial),
    #[command(flatten)]
    System(madang_lab::programs::SystemProgram),
}

fn main() -> anyhow::Result<()> {
    match Program::parse() {
        Program::List => {
            for experiment in madang_lab::experiments::all() {
                println!("{:<24} {}", experiment.id(), experiment.question());
            }
            Ok(())
        }
        Program::Try(trial) => trial.run(),
        Program::System(program) => program.run(),
    }
}
