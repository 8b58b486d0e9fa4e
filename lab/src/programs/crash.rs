//! Crash points: named places between two steps at which a process ends on the spot, with a probability, as the runner says.
//!
//! Armed through the environment: `LAB_CRASH=after-commit-before-send=0.02,…` and `LAB_CRASH_SEED=7`. Each crash writes its
//! name into the file of `LAB_CRASH_LOG` first, so that it can be counted.

use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, bail};
use async_trait::async_trait;
use madang_kernel::{EventId, Timestamp};
use madang_messaging::{
    Claim, Delivery, EventLog, Failed, GroupId, Handled, Handler, HandlerError, Message, Outage, Outbox, OutboxBacklog,
    OutboxRow, PublishOutcome, Subscription, UnsentMessages,
};
use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};

/// Where crashes are written down.
pub const CRASH_LOG: &str = "LAB_CRASH_LOG";
/// Which points are armed.
pub const CRASH: &str = "LAB_CRASH";
/// Where chance begins.
pub const CRASH_SEED: &str = "LAB_CRASH_SEED";

/// A place between two steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CrashPoint {
    /// Everything is written, nothing is committed.
    BeforeCommit,
    /// Committed, and nobody was told.
    AfterCommitBeforeSend,
    /// Committed and handed over, and the client has no answer.
    AfterCommitBeforeAnswer,
    /// The relay has claimed rows.
    AfterClaimBeforeSend,
    /// The broker has acknowledged, and the rows are still in the outbox.
    AfterSendBeforeDelete,
    /// Events were read, and none is applied.
    BeforeEffect,
    /// An event is applied, and the cache does not know.
    AfterEffectBeforeInvalidation,
    /// Events are applied, and their offsets are not stored.
    AfterEffectBeforeOffset,
    /// Offsets are stored, and their events are not applied.
    AfterOffsetBeforeEffect,
}

impl CrashPoint {
    const ALL: [Self; 9] = [
        Self::BeforeCommit,
        Self::AfterCommitBeforeSend,
        Self::AfterCommitBeforeAnswer,
        Self::AfterClaimBeforeSend,
        Self::AfterSendBeforeDelete,
        Self::BeforeEffect,
        Self::AfterEffectBeforeInvalidation,
        Self::AfterEffectBeforeOffset,
        Self::AfterOffsetBeforeEffect,
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::BeforeCommit => "before-commit",
            Self::AfterCommitBeforeSend => "after-commit-before-send",
            Self::AfterCommitBeforeAnswer => "after-commit-before-answer",
            Self::AfterClaimBeforeSend => "after-claim-before-send",
            Self::AfterSendBeforeDelete => "after-send-before-delete",
            Self::BeforeEffect => "before-effect",
            Self::AfterEffectBeforeInvalidation => "after-effect-before-invalidation",
            Self::AfterEffectBeforeOffset => "after-effect-before-offset",
            Self::AfterOffsetBeforeEffect => "after-offset-before-effect",
        }
    }
}

/// The points of a process; most of the time none is armed.
#[derive(Debug, Clone, Default)]
pub struct CrashPoints(Option<Arc<Armed>>);

#[derive(Debug)]
struct Armed {
    points: Vec<(CrashPoint, f64)>,
    chance: Mutex<SmallRng>,
}

impl CrashPoints {
    /// What the environment arms.
    pub fn from_environment() -> anyhow::Result<Self> {
        let Ok(text) = std::env::var(CRASH) else { return Ok(Self(None)) };
        let seed = std::env::var(CRASH_SEED).ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
        Self::parse(&text, seed)
    }

    fn parse(text: &str, seed: u64) -> anyhow::Result<Self> {
        let mut points = Vec::new();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let (name, probability) = part.split_once('=').with_context(|| format!("{part} is no name=probability"))?;
            let Some(point) = CrashPoint::ALL.into_iter().find(|point| point.name() == name) else {
                bail!("there is no crash point {name}")
            };
            points.push((point, probability.parse().with_context(|| format!("{probability} is no probability"))?));
        }
        let chance = Mutex::new(SmallRng::seed_from_u64(seed));
        Ok(Self((!points.is_empty()).then(|| Arc::new(Armed { points, chance }))))
    }

    /// Ends the process here, if chance has it.
    pub fn pass(&self, point: CrashPoint) {
        if self.draws(point) {
            tracing::warn!("crashes at {}", point.name());
            write_down(point);
            std::process::abort();
        }
    }

    fn draws(&self, point: CrashPoint) -> bool {
        let Some(armed) = &self.0 else { return false };
        let found = armed.points.iter().find(|(armed, _)| *armed == point);
        let Some((_, probability)) = found else { return false };
        armed.chance.lock().unwrap_or_else(PoisonError::into_inner).random_bool(probability.clamp(0.0, 1.0))
    }
}

fn write_down(point: CrashPoint) {
    let Some(path) = std::env::var_os(CRASH_LOG) else { return };
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    // The process ends either way; a crash that could not be written down is not counted.
    let _ = file.and_then(|mut file| file.write_all(format!("{}\n", point.name()).as_bytes()));
}

/// An outbox whose process may end after a claim.
pub struct CrashingOutbox<O> {
    inner: O,
    crash: CrashPoints,
}

impl<O> CrashingOutbox<O> {
    /// Puts the point behind `inner`'s claims.
    pub fn new(inner: O, crash: &CrashPoints) -> Self {
        Self { inner, crash: crash.clone() }
    }
}

#[async_trait]
impl<O: Outbox> UnsentMessages for CrashingOutbox<O> {
    async fn has_unsent_before(&self, moment: Timestamp) -> Result<bool, Outage> {
        self.inner.has_unsent_before(moment).await
    }
}

#[async_trait]
impl<O: Outbox> Outbox for CrashingOutbox<O> {
    async fn claim(&self, claim: Claim) -> Result<Vec<OutboxRow>, Outage> {
        let claimed = self.inner.claim(claim).await?;
        if !claimed.is_empty() {
            self.crash.pass(CrashPoint::AfterClaimBeforeSend);
        }
        Ok(claimed)
    }
    async fn release(&self, rows: &[EventId]) -> Result<(), Outage> {
        self.inner.release(rows).await
    }
    async fn delete(&self, rows: &[EventId]) -> Result<(), Outage> {
        self.inner.delete(rows).await
    }
    async fn park(&self, rows: &[Failed]) -> Result<(), Outage> {
        self.inner.park(rows).await
    }
    async fn bury(&self, row: EventId, reason: &str) -> Result<(), Outage> {
        self.inner.bury(row, reason).await
    }
    async fn backlog(&self) -> Result<OutboxBacklog, Outage> {
        self.inner.backlog().await
    }
}

/// A log whose process may end after a publication.
pub struct CrashingLog<L> {
    inner: L,
    crash: CrashPoints,
}

impl<L> CrashingLog<L> {
    /// Puts the point behind `inner`'s publications.
    pub fn new(inner: L, crash: &CrashPoints) -> Self {
        Self { inner, crash: crash.clone() }
    }
}

#[async_trait]
impl<L: EventLog> EventLog for CrashingLog<L> {
    async fn publish(&self, messages: &[Message]) -> Result<Vec<PublishOutcome>, Outage> {
        let outcomes = self.inner.publish(messages).await?;
        self.crash.pass(CrashPoint::AfterSendBeforeDelete);
        Ok(outcomes)
    }
    async fn subscribe(&self, group: &GroupId, topics: &[String]) -> Result<Box<dyn Subscription>, Outage> {
        self.inner.subscribe(group, topics).await
    }
}

/// A handler whose process may end before its effects, and between them and their offsets.
pub struct CrashingHandler<H> {
    inner: H,
    crash: CrashPoints,
}

impl<H> CrashingHandler<H> {
    /// Puts the points around `inner`.
    pub fn new(inner: H, crash: &CrashPoints) -> Self {
        Self { inner, crash: crash.clone() }
    }
}

#[async_trait]
impl<H: Handler> Handler for CrashingHandler<H> {
    async fn handle(&self, deliveries: &[Delivery]) -> Vec<Result<Handled, HandlerError>> {
        self.crash.pass(CrashPoint::BeforeEffect);
        let handled = self.inner.handle(deliveries).await;
        self.crash.pass(CrashPoint::AfterEffectBeforeOffset);
        handled
    }
    async fn rebuild(&self) -> Result<(), Outage> {
        self.inner.rebuild().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_crashes_as_often_as_it_is_armed_and_the_same_for_one_seed() {
        let draws = |text: &str, point, seed| {
            let points = CrashPoints::parse(text, seed).unwrap();
            (0..1_000).map(|_| points.draws(point)).collect::<Vec<_>>()
        };
        let armed = draws("before-effect=0.25", CrashPoint::BeforeEffect, 1);
        assert_eq!(armed, draws("before-effect=0.25", CrashPoint::BeforeEffect, 1));
        assert!((200..300).contains(&armed.iter().filter(|crashed| **crashed).count()));
        assert!(!draws("before-effect=1", CrashPoint::BeforeCommit, 1).contains(&true));
        assert!(!draws("before-effect=1", CrashPoint::BeforeEffect, 1).contains(&false));
    }

    #[test]
    fn what_is_no_crash_point_is_told() {
        assert!(CrashPoints::parse("", 0).is_ok());
        for text in ["before-effect", "no-such-point=1", "before-effect=often"] {
            assert!(CrashPoints::parse(text, 0).is_err(), "{text}");
        }
    }
}
