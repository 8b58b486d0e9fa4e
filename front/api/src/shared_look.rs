//! One look for all who ask for the same at the same time. Nobody gets one that began before they asked, so whoever has just
//! been told of a change sees it; but a thousand readers at once cost two looks, not a thousand.

use std::time::Instant;

use bytes::Bytes;
use tokio::sync::Mutex;

use crate::ApiError;

/// The last look. Whoever holds the lock is looking; should they go away, the next in line looks.
#[derive(Default)]
pub struct SharedLook(Mutex<Option<Look>>);

struct Look {
    began: Instant,
    found: Result<Bytes, ApiError>,
}

impl SharedLook {
    /// What a look finds that began after this was called.
    pub(crate) async fn take(
        &self,
        look: impl Future<Output = Result<Bytes, ApiError>> + Send,
    ) -> Result<Bytes, ApiError> {
        let asked = Instant::now();
        let mut last = self.0.lock().await;
        if let Some(last) = last.as_ref().filter(|last| last.began >= asked) {
            return last.found.clone();
        }
        let began = Instant::now();
        // A failure is shared too: those who wait must not fail one after the other, each as slowly as the first.
        let found = look.await;
        *last = Some(Look { began, found: found.clone() });
        found
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::future::join_all;

    use super::*;

    #[tokio::test]
    async fn a_crowd_shares_a_look_that_began_after_they_asked() {
        let (shared, looks) = (SharedLook::default(), AtomicUsize::new(0));
        let look = || async {
            let number = looks.fetch_add(1, Ordering::Relaxed);
            tokio::task::yield_now().await;
            Ok(Bytes::from(number.to_string()))
        };
        let crowd = join_all((0..1_000).map(|_| shared.take(look()))).await;
        assert_eq!(looks.load(Ordering::Relaxed), 2, "the first one's, and one for all who came while it ran");
        assert_eq!(crowd[999].as_ref().unwrap(), "1");
        assert_eq!(shared.take(look()).await.unwrap(), "2", "nobody gets an old one");
    }

    #[tokio::test]
    async fn whoever_goes_away_holds_nobody_up_and_a_failure_is_told_to_all() {
        let shared = SharedLook::default();
        let mut gone = Box::pin(shared.take(std::future::pending()));
        assert!(futures_util::poll!(&mut gone).is_pending());
        drop(gone);
        let fails = || shared.take(std::future::ready(Err(ApiError::NotFound("list"))));
        assert!(join_all([fails(), fails()]).await.iter().all(Result::is_err));
        assert_eq!(shared.take(std::future::ready(Ok(Bytes::from("well")))).await.unwrap(), "well");
    }
}
