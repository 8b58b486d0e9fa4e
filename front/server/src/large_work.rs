//! Work on large answers, off the async workers and a few at a time: rendering or compressing half a megabyte takes a core
//! for milliseconds, and every request that waits for the same worker would wait with it.

use std::sync::LazyLock;
use std::thread::available_parallelism;

use tokio::sync::Semaphore;

/// From here on work on an answer is handed over; below, handing over would take longer.
pub const LARGE_BYTES: usize = 64 * 1_024;

/// Half of the cores at most: the rest is for whoever asks for something small.
static PERMITS: LazyLock<Semaphore> =
    LazyLock::new(|| Semaphore::new((available_parallelism().map_or(1, usize::from) / 2).max(1)));

/// Waits for a permit, has a job done on a thread that may block, and gives its result; `None` when it panicked.
pub async fn run_large<T: Send + 'static>(job: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    // Requests that wait here are in flight, and so bounded and timed by admission control.
    let permit = PERMITS.acquire().await;
    let working = tokio::task::spawn_blocking(move || {
        // Given back when the work is done, also if nobody waits for it any more.
        let _permit = permit;
        job()
    });
    working.await.ok()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::future::join_all;

    use super::*;

    #[tokio::test]
    async fn few_run_at_once_and_a_panic_is_told() {
        let permits = PERMITS.available_permits();
        let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let job = || {
            let (running, most) = (running.clone(), most.clone());
            run_large(move || {
                most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                std::thread::yield_now();
                running.fetch_sub(1, Ordering::SeqCst);
            })
        };
        assert!(join_all((0..64).map(|_| job())).await.iter().all(Option::is_some));
        assert!(most.load(Ordering::SeqCst) <= permits, "{most:?} of {permits}");
        assert_eq!(run_large(|| -> u8 { panic!("on purpose") }).await, None);
        assert_eq!(PERMITS.available_permits(), permits);
    }
}
