//! Answers of the owners of events.

use std::sync::Arc;

use axum::Router;
use madang_kernel::{StoreError, Timestamp};
use madang_messaging::UnsentMessages;

use super::reply::with;
use crate::wire::{OutboxOf, UnsentAnswer, UnsentBefore};

/// The outboxes that a process can look into.
pub type Outboxes = Vec<(OutboxOf, Arc<dyn UnsentMessages>)>;

pub(super) fn routes(router: Router, outboxes: &Arc<Outboxes>) -> Router {
    with(router, outboxes, |outboxes: Arc<Outboxes>, question: UnsentBefore| async move {
        let found = outboxes.iter().find(|(of, _)| *of == question.outbox).map(|(_, outbox)| outbox);
        let outbox = found.ok_or_else(|| StoreError::unavailable("outbox", "it is not in this process"))?;
        let answer = outbox.has_unsent_before(Timestamp::from_millis(question.moment_ms)).await;
        let is_unsent = answer.map_err(|outage| StoreError::unavailable("outbox", outage.to_string()))?;
        Ok(UnsentAnswer { is_unsent })
    })
}
