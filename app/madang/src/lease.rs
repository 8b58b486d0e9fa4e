//! Keeps the lease of the node number alive; while it cannot, the generator refuses ids by itself.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use madang_kernel::{IdGenerator, NodeLeases, StoreError};
use madang_messaging::Stop;
use tracing::{info, warn};

/// How long a lease lasts.
pub(crate) const TTL_MS: i64 = 10_000;
/// How often it is renewed.
const RENEW_MS: u64 = 3_000;
/// How soon a renewal that failed is tried again: the store may only have been busy.
const RETRY_MS: u64 = 250;

// Two renewals may fail before ids are refused.
const _: () = assert!(RENEW_MS * 3 < TTL_MS as u64);

/// Renews the lease until `stop`.
pub(crate) async fn keep(leases: Arc<dyn NodeLeases>, ids: Arc<IdGenerator>, stop: Stop) -> Result<(), Infallible> {
    let mut failing = false;
    loop {
        let wait = Duration::from_millis(if failing { RETRY_MS } else { RENEW_MS });
        tokio::select! {
            () = stop.cancelled() => return Ok(()),
            () = tokio::time::sleep(wait) => {}
        }
        match renew(leases.as_ref(), &ids).await {
            Ok(()) if failing => {
                info!("the node lease is renewed again");
                failing = false;
            }
            Ok(()) => {}
            Err(error) => {
                if !failing {
                    warn!("cannot renew the node lease, trying on: {error}");
                }
                failing = true;
            }
        }
    }
}

async fn renew(leases: &dyn NodeLeases, ids: &IdGenerator) -> Result<(), StoreError> {
    let lease = match leases.renew(ids.lease(), TTL_MS).await? {
        Some(lease) => lease,
        None => {
            warn!("the node number was taken by another process; taking a new one");
            leases.acquire(TTL_MS).await?
        }
    };
    ids.renew(lease);
    Ok(())
}

#[cfg(test)]
mod tests {
    use madang_kernel::{ArticleId, Clock as _, ManualClock, NodeId, NodeLease, ShardId, Timestamp};
    use madang_sqlite::{Sqlite, SqliteLeases, SqliteOptions};

    use super::*;

    #[tokio::test]
    async fn ids_are_issued_again_after_the_number_was_lost() {
        let data = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_800_000_000_000)));
        let database = Sqlite::open(SqliteOptions::in_directory(data.path()), clock.clone()).unwrap();
        let leases = SqliteLeases::new(database);
        let first = leases.acquire(TTL_MS).await.unwrap();
        let ids = IdGenerator::new(clock.clone(), first);
        let before: ArticleId = ids.next(ShardId::HOME).unwrap();
        // Somebody else takes the number while we are away for longer than the lease.
        clock.advance(Duration::from_secs(60));
        let theirs = leases.acquire(TTL_MS).await.unwrap();
        assert!(ids.next::<ArticleId>(ShardId::HOME).is_err());
        renew(&leases, &ids).await.unwrap();
        assert_eq!(ids.lease().from_ms, theirs.until_ms, "nothing that they may have issued is issued again");
        assert!(ids.next::<ArticleId>(ShardId::HOME).unwrap() > before);
    }

    #[tokio::test]
    async fn a_renewal_moves_the_end() {
        let data = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_800_000_000_000)));
        let database = Sqlite::open(SqliteOptions::in_directory(data.path()), clock.clone()).unwrap();
        let leases = SqliteLeases::new(database);
        let ids = IdGenerator::new(clock.clone(), leases.acquire(TTL_MS).await.unwrap());
        clock.advance(Duration::from_secs(5));
        renew(&leases, &ids).await.unwrap();
        let NodeLease { node, until_ms, .. } = ids.lease();
        assert_eq!((node, until_ms), (NodeId(0), clock.now().as_millis() + TTL_MS));
    }
}
