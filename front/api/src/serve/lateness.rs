//! How long requests wait before anybody looks at them, and how many to refuse so that it stays bearable.
//!
//! A bound on requests in flight does not see those that wait to be read: past what the processors can do, they wait ever
//! longer, and work is done for people who have left. So we write to ourselves, a letter at a time, by the same post as
//! everybody's requests, and see how long it takes. A letter that is late takes shares away from those who ask, one that is
//! in time gives a little back.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum::http::Method;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::time::Instant;

/// Letters that are sent in the time that a request may wait, as long as they arrive in time.
const LETTERS: u32 = 8;
/// A letter has one byte. The room behind it tells the runtime that nothing is left to read, so that it waits for the next.
const LETTER_ROOM: usize = 8;

/// Lets in shares of those who ask; the letters move them.
pub(super) struct Lateness {
    wait_max: Duration,
    writes: Turnstile,
    reads: Turnstile,
}

impl Lateness {
    /// Requests should not wait for longer than this. With [`Duration::MAX`] none is refused.
    pub(super) fn new(wait_max: Duration) -> Self {
        Self { wait_max, writes: Turnstile::default(), reads: Turnstile::default() }
    }

    /// Whether a request that is taken up now should be refused.
    pub(super) fn refuses(&self, method: &Method) -> bool {
        let turnstile = if method.is_safe() { &self.reads } else { &self.writes };
        !turnstile.admits()
    }

    /// Sends letters for as long as it is polled.
    pub(super) async fn measure(&self) {
        if self.wait_max < Duration::MAX {
            let error = self.exchange_letters().await;
            tracing::warn!("how long requests wait is not known: {error}");
            self.admit(Shares::WHOLE);
        }
        std::future::pending::<()>().await;
    }

    async fn exchange_letters(&self) -> std::io::Error {
        let (mut here, mut there) = match UnixStream::pair() {
            Ok(pair) => pair,
            Err(error) => return error,
        };
        let mut experience = Experience::default();
        let waits = metrics::histogram!("madang_http_wait_seconds");
        let mut letter = [0; LETTER_ROOM];
        loop {
            let sent = Instant::now();
            if let Err(error) = there.write_all(&[1]).await {
                return error;
            }
            let mut told_late = false;
            // Timers do not wait as requests do, so that it is known of a letter that it is late before it is there.
            let delivered = loop {
                match tokio::time::timeout(self.wait_max, here.read(&mut letter)).await {
                    Ok(delivered) => break delivered,
                    Err(_elapsed) => self.admit(experience.letter(Letter::Late)),
                }
                told_late = true;
            };
            if let Err(error) = delivered {
                return error;
            }
            let wait = sent.elapsed();
            waits.record(wait.as_secs_f64());
            if wait <= self.wait_max {
                self.admit(experience.letter(Letter::InTime));
                tokio::time::sleep(self.wait_max / LETTERS).await;
            } else if !told_late {
                self.admit(experience.letter(Letter::Late));
            }
        }
    }

    fn admit(&self, shares: Shares) {
        self.writes.share.store(shares.writes, Ordering::Relaxed);
        self.reads.share.store(shares.reads, Ordering::Relaxed);
    }
}

/// Lets a share of those who come through, spread evenly.
struct Turnstile {
    share: AtomicU32,
    came: AtomicU32,
}

impl Default for Turnstile {
    fn default() -> Self {
        Self { share: AtomicU32::new(Shares::ALL), came: AtomicU32::new(0) }
    }
}

impl Turnstile {
    fn admits(&self) -> bool {
        let share = self.share.load(Ordering::Relaxed);
        // `ALL` is a power of two, so that the count may wrap.
        share >= Shares::ALL || self.came.fetch_add(1, Ordering::Relaxed).wrapping_mul(share) % Shares::ALL < share
    }
}

/// How many of those who come are let in, of [`Shares::ALL`] each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shares {
    writes: u32,
    reads: u32,
}

impl Shares {
    const ALL: u32 = 256;
    const WHOLE: Self = Self { writes: Self::ALL, reads: Self::ALL };
    /// Never less: whoever only refuses does not find out that there is time again, and nobody should wait for ever.
    const LEAST: Self = Self { writes: Self::ALL / 32, reads: Self::ALL / 4 };
    /// What is given back at a time.
    const STEP: u32 = Self::ALL / 16;

    /// A write costs several times what its refusal does, most reads little more: so writes are refused first, at once, and
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

/// What is known of a letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Letter {
    InTime,
    /// It has been under way for as long as a request may wait, or for as long again.
    Late,
}

/// What the letters so far tell.
#[derive(Debug)]
struct Experience {
    shares: Shares,
    /// Whether a letter was late, and none in time since.
    warned: bool,
}

impl Default for Experience {
    fn default() -> Self {
        Self { shares: Shares::WHOLE, warned: false }
    }
}

impl Experience {
    /// How many to let in until more is known. To be late once after good times is a hiccup of the machine, after which
    /// everybody is served; twice on end is not.
    fn letter(&mut self, letter: Letter) -> Shares {
        self.shares = match letter {
            Letter::Late if self.warned || self.shares != Shares::WHOLE => self.shares.less(),
            Letter::Late => self.shares,
            Letter::InTime => self.shares.more(),
        };
        self.warned = letter == Letter::Late;
        self.shares
    }
}

#[cfg(test)]
mod tests {
    use super::Letter::{InTime, Late};
    use super::*;

    const WAIT: Duration = Duration::from_millis(100);

    /// What is let in after each of these letters, of writes and of reads.
    fn after(letters: &[Letter]) -> Vec<(u32, u32)> {
        let mut experience = Experience::default();
        let known = letters.iter().map(|letter| experience.letter(*letter));
        known.map(|Shares { writes, reads }| (writes, reads)).collect()
    }

    #[test]
    fn a_hiccup_refuses_nobody() {
        assert_eq!(after(&[InTime, Late, InTime, Late, InTime]), [(256, 256); 5]);
    }

    #[test]
    fn who_waits_on_end_is_refused_writes_before_reads_and_never_all_of_them() {
        assert_eq!(after(&[Late; 6]), [(256, 256), (8, 256), (8, 128), (8, 64), (8, 64), (8, 64)]);
    }

    #[test]
    fn what_was_taken_comes_back_reads_before_writes_and_the_next_late_letter_needs_no_second() {
        let letters = [&[Late; 3][..], &[InTime; 8], &[InTime, Late, InTime]].concat();
        let shares = after(&letters);
        assert_eq!(shares[2..5], [(8, 128), (8, 144), (8, 160)]);
        assert_eq!(shares[10..], [(8, 256), (24, 256), (8, 256), (24, 256)]);
        let good_times = [&[Late; 4][..], &[InTime; 40]].concat();
        assert_eq!(after(&good_times).last(), Some(&(256, 256)));
    }

    #[test]
    fn a_turnstile_lets_its_share_through_evenly() {
        for share in [8, 64, 200, 255, 256] {
            let turnstile = Turnstile::default();
            turnstile.share.store(share, Ordering::Relaxed);
            turnstile.came.store(u32::MAX - 300, Ordering::Relaxed);
            for _ in 0..4 {
                let let_in = (0..256).filter(|_| turnstile.admits()).count();
                assert_eq!(let_in, share as usize);
            }
        }
    }

    #[test]
    fn writes_and_reads_have_shares_of_their_own() {
        let lateness = Lateness::new(WAIT);
        lateness.admit(Shares::LEAST);
        let refused = |method: &Method| (0..256).filter(|_| lateness.refuses(method)).count();
        assert_eq!(
            [Method::POST, Method::PUT, Method::GET, Method::HEAD].map(|method| refused(&method)),
            [248, 248, 192, 192]
        );
    }

    #[tokio::test]
    async fn letters_arrive_and_a_runtime_at_rest_refuses_nobody() {
        let lateness = Lateness::new(WAIT);
        let looked = async {
            for _ in 0..20 {
                assert!(!lateness.refuses(&Method::POST));
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::select! { () = lateness.measure() => {}, () = looked => {} }
    }

    #[tokio::test]
    #[expect(clippy::disallowed_methods, reason = "a worker that is blocked is what this is about")]
    async fn a_runtime_that_has_no_time_refuses_until_it_has() {
        let lateness = Lateness::new(Duration::from_millis(10));
        let refused = || (0..32).filter(|_| lateness.refuses(&Method::POST)).count();
        let busy = async {
            for _ in 0..10 {
                // Work that does not let anybody else run.
                std::thread::sleep(Duration::from_millis(15));
                tokio::task::yield_now().await;
            }
            assert_eq!(refused(), 31);
            while refused() > 0 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        let busy = tokio::time::timeout(Duration::from_secs(60), busy);
        tokio::select! { biased; done = busy => done.unwrap(), () = lateness.measure() => {} }
    }
}
