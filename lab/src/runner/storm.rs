//! Faults at random moments, as a seed has them: SIGKILL, SIGSTOP, cut connections, servers that end or stand still.

use std::time::Duration;

use anyhow::ensure;
use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};
use tokio::time::{Instant, sleep};

use super::{Fleet, Proxy};
use crate::Stack;

/// By how much a line is delayed in each direction, at least and at most, in milliseconds.
const DELAY_MS: (u64, u64) = (5, 50);

/// How a storm blows.
pub struct Storm<'a> {
    /// The processes it may hit.
    pub fleet: &'a Fleet,
    /// Beginnings of the names of those it may hit.
    pub hits: &'a [&'a str],
    /// The lines it may cut.
    pub proxies: &'a [&'a Proxy],
    /// Between two blows, at least and at most, in milliseconds.
    pub pause_ms: (u64, u64),
    /// How long a process stands still, at least and at most, in milliseconds.
    pub frozen_ms: (u64, u64),
    /// Where chance begins.
    pub seed: u64,
}

impl Storm<'_> {
    /// Blows until there were so many faults, crash points included. Calls `each` now and then. Fails when they did not come:
    /// then nothing was tried.
    pub async fn blow(&self, faults: u64, at_most: Duration, mut each: impl FnMut(u64)) -> anyhow::Result<()> {
        let deadline = Instant::now() + at_most;
        let is_enough = |happened| happened >= faults || Instant::now() >= deadline;
        self.blow_until(is_enough, &mut each).await;
        let happened = self.fleet.faults().total();
        ensure!(happened >= faults, "only {happened} of {faults} faults happened within {at_most:?}");
        Ok(())
    }

    /// Blows for so long.
    pub async fn blow_for(&self, span: Duration, mut each: impl FnMut(u64)) {
        let deadline = Instant::now() + span;
        self.blow_until(|_| Instant::now() >= deadline, &mut each).await;
    }

    async fn blow_until(&self, is_enough: impl Fn(u64) -> bool, each: &mut impl FnMut(u64)) {
        // Another draw after a pause of the storm, so that its second half is not its first again.
        let mut chance = SmallRng::seed_from_u64(self.seed.wrapping_add(self.fleet.faults().total()));
        while !is_enough(self.fleet.faults().total()) {
            sleep(span(&mut chance, self.pause_ms)).await;
            self.strike(&mut chance).await;
            each(self.fleet.faults().total());
        }
        self.fleet.names(self.hits).iter().for_each(|name| self.fleet.thaw(name));
    }

    async fn strike(&self, chance: &mut SmallRng) {
        let names = self.fleet.names(self.hits);
        let draw = chance.random_range(0..10);
        if draw < 3 && !self.proxies.is_empty() {
            let proxy = self.proxies[chance.random_range(0..self.proxies.len())];
            if draw < 2 {
                proxy.cut();
            } else {
                proxy.delay(span(chance, DELAY_MS));
                sleep(span(chance, self.frozen_ms)).await;
                proxy.delay(Duration::ZERO);
            }
        } else if !names.is_empty() {
            let name = &names[chance.random_range(0..names.len())];
            if draw < 7 {
                self.fleet.kill(name);
            } else if self.fleet.freeze(name) {
                sleep(span(chance, self.frozen_ms)).await;
                self.fleet.thaw(name);
            }
        }
    }
}

fn span(chance: &mut SmallRng, (least, most): (u64, u64)) -> Duration {
    Duration::from_millis(chance.random_range(least..=most.max(least)))
}

/// Kills a server of the stack and starts it again, on its old data.
pub async fn restart(stack: &Stack, server: &str, fleet: &Fleet) -> anyhow::Result<()> {
    stack.kill(server)?;
    fleet.faults().count(&format!("{} restart", kind(server)));
    stack.start_what_ended().await
}

/// Has a server of the stack stand still for a while.
pub async fn hold(stack: &Stack, server: &str, span: Duration, fleet: &Fleet) -> anyhow::Result<()> {
    stack.freeze(server)?;
    let _held = Held { stack, server };
    fleet.faults().count(&format!("{} frozen", kind(server)));
    sleep(span).await;
    Ok(())
}

/// A server that stands still until this is dropped, also when the experiment is broken off.
struct Held<'a> {
    stack: &'a Stack,
    server: &'a str,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.stack.thaw(self.server) {
            tracing::error!("{} stands still and cannot be let go: {error}", self.server);
        }
    }
}

/// What a server is, from its name in the stack.
fn kind(server: &str) -> &'static str {
    match server.split('-').next() {
        Some("kafka") => "broker",
        Some("mariadb") => "database",
        _ => "Redis",
    }
}
