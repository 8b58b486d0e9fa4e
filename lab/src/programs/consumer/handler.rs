//! What the consumer does with an event: `processed_event` and projection in one transaction, then the cache.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use madang_engine_mysql::{Mysql, MysqlEffect, MysqlInbox};
use madang_kernel::Id as _;
use madang_messaging::{Delivery, GroupId, Handled, Handler, HandlerError, Inbox as _, Outage};

use crate::domain::AccountBalanceChanged;
use crate::programs::cache::BalanceCache;
use crate::programs::crash::{CrashPoint, CrashPoints};

const CLAIM: &str = include_str!("../../../sql/projection/claim.sql");
const TELL_SOURCE: &str = include_str!("../../../sql/projection/tell_source.sql");
const APPLY: &str = include_str!("../../../sql/projection/apply.sql");

pub(super) struct ApplyToProjection {
    inbox: MysqlInbox,
    cache: BalanceCache,
    group: GroupId,
    crash: CrashPoints,
}

impl ApplyToProjection {
    pub(super) fn new(db: &Mysql<Infallible>, cache: BalanceCache, group: GroupId, crash: CrashPoints) -> Self {
        Self { inbox: MysqlInbox::new(db), cache, group, crash }
    }

    async fn apply(&self, delivery: &Delivery) -> Result<Handled, HandlerError> {
        let event = AccountBalanceChanged::from_message(&delivery.message)
            .map_err(|defect| HandlerError::Undecodable(defect.to_string()))?;
        let known = Arc::new(AtomicBool::new(false));
        let effect = self.effect(delivery, event.clone(), known.clone());
        let applied = self.inbox.apply_once(&self.group, delivery.message.event_id, None, effect).await;
        if known.load(Ordering::Relaxed) {
            // Nothing is left of the attempt, and there is nothing to tell the cache.
            tracing::warn!(
                "{} was applied before, under another event id than {}",
                event.tx_id,
                delivery.message.event_id
            );
            return Ok(Handled::Done);
        }
        applied?;
        self.crash.pass(CrashPoint::AfterEffectBeforeInvalidation);
        // Also for an event that was applied before: whoever applied it may have ended before it got here. While Redis is
        // away the group waits, because a cache that was not told would go on showing what is gone.
        self.cache.invalidate(event.account_id, event.version).await.map_err(Outage::from)?;
        Ok(Handled::Done)
    }

    /// Runs inside the transaction, after the row of `processed_event`, and only if that row is new. Sets `known`, and has the
    /// transaction rolled back, when the group has applied the event's `tx_id` under another event id.
    fn effect(&self, delivery: &Delivery, event: AccountBalanceChanged, known: Arc<AtomicBool>) -> MysqlEffect {
        let (position, id) = (delivery.position.clone(), delivery.message.event_id);
        let group = self.group.clone();
        Box::new(move |mut tx| {
            let (event, position, group, known) = (event.clone(), position.clone(), group.clone(), known.clone());
            Box::pin(async move {
                let at = (position.topic, position.partition, position.offset);
                let key = (id.shard().number(), group.as_str(), id.raw());
                let name = event.tx_id.as_str();
                tx.execute(CLAIM, (name, key.0, key.1, key.2)).await?;
                if tx.execute(TELL_SOURCE, (at.0, at.1, at.2, key.0, key.1, key.2, name)).await? == 0 {
                    known.store(true, Ordering::Relaxed);
                    return Err(HandlerError::Failed(format!("{name} was applied before")).into());
                }
                let account = event.account_id.number();
                let values = (account, event.balance, event.version, event.amount, account);
                if tx.execute(APPLY, values).await? == 0 {
                    return Err(HandlerError::Failed(format!("account {account} is on hold")).into());
                }
                Ok(())
            })
        })
    }
}

#[async_trait]
impl Handler for ApplyToProjection {
    async fn handle(&self, deliveries: &[Delivery]) -> Vec<Result<Handled, HandlerError>> {
        let mut outcomes = Vec::with_capacity(deliveries.len());
        for delivery in deliveries {
            outcomes.push(self.apply(delivery).await);
        }
        outcomes
    }
}
