//! Limits that the processes of a cluster share: their buckets are in Redis.

use std::time::Duration;

use async_trait::async_trait;
use madang_engine_redis::RedisBuckets;
use madang_kernel::StoreError;
use madang_server::{Bucket, Portion, SharedBuckets};

/// The buckets of the cluster.
pub(super) struct ClusterBuckets(pub(super) RedisBuckets);

#[async_trait]
impl SharedBuckets for ClusterBuckets {
    async fn take_up_to(&self, name: &str, bucket: Bucket, count: u32) -> Result<Portion, StoreError> {
        let bucket = madang_engine_redis::Bucket { per_second: bucket.tokens_per_second(), burst: bucket.burst() };
        let (tokens, retry_after_ms) = self.0.take_up_to(name, bucket, count).await?;
        Ok(Portion { tokens, retry_after: Duration::from_millis(retry_after_ms) })
    }
}
