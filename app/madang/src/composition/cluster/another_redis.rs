//! Notices that Redis is another one than before, and has everything in it that is derived be derived again.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use madang_memory::NearReadModel;
use madang_messaging::Stop;
use madang_redis::{RankedHot, RedisEpochs};
use tracing::warn;

use crate::tasks::upkeep::every;

/// How often it is looked at: for so long readers may be shown what an older snapshot held.
const LOOK: Duration = Duration::from_secs(1);

/// Looks again and again until `stop`. A Redis that is away is looked at when it is back.
pub(super) async fn notice(
    epochs: Arc<RedisEpochs>,
    ranked: Option<Arc<RankedHot>>,
    near: Arc<NearReadModel>,
    stop: Stop,
) -> Result<(), Infallible> {
    every(LOOK, stop, async move || {
        if epochs.renew().await.unwrap_or(false) {
            warn!(
                "redis: this is not the server of before, it was restored or replaced; what it holds is loaded again from the databases"
            );
            near.forget();
            if let Some(ranked) = &ranked {
                ranked.doubt_all();
            }
        }
    })
    .await
}
