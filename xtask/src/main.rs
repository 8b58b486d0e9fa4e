//! `cargo xtask`: the project's own tasks, so that a person, a hook and the CI run exactly the same checks.

mod alerts;
mod bench;
mod chaos;
mod contract;
mod dashboards;
mod http;
mod interrupt;
mod lab;
mod libraries;
mod lint;
mod metadata;
mod observed;
mod package;
mod program;
mod promtool;
mod python;
mod release;
mod schemathesis;
mod sim;
mod site;
mod stack;
mod steps;
mod test;
mod tidy;
mod workspace;

use std::process::ExitCode;

use clap::Parser;

/// The tasks of this repository.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", term_width = 120)]
enum Task {
    Lint(lint::Lint),
    Test(test::Test),
    Schemathesis(schemathesis::Schemathesis),
    Contract(contract::Contract),
    #[command(subcommand)]
    Stack(stack::Command),
    Bench(bench::Bench),
    Sim(sim::Sim),
    Chaos(chaos::Chaos),
    Alerts(alerts::Alerts),
    Dashboards(dashboards::Dashboards),
    #[command(subcommand)]
    Lab(lab::Lab),
    Package(package::Package),
    Image(package::Image),
    Release(release::Release),
    Tidy(tidy::Tidy),
}

fn main() -> ExitCode {
    let outcome = match Task::parse() {
        Task::Lint(_) => lint::run(),
        Task::Test(task) => task.run(),
        Task::Schemathesis(task) => task.run(),
        Task::Contract(_) => contract::run(),
        Task::Stack(command) => command.run(),
        Task::Bench(task) => task.run(),
        Task::Sim(task) => task.run(),
        Task::Chaos(task) => task.run(),
        Task::Alerts(task) => task.run(),
        Task::Dashboards(task) => task.run(),
        Task::Lab(task) => task.run(),
        Task::Package(task) => task.run(),
        Task::Image(task) => task.run(),
        Task::Release(task) => task.run(),
        Task::Tidy(_) => tidy::run(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nerror: {error:#}");
            // What a shell says of a program that SIGINT ended.
            if error.is::<interrupt::Interrupted>() { ExitCode::from(130) } else { ExitCode::FAILURE }
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Task::command().debug_assert();
    }

    #[test]
    fn arguments_for_other_programs_are_handed_on() {
        let parse = |line: &str| Task::try_parse_from(line.split(' '));
        let Ok(Task::Test(test)) = parse("xtask test --short -- crash --no-stack") else { panic!("no test") };
        assert_eq!(
            (test.short, test.no_stack, test.for_tests),
            (true, false, vec!["crash".into(), "--no-stack".into()])
        );
        let Ok(Task::Bench(bench)) = parse("xtask bench --quick --help") else { panic!("no bench") };
        assert_eq!(bench.for_the_bench, ["--quick", "--help"]);
        let Ok(Task::Sim(sim)) = parse("xtask sim --seeds 7 --help") else { panic!("no simulation") };
        assert_eq!(sim.for_the_simulation, ["--seeds", "7", "--help"]);
        let Ok(Task::Lab(lab::Lab::Run(run))) = parse("xtask lab run locks --quick") else { panic!("no run") };
        assert_eq!((run.ids, run.quick), (vec!["locks".to_owned()], true));
        for refused in [
            "xtask lab",
            "xtask lab run --sed 1",
            "xtask test --sort",
            "xtask stack up --brokers 2",
            "xtask stack down --brokers 3",
            "xtask stack",
        ] {
            assert!(parse(refused).is_err(), "{refused}");
        }
    }
}
