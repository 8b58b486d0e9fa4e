//! The promises over many seeds, and that the checker notices when a protection is taken away.

use std::time::Duration;

use madang_sim::{Kind, Protections, Sweep, run, run_recorded, sweep};

const SEEDS: u64 = 1_000;
const SEEDS_WITHOUT_PROTECTION: u64 = 200;
const TIME_MAX: Duration = Duration::from_secs(30);

fn how_to_replay(failing: &[u64]) -> String {
    let lines = failing.iter().take(5).map(|seed| {
        let violations: Vec<String> = run(*seed, Protections::ALL).violations.iter().map(ToString::to_string).collect();
        format!("  {}\n  MADANG_SIM_SEED={seed} cargo test -p madang-sim -- --nocapture replay", violations.join("; "))
    });
    format!("{} seeds fail; replay with\n{}", failing.len(), lines.collect::<Vec<_>>().join("\n"))
}

#[test]
fn with_every_protection_no_seed_breaks_a_promise() {
    // MADANG_SIM_SEEDS asks for more than the test command has time for.
    let seeds = std::env::var("MADANG_SIM_SEEDS").ok().and_then(|count| count.parse().ok()).unwrap_or(SEEDS);
    let swept = sweep(0..seeds, Protections::ALL);
    println!("nothing removed     {swept}");
    println!("  {} messages, {} steps, {:.1} s", swept.committed, swept.steps, swept.took.as_secs_f64());
    assert!(swept.failing.is_empty(), "{}", how_to_replay(&swept.failing));
    assert!(swept.committed as u64 > seeds * 20, "the seeds do something");
    assert!(swept.claimed_past_lease > seeds / 20, "shards have two owners at times: {}", swept.claimed_past_lease);
    assert!(seeds > SEEDS || swept.took < TIME_MAX, "{:?}", swept.took);
}

#[test]
fn without_a_protection_the_checker_notices() {
    let without = |name: &str, protections: Protections| -> Sweep {
        let swept = sweep(0..SEEDS_WITHOUT_PROTECTION, protections);
        println!("{name:<20}{swept}");
        swept
    };
    let outbox = without("without outbox", Protections { outbox: false, ..Protections::ALL });
    assert!(outbox.percent_of(Kind::Lost) > 50.0, "{outbox}");
    let inbox = without("without inbox", Protections { inbox: false, ..Protections::ALL });
    assert!(inbox.percent_of(Kind::Twice) > 50.0, "{inbox}");
    let early = without("offset before work", Protections { offset_after_work: false, ..Protections::ALL });
    assert!(early.percent_of(Kind::Lost) > 10.0, "{early}");
    let cursor = without("id cursor", Protections { state_select: false, ..Protections::ALL });
    assert!(cursor.percent_of(Kind::Lost) > 10.0, "{cursor}");
    let arrival = without("last arrival wins", Protections { merge_by_version: false, ..Protections::ALL });
    assert!(arrival.percent_of(Kind::Backwards) > 10.0, "{arrival}");
    let plain = without("plain fill", Protections { versioned_fill: false, ..Protections::ALL });
    assert!(plain.percent_of(Kind::Stale) > 5.0, "{plain}");
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    for seed in [1, 77, 4_242] {
        let (first, second) = (run_recorded(seed, Protections::ALL), run_recorded(seed, Protections::ALL));
        assert_eq!(first.trace, second.trace);
        assert_eq!(first.fingerprint, run(seed, Protections::ALL).fingerprint);
    }
    assert_ne!(run(1, Protections::ALL).fingerprint, run(2, Protections::ALL).fingerprint);
}

#[test]
fn replay() {
    let Some(seed) = std::env::var("MADANG_SIM_SEED").ok().and_then(|seed| seed.parse().ok()) else { return };
    let outcome = run_recorded(seed, Protections::ALL);
    outcome.trace.iter().for_each(|line| println!("{line}"));
    assert!(outcome.violations.is_empty(), "seed {seed}: {:#?}", outcome.violations);
}
