//! Keeps the lease of the node number alive; while it cannot, the generator refuses ids by itself.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use madang_kernel::{IdGenerator, NodeLeases, StoreError};
use madang_messaging::Stop;
use tracing::{info, warn};

/// A lease is renewed so often that three renewals may fail before it ends.
const RENEWALS_A_LEASE: i64 = 4;
/// And at least so often: a new holder of the number has to start above the end.
const RENEW_MAX_MS: i64 = 10_000;
/// How soon a renewal that failed is tried again: the store may only have been busy.
const RETRY_MS: u64 = 250;

/// Renews the lease until `stop`.
pub(crate) async fn keep(
    leases: Arc<dyn NodeLeases>,
    ids: Arc<IdGenerator>,
    ttl_ms: i64,
    stop: Stop,
) -> Result<(), Infallible> {
    let renew_ms = (ttl_ms / RENEWALS_A_LEASE).clamp(1, RENEW_MAX_MS).unsigned_abs();
    let mut failing = ids.lease().until_ms == 0;
    loop {
        let wait = Duration::from_millis(if failing { RETRY_MS } else { renew_ms });
        tokio::select! {
            () = stop.cancelled() => return Ok(()),
            () = tokio::time::sleep(wait) => {}
        }
        match renew(leases.as_ref(), &ids, ttl_ms).await {
            Ok(()) if failing => {
                info!("the node lease was renewed, so boards, articles and comments can be created again");
                failing = false;
            }
            Ok(()) => {}
            Err(error) => {
                if !failing {
                    warn!(
                        "cannot renew the node lease, retrying every {RETRY_MS} ms; nothing can be created once it has expired: {error}"
                    );
                }
                failing = true;
            }
        }
    }
}

async fn renew(leases: &dyn NodeLeases, ids: &IdGenerator, ttl_ms: i64) -> Result<(), StoreError> {
    let lease = match leases.renew(ids.lease(), ttl_ms).await? {
        Some(lease) => lease,
        None => {
            if ids.lease().until_ms > 0 {
                warn!("the node lease expired and another process has its number, leasing another number");
            }
            leases.acquire(ttl_ms).await?
        }
    };
    ids.renew(lease);
    Ok(())
}

#[cfg(test)]
mod tests {
    use madang_board::ArticleId;
    use madang_kernel::{Clock as _, ManualClock, NodeId, NodeLease, ShardId, Timestamp};
    use madang_sqlite::{SqliteLeases, SqliteOptions};

    use super::*;

    const TTL_MS: i64 = 10_000;

    #[tokio::test]
    async fn ids_are_issued_again_after_the_number_was_lost() {
        let data = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_800_000_000_000)));
        let database = madang_sqlite::open(SqliteOptions::in_directory(data.path()), clock.clone()).unwrap();
        let leases = SqliteLeases::new(database);
        let first = leases.acquire(TTL_MS).await.unwrap();
        let ids = IdGenerator::new(clock.clone(), first);
        let before: ArticleId = ids.next(ShardId::HOME).unwrap();
        // Somebody else takes the number while we are away for longer than the lease.
        clock.advance(Duration::from_secs(60));
        let theirs = leases.acquire(TTL_MS).await.unwrap();
        assert!(ids.next::<ArticleId>(ShardId::HOME).is_err());
        renew(&leases, &ids, TTL_MS).await.unwrap();
        assert_eq!(ids.lease().from_ms, theirs.until_ms, "nothing that they may have issued is issued again");
        assert!(ids.next::<ArticleId>(ShardId::HOME).unwrap() > before);
    }

    #[tokio::test]
    async fn a_renewal_moves_the_end() {
        let data = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_800_000_000_000)));
        let database = madang_sqlite::open(SqliteOptions::in_directory(data.path()), clock.clone()).unwrap();
        let leases = SqliteLeases::new(database);
        let ids = IdGenerator::new(clock.clone(), leases.acquire(TTL_MS).await.unwrap());
        clock.advance(Duration::from_secs(5));
        renew(&leases, &ids, TTL_MS).await.unwrap();
        let NodeLease { node, until_ms, .. } = ids.lease();
        assert_eq!((node, until_ms), (NodeId(0), clock.now().as_millis() + TTL_MS));
    }
}
