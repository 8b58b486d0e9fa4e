//! `cargo xtask sim`: many seeds on every core, with progress, and the command that plays a failing one again.

use std::ops::Range;
use std::process::ExitCode;

use clap::Parser;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use indicatif::{ProgressBar, ProgressStyle};
use madang_sim::{Protection, Protections, Sweep, run_recorded, sweep_watched};

/// Plays seeds of the simulation: relay, coordinator and consumer, the code of the product, in a world of faults.
///
/// Every fault of a run is drawn from its seed, so a seed that fails fails again. Without a violation among n seeds, the
/// rate of violations is below 3/n with 95 % confidence.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask sim", bin_name = "cargo xtask sim", term_width = 120)]
struct Options {
    /// How many seeds to play.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000_000))]
    seeds: u64,
    /// The first of them.
    #[arg(long, value_name = "SEED", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=u64::MAX / 2))]
    from: u64,
    /// Takes one protection away: then seeds must fail, or the checker sees nothing.
    #[arg(long, value_name = "PROTECTION", value_parser = protection())]
    without: Option<Protection>,
    /// Takes each protection away in turn, and prints in how many of the seeds a promise was broken.
    #[arg(long, conflicts_with_all = ["without", "replay"])]
    rates: bool,
    /// Plays one seed, and prints all that happened in it.
    #[arg(long, value_name = "SEED")]
    replay: Option<u64>,
}

fn protection() -> impl clap::builder::TypedValueParser<Value = Protection> {
    let names = Protection::ALL.map(Protection::name);
    PossibleValuesParser::new(names).try_map(|name| {
        let found = Protection::ALL.into_iter().find(|protection| protection.name() == name);
        found.ok_or_else(|| format!("there is no protection {name}"))
    })
}

/// Failing seeds that are listed.
const LISTED_MAX: usize = 5;

impl Options {
    fn seeds(&self) -> Range<u64> {
        self.from..self.from + self.seeds
    }

    fn protections(&self) -> Protections {
        self.without.map_or(Protections::ALL, Protections::without)
    }
}

fn main() -> ExitCode {
    let options = Options::parse();
    let as_promised = if let Some(seed) = options.replay {
        replay(seed, options.without)
    } else if options.rates {
        rates(&options)
    } else {
        play(&options)
    };
    if as_promised { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Plays the seeds, and says what they showed.
fn play(options: &Options) -> bool {
    let swept = watched(options.seeds(), options.protections());
    println!("{}", told(&swept));
    for seed in swept.failing.iter().take(LISTED_MAX) {
        println!("  {}", how_to_replay(*seed, options.without));
    }
    if swept.failing.len() > LISTED_MAX {
        println!("  and {} more", grouped(swept.failing.len() as u64 - LISTED_MAX as u64));
    }
    match options.without {
        None => swept.failing.is_empty(),
        Some(protection) => {
            let noticed = !swept.failing.is_empty();
            if !noticed {
                println!("without {} the checker noticed nothing: it proves nothing about it", protection.name());
            }
            noticed
        }
    }
}

/// Plays the seeds without each protection in turn.
fn rates(options: &Options) -> bool {
    println!("{:<20} {:<42} {:>14}  of them", "without", "instead", "seeds broken");
    let mut all_noticed = true;
    for protection in Protection::ALL {
        let swept = watched(options.seeds(), Protections::without(protection));
        let kinds = swept.by_kind.keys().map(|kind| format!("{kind:?} {:.1} %", swept.percent_of(*kind)));
        let kinds = kinds.collect::<Vec<_>>().join(", ");
        let percent = format!("{:.1} %", swept.failing_percent());
        println!("{:<20} {:<42} {percent:>14}  {kinds}", protection.name(), protection.instead());
        all_noticed &= !swept.failing.is_empty();
    }
    println!("{} seeds each, from {}", grouped(options.seeds), options.from);
    all_noticed
}

/// Plays one seed again, and prints its trace and what was broken.
fn replay(seed: u64, without: Option<Protection>) -> bool {
    let outcome = run_recorded(seed, without.map_or(Protections::ALL, Protections::without));
    outcome.trace.iter().for_each(|line| println!("{line}"));
    println!("seed {seed}: {} messages, {} steps", outcome.committed, outcome.steps);
    outcome.violations.iter().for_each(|violation| println!("  {violation}"));
    if outcome.violations.is_empty() {
        println!("  every promise was kept");
    }
    outcome.violations.is_empty()
}

/// Plays the seeds with a bar, or without a terminal in silence.
fn watched(seeds: Range<u64>, protections: Protections) -> Sweep {
    let bar = ProgressBar::new(seeds.end - seeds.start);
    let look = "{bar:32} {human_pos}/{human_len} seeds  {per_sec}  {eta} left  {msg}";
    bar.set_style(ProgressStyle::with_template(look).unwrap_or_else(|_| ProgressStyle::default_bar()));
    let broken = std::sync::atomic::AtomicU64::new(0);
    let swept = sweep_watched(seeds, protections, |_, violations| {
        if !violations.is_empty() {
            let broken = 1 + broken.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            bar.set_message(format!("{} broken", grouped(broken)));
        }
        bar.inc(1);
    });
    bar.finish_and_clear();
    swept
}

/// What a run came to, for people.
fn told(swept: &Sweep) -> String {
    let (seeds, failing) = (grouped(swept.seeds), grouped(swept.failing.len() as u64));
    let verdict = match swept.bound_percent() {
        Some(bound) => format!("0 violations: below {bound:.6} % of seeds (3/n, 95 %)"),
        None => {
            let kinds = swept.by_kind.iter().map(|(kind, seeds)| format!("{kind:?} in {}", grouped(*seeds)));
            let kinds = kinds.collect::<Vec<_>>().join(", ");
            format!("{failing} with violations ({:.2} %): {kinds}", swept.failing_percent())
        }
    };
    format!(
        "{seeds} seeds, {verdict}\n{} messages, {} claims of rows whose shard had another owner by then; {} steps, {:.1} s, {:.0} seeds/s",
        grouped(swept.committed as u64),
        grouped(swept.claimed_past_lease),
        grouped(swept.steps),
        swept.took.as_secs_f64(),
        swept.rate()
    )
}

fn how_to_replay(seed: u64, without: Option<Protection>) -> String {
    let without = without.map(|protection| format!(" --without {}", protection.name())).unwrap_or_default();
    format!("cargo xtask sim --replay {seed}{without}")
}

/// Digits in threes.
fn grouped(number: u64) -> String {
    indicatif::HumanCount(number).to_string()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent_and_knows_every_protection() {
        Options::command().debug_assert();
        for protection in Protection::ALL {
            let options = Options::parse_from(["sim", "--without", protection.name()]);
            assert_eq!(options.without, Some(protection));
            assert_ne!(options.protections(), Protections::ALL);
        }
        assert!(Options::try_parse_from(["sim", "--without", "luck"]).is_err());
    }

    #[test]
    fn the_seeds_begin_where_asked() {
        assert_eq!(Options::parse_from(["sim", "--seeds", "5", "--from", "7"]).seeds(), 7..12);
        assert!(Options::try_parse_from(["sim", "--seeds", "0"]).is_err());
    }

    #[test]
    fn a_failing_seed_comes_with_the_command_that_plays_it_again() {
        let options = Options::parse_from("sim --seeds 40 --without inbox".split(' '));
        let swept = watched(options.seeds(), options.protections());
        let seed = *swept.failing.first().unwrap();
        let command = how_to_replay(seed, options.without);
        let again = Options::parse_from(command.split(' ').skip(2));
        assert!(!replay(again.replay.unwrap(), again.without), "{command}");
        assert!(told(&swept).contains("with violations") && told(&swept).contains("Twice in"), "{}", told(&swept));
    }

    #[test]
    fn without_a_violation_the_bound_is_told() {
        let swept = watched(0..30, Protections::ALL);
        assert!(told(&swept).contains("0 violations: below 10.000000 % of seeds"), "{}", told(&swept));
    }
}
