//! Sheds load by the scheduling delay: how long a ready task waits before the runtime polls it.
//!
//! A bound on requests in flight does not see those that wait to be read: past what the processors can do, they wait ever
//! longer, and work is done for people who have left. So a probe goes through a socket of our own, polled by the same
//! runtime as everybody's requests, and its delay decides which share of requests is admitted.

use std::time::Duration;

use axum::http::Method;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::time::Instant;

use super::shares::{Delay, ShareAdmitter, ShareControl, Shares};

/// Probes in the time that a request may wait, as long as they arrive in time.
const PROBES: u32 = 8;
/// A probe has one byte. The room behind it tells the runtime that nothing is left to read, so that it waits for the next.
const PROBE_BUFFER_BYTES: usize = 8;

/// Admits shares of requests; the probe moves them.
pub(crate) struct DelayShedder {
    delay_max: Duration,
    writes: ShareAdmitter,
    reads: ShareAdmitter,
}

impl DelayShedder {
    /// Sheds while tasks wait for longer than this. With [`Duration::MAX`] nothing is shed.
    pub(crate) fn new(delay_max: Duration) -> Self {
        Self { delay_max, writes: ShareAdmitter::default(), reads: ShareAdmitter::default() }
    }

    /// Whether a request that is taken up now should be shed.
    pub(crate) fn sheds(&self, method: &Method) -> bool {
        let admitter = if method.is_safe() { &self.reads } else { &self.writes };
        !admitter.admits()
    }

    /// Probes for as long as it is polled.
    pub(crate) async fn probe(&self) {
        if self.delay_max < Duration::MAX {
            let error = self.probe_until_error().await;
            tracing::warn!(
                "the probe of the scheduling delay failed, so no load is shed by it until the next start: {error}"
            );
            self.set(Shares::WHOLE);
        }
        std::future::pending::<()>().await;
    }

    async fn probe_until_error(&self) -> std::io::Error {
        let (mut receiver, mut sender) = match UnixStream::pair() {
            Ok(pair) => pair,
            Err(error) => return error,
        };
        let mut control = ShareControl::default();
        let delays = metrics::histogram!("madang_http_wait_seconds");
        let mut buffer = [0; PROBE_BUFFER_BYTES];
        loop {
            let sent = Instant::now();
            if let Err(error) = sender.write_all(&[1]).await {
                return error;
            }
            let mut was_counted = false;
            // Timers do not wait as requests do, so that a long delay is known before the probe is there.
            let received = loop {
                match tokio::time::timeout(self.delay_max, receiver.read(&mut buffer)).await {
                    Ok(received) => break received,
                    Err(_elapsed) => self.set(control.after(Delay::TooLong)),
                }
                was_counted = true;
            };
            if let Err(error) = received {
                return error;
            }
            let delay = sent.elapsed();
            delays.record(delay.as_secs_f64());
            if delay <= self.delay_max {
                self.set(control.after(Delay::Acceptable));
                tokio::time::sleep(self.delay_max / PROBES).await;
            } else if !was_counted {
                self.set(control.after(Delay::TooLong));
            }
        }
    }

    fn set(&self, shares: Shares) {
        self.writes.set(shares.writes);
        self.reads.set(shares.reads);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_and_reads_have_shares_of_their_own() {
        let shedder = DelayShedder::new(Duration::from_millis(100));
        shedder.set(Shares::LEAST);
        let shed = |method: &Method| (0..256).filter(|_| shedder.sheds(method)).count();
        assert_eq!(
            [Method::POST, Method::PUT, Method::GET, Method::HEAD].map(|method| shed(&method)),
            [248, 248, 192, 192]
        );
    }

    #[tokio::test]
    async fn probes_arrive_and_an_idle_runtime_sheds_nobody() {
        let shedder = DelayShedder::new(Duration::from_millis(100));
        let watched = async {
            for _ in 0..20 {
                assert!(!shedder.sheds(&Method::POST));
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::select! { () = shedder.probe() => {}, () = watched => {} }
    }

    #[tokio::test]
    #[expect(clippy::disallowed_methods, reason = "a worker that is blocked is what this is about")]
    async fn a_runtime_that_has_no_time_sheds_until_it_has() {
        let shedder = DelayShedder::new(Duration::from_millis(10));
        let shed = || (0..32).filter(|_| shedder.sheds(&Method::POST)).count();
        let busy = async {
            for _ in 0..10 {
                // Work that does not let anybody else run.
                std::thread::sleep(Duration::from_millis(15));
                tokio::task::yield_now().await;
            }
            assert_eq!(shed(), 31);
            while shed() > 0 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        let busy = tokio::time::timeout(Duration::from_secs(60), busy);
        tokio::select! { biased; done = busy => done.unwrap(), () = shedder.probe() => {} }
    }
}
