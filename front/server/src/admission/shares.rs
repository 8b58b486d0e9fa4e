//! Which share of requests is admitted while the scheduling delay is too long: writes are shed first, reads only when that
//! is not enough, and never all of either.

use std::sync::atomic::{AtomicU32, Ordering};

/// How many requests are admitted, of [`Shares::ALL`] each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shares {
    pub(super) writes: u32,
    pub(super) reads: u32,
}

impl Shares {
    pub(super) const ALL: u32 = 256;
    /// Nobody is shed.
    pub(super) const WHOLE: Self = Self { writes: Self::ALL, reads: Self::ALL };
    /// Never less: whoever only sheds does not find out that there is time again, and nobody should wait for ever.
    pub(super) const LEAST: Self = Self { writes: Self::ALL / 32, reads: Self::ALL / 4 };
    /// What is given back at a time.
    const STEP: u32 = Self::ALL / 16;

    /// A write costs several times what its refusal does, most reads little more: so writes are shed first, at once, and
    /// reads only when that is not enough.
    fn less(self) -> Self {
        if self.writes > Self::LEAST.writes {
            return Self { writes: Self::LEAST.writes, ..self };
        }
        Self { reads: (self.reads / 2).max(Self::LEAST.reads), ..self }
    }

    fn more(self) -> Self {
        if self.reads < Self::ALL {
            return Self { reads: (self.reads + Self::STEP).min(Self::ALL), ..self };
        }
        Self { writes: (self.writes + Self::STEP).min(Self::ALL), ..self }
    }
}

/// Admits a share of those who come, spread evenly.
pub(super) struct ShareAdmitter {
    share: AtomicU32,
    seen: AtomicU32,
}

impl Default for ShareAdmitter {
    fn default() -> Self {
        Self { share: AtomicU32::new(Shares::ALL), seen: AtomicU32::new(0) }
    }
}

impl ShareAdmitter {
    pub(super) fn set(&self, share: u32) {
        self.share.store(share, Ordering::Relaxed);
    }

    pub(super) fn admits(&self) -> bool {
        let share = self.share.load(Ordering::Relaxed);
        // `ALL` is a power of two, so that the count may wrap.
        share >= Shares::ALL || self.seen.fetch_add(1, Ordering::Relaxed).wrapping_mul(share) % Shares::ALL < share
    }
}

/// What a probe found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delay {
    Acceptable,
    /// The probe has waited for as long as a request may, or for as long again.
    TooLong,
}

/// Decides the shares by the probes so far.
#[derive(Debug)]
pub(super) struct ShareControl {
    shares: Shares,
    /// Whether the last probe waited too long.
    warned: bool,
}

impl Default for ShareControl {
    fn default() -> Self {
        Self { shares: Shares::WHOLE, warned: false }
    }
}

impl ShareControl {
    /// The shares until the next probe. One long delay after good times is a hiccup of the machine, after which everybody
    /// is served; two on end are not.
    pub(super) fn after(&mut self, delay: Delay) -> Shares {
        self.shares = match delay {
            Delay::TooLong if self.warned || self.shares != Shares::WHOLE => self.shares.less(),
            Delay::TooLong => self.shares,
            Delay::Acceptable => self.shares.more(),
        };
        self.warned = delay == Delay::TooLong;
        self.shares
    }
}

#[cfg(test)]
mod tests {
    use super::Delay::{Acceptable, TooLong};
    use super::*;

    /// The shares after each of these probes, of writes and of reads.
    fn after(delays: &[Delay]) -> Vec<(u32, u32)> {
        let mut control = ShareControl::default();
        let shares = delays.iter().map(|delay| control.after(*delay));
        shares.map(|Shares { writes, reads }| (writes, reads)).collect()
    }

    #[test]
    fn a_hiccup_sheds_nobody() {
        assert_eq!(after(&[Acceptable, TooLong, Acceptable, TooLong, Acceptable]), [(256, 256); 5]);
    }

    #[test]
    fn writes_are_shed_before_reads_and_never_all_of_them() {
        assert_eq!(after(&[TooLong; 6]), [(256, 256), (8, 256), (8, 128), (8, 64), (8, 64), (8, 64)]);
    }

    #[test]
    fn what_was_taken_comes_back_reads_before_writes_and_the_next_long_delay_needs_no_second() {
        let delays = [&[TooLong; 3][..], &[Acceptable; 8], &[Acceptable, TooLong, Acceptable]].concat();
        let shares = after(&delays);
        assert_eq!(shares[2..5], [(8, 128), (8, 144), (8, 160)]);
        assert_eq!(shares[10..], [(8, 256), (24, 256), (8, 256), (24, 256)]);
        let good_times = [&[TooLong; 4][..], &[Acceptable; 40]].concat();
        assert_eq!(after(&good_times).last(), Some(&(256, 256)));
    }

    #[test]
    fn a_share_is_admitted_evenly() {
        for share in [8, 64, 200, 255, 256] {
            let admitter = ShareAdmitter::default();
            admitter.set(share);
            admitter.seen.store(u32::MAX - 300, Ordering::Relaxed);
            for _ in 0..4 {
                let admitted = (0..256).filter(|_| admitter.admits()).count();
                assert_eq!(admitted, share as usize);
            }
        }
    }
}
