//! A timer for deadlines that are nearly never reached: every request sets one for its head, and drops it microseconds
//! later. Entering each into the runtime's wheel and taking it out again would cost more than reading the head does, so the
//! deadlines of a connection share one alarm, which may ring too early, and is then set anew.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Instant;

use hyper::rt::{Sleep, Timer};

/// The timer of one connection.
#[derive(Default)]
pub(super) struct HeadTimer(Arc<Alarm>);

#[derive(Default)]
struct Alarm(Mutex<Option<Pin<Box<tokio::time::Sleep>>>>);

impl Timer for HeadTimer {
    fn sleep(&self, duration: std::time::Duration) -> Pin<Box<dyn Sleep>> {
        self.sleep_until(self.now() + duration)
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(Deadline { at: deadline.into(), alarm: Arc::clone(&self.0) })
    }

    fn now(&self) -> Instant {
        tokio::time::Instant::now().into_std()
    }
}

struct Deadline {
    at: tokio::time::Instant,
    alarm: Arc<Alarm>,
}

impl Sleep for Deadline {}

impl Future for Deadline {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if tokio::time::Instant::now() >= self.at {
            return Poll::Ready(());
        }
        let mut alarm = self.alarm.0.lock().unwrap_or_else(PoisonError::into_inner);
        let alarm = alarm.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(self.at)));
        // It was set for a deadline that is gone: all of a connection are as far away, so an earlier one.
        while alarm.as_mut().poll(cx).is_ready() {
            alarm.as_mut().reset(self.at);
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures_util::poll;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(10);

    #[tokio::test(start_paused = true)]
    async fn a_deadline_is_met_to_the_millisecond_however_many_were_dropped_before() {
        let (timer, started) = (HeadTimer::default(), tokio::time::Instant::now());
        for _ in 0..100 {
            let mut dropped = timer.sleep(LIMIT);
            assert!(poll!(&mut dropped).is_pending());
            tokio::time::advance(Duration::from_millis(700)).await;
        }
        timer.sleep(LIMIT).await;
        assert_eq!(started.elapsed(), Duration::from_millis(70_000) + LIMIT);
    }

    #[tokio::test(start_paused = true)]
    async fn a_deadline_that_has_passed_is_not_waited_for() {
        let timer = HeadTimer::default();
        let mut passed = timer.sleep(LIMIT);
        tokio::time::advance(LIMIT).await;
        assert!(poll!(&mut passed).is_ready());
    }
}
