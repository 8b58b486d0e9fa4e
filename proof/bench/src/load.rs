//! Load: many callers at once for a set time, each waiting for its answer before it asks again.

use std::pin::Pin;
use std::time::{Duration, Instant};

use anyhow::Result;
use tokio::task::JoinSet;

use crate::cli::Options;
use crate::samples::{Samples, median};

/// How long after its end a turn waits for answers that are still out.
const LATE_MS: u64 = 10_000;
/// A full queue refuses at once; going round without a pause would measure that.
const REFUSED_PAUSE_MS: u64 = 1;

/// What one turn showed.
#[derive(Debug)]
pub(crate) struct Turn {
    /// Successes per second.
    pub(crate) rate: f64,
    /// Every call of the turn.
    pub(crate) samples: Samples,
}

/// Several turns of the same load.
#[derive(Debug)]
pub(crate) struct Turns {
    rates: Vec<f64>,
    /// Every call of all turns.
    pub(crate) samples: Samples,
}

impl Turns {
    /// None yet.
    pub(crate) fn new() -> Self {
        Self { rates: Vec::new(), samples: Samples::new() }
    }

    /// Adds one.
    pub(crate) fn add(&mut self, turn: &Turn) {
        self.rates.push(turn.rate);
        self.samples.merge(&turn.samples);
    }

    /// The median of the turns' rates.
    pub(crate) fn rate(&self) -> f64 {
        median(&self.rates)
    }
}

/// One side of a comparison: a load that can be run for a while, over and over.
pub(crate) struct Side<'a> {
    name: &'a str,
    run: Box<dyn Fn(Duration) -> Running<'a> + 'a>,
}

type Running<'a> = Pin<Box<dyn Future<Output = Turn> + 'a>>;

impl<'a> Side<'a> {
    /// A load under the name it is reported by.
    pub(crate) fn new<F>(name: &'a str, run: impl Fn(Duration) -> F + 'a) -> Self
    where
        F: Future<Output = Turn> + 'a,
    {
        Self { name, run: Box::new(move |length| Box::pin(run(length))) }
    }
}

/// Runs all sides by turns (A B A B …), after each had its warm-up.
pub(crate) async fn by_turns<const N: usize>(options: &Options, sides: [Side<'_>; N]) -> [Turns; N] {
    let mut turns = [(); N].map(|()| Turns::new());
    for side in &sides {
        (side.run)(options.warm_up()).await;
    }
    for round in 1..=options.rounds {
        let mut shown = Vec::new();
        for (side, turns) in sides.iter().zip(&mut turns) {
            let turn = (side.run)(options.turn()).await;
            shown.push(format!("{} {:.0}/s", side.name, turn.rate));
            turns.add(&turn);
        }
        eprintln!("turn {round}: {}", shown.join(", "));
    }
    turns
}

/// Lets callers call over and over for so long, each waiting for its answer.
pub(crate) async fn call_for<F>(
    callers: usize,
    length: Duration,
    call: impl Fn(usize) -> F + Clone + Send + 'static,
) -> Turn
where
    F: Future<Output = Result<()>> + Send + 'static,
{
    run_callers(callers, length, |caller, until| {
        let call = call.clone();
        call_until(until, move || call(caller))
    })
    .await
}

/// Calls over and over until the time is over; a refusal is an error by the words it comes with.
async fn call_until<F>(until: Instant, mut call: impl FnMut() -> F) -> Samples
where
    F: Future<Output = Result<()>>,
{
    let mut samples = Samples::new();
    while Instant::now() < until {
        let started = Instant::now();
        match call().await {
            Ok(()) => samples.succeeded(started.elapsed()),
            Err(reason) => {
                samples.failed(format!("{reason:#}"));
                tokio::time::sleep(Duration::from_millis(REFUSED_PAUSE_MS)).await;
            }
        }
    }
    samples
}

/// Runs callers side by side until the time is over; one that hangs is given up and counted as an error.
pub(crate) async fn run_callers<F>(callers: usize, length: Duration, call: impl Fn(usize, Instant) -> F) -> Turn
where
    F: Future<Output = Samples> + Send + 'static,
{
    let started = Instant::now();
    let until = started + length;
    let mut running = JoinSet::new();
    for caller in 0..callers {
        running.spawn(call(caller, until));
    }
    let mut samples = Samples::new();
    let give_up = tokio::time::Instant::from_std(until + Duration::from_millis(LATE_MS));
    while let Ok(Some(ended)) = tokio::time::timeout_at(give_up, running.join_next()).await {
        match ended {
            Ok(of_caller) => samples.merge(&of_caller),
            Err(error) => samples.failed(format!("caller: {error}")),
        }
    }
    for _ in 0..running.len() {
        samples.failed("no answer");
    }
    let rate = samples.count() as f64 / started.elapsed().as_secs_f64();
    Turn { rate, samples }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::Cli;

    #[tokio::test]
    async fn sides_take_turns_after_their_warm_up() {
        let options = Cli::parse_from(["bench", "--seconds", "0.1", "--rounds", "2"]).options.settled();
        let order = std::cell::RefCell::new(String::new());
        let side = |name: &'static str| {
            let order = &order;
            Side::new(name, move |_| {
                order.borrow_mut().push_str(name);
                async { Turn { rate: 7.0, samples: Samples::new() } }
            })
        };
        let [one, _] = by_turns(&options, [side("a"), side("b")]).await;
        assert_eq!((order.borrow().as_str(), one.rate()), ("ababab", 7.0));
    }

    #[tokio::test]
    async fn refused_calls_are_errors_and_no_successes() {
        let mut calls = 0;
        let samples = call_until(Instant::now() + Duration::from_millis(50), || {
            calls += 1;
            let refused = calls % 2 == 0;
            async move { if refused { Err(anyhow::anyhow!("full")) } else { Ok(()) } }
        })
        .await;
        assert!(samples.count() > 0 && samples.errors()["full"] > 0);
        assert_eq!(samples.count() + samples.errors()["full"], calls);
    }
}
