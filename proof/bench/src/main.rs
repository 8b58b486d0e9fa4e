//! `madang-bench`: measures the product and, in the same run, the limit each figure is compared with.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::cast_lossless,
    reason = "numbers of callers, members and calls of one run, far below any bound"
)]

mod affinity;
mod bare_axum;
mod cli;
mod client;
mod http_load;
mod load;
mod machine;
mod open_loop;
mod process;
mod report;
mod samples;
mod scenario;
mod site;

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Parser;

use crate::cli::{Cli, Command, Options};
use crate::report::Report;
use crate::site::Scratch;

fn main() -> Result<ExitCode> {
    let cli = Cli::parse();
    let runtime = tokio::runtime::Runtime::new().context("could not start the runtime")?;
    runtime.block_on(async {
        match cli.command {
            Some(Command::Bare(options)) => bare_axum::serve(&options).await.map(|()| ExitCode::SUCCESS),
            None => measure(&cli.options.settled()).await,
        }
    })
}

async fn measure(options: &Options) -> Result<ExitCode> {
    if cfg!(debug_assertions) {
        eprintln!("This is a debug build: its figures mean nothing. Use `cargo xtask bench`.");
    }
    let mut report = Report::begin(options);
    for options in options.parts() {
        let scratch = Scratch::prepare(&options)?;
        for scenario in options.scenarios() {
            eprintln!("\n{scenario}: {}", scenario.asks());
            match scenario.run(&options, &scratch).await {
                Ok(rows) => report.add(rows, scratch.is_on_cluster()),
                // The others are still worth their time.
                Err(error) => report.fail(scenario, &error),
            }
        }
    }
    println!("{}", report.table());
    if let Some(file) = &options.json {
        report.write_json(file)?;
        eprintln!("JSON in {}", file.display());
    }
    if options.write {
        eprintln!("All figures in {}", report.write_page()?.display());
    }
    let passed = report.is_complete() && (report.is_met() || !options.strict);
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
