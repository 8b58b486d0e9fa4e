//! Single-flight: one load for all who ask for the same at the same time. Nobody gets one that began before they asked, so
//! whoever has just been told of a change sees it; but a thousand readers at once cost two loads, not a thousand.

use std::time::Instant;

use tokio::sync::Mutex;

/// The last load and what it gave. Whoever holds the lock is loading; should they go away, the next in line loads.
pub struct SingleFlight<T>(Mutex<Option<(Instant, T)>>);

impl<T> Default for SingleFlight<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> SingleFlight<T> {
    /// What a load gives that began after this was called. A failure is shared too: those who wait must not fail one after
    /// the other, each as slowly as the first.
    pub async fn load(&self, load: impl Future<Output = T> + Send) -> T {
        let asked = Instant::now();
        let mut last = self.0.lock().await;
        if let Some((_, loaded)) = last.as_ref().filter(|(began, _)| *began >= asked) {
            return loaded.clone();
        }
        let began = Instant::now();
        let loaded = load.await;
        *last = Some((began, loaded.clone()));
        loaded
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::future::join_all;

    use super::*;

    #[tokio::test]
    async fn many_share_a_load_that_began_after_they_asked() {
        let (flight, loads) = (SingleFlight::default(), AtomicUsize::new(0));
        let load = || async {
            let number = loads.fetch_add(1, Ordering::Relaxed);
            tokio::task::yield_now().await;
            number
        };
        let loaded = join_all((0..1_000).map(|_| flight.load(load()))).await;
        assert_eq!(loads.load(Ordering::Relaxed), 2, "the first one's, and one for all who came while it ran");
        assert_eq!(loaded[999], 1);
        assert_eq!(flight.load(load()).await, 2, "nobody gets an old one");
    }

    #[tokio::test]
    async fn whoever_goes_away_holds_nobody_up() {
        let flight = SingleFlight::default();
        let mut gone = Box::pin(flight.load(std::future::pending()));
        assert!(futures_util::poll!(&mut gone).is_pending());
        drop(gone);
        assert_eq!(flight.load(std::future::ready(7)).await, 7);
    }
}
