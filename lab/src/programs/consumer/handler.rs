//! What the consumer does with an event: `processed_event` and projection in one transaction, then the cache.

use std::convert::Infallible;

use async_trait::async_trait;
use madang_engine_mysql::{Mysql, MysqlEffect, MysqlInbox};
use madang_kernel::Id as _;
use madang_messaging::{Delivery, GroupId, Handled, Handler, HandlerError, Inbox as _, Outage};

use crate::domain::AccountBalanceChanged;
use crate::programs::cache::BalanceCache;
use crate::programs::crash::{CrashPoint, CrashPoints};

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
        let event: AccountBalanceChanged = serde_json::from_slice(&delivery.message.payload)
            .map_err(|error| HandlerError::Undecodable(error.to_string()))?;
        let effect = self.effect(delivery, event.clone());
        self.inbox.apply_once(&self.group, delivery.message.event_id, None, effect).await?;
        self.crash.pass(CrashPoint::AfterEffectBeforeInvalidation);
        // Also for an event that was applied before: whoever applied it may have ended before it got here. While Redis is
        // away the group waits, because a cache that was not told would go on showing what is gone.
        self.cache.invalidate(event.account_id, event.version).await.map_err(Outage::from)?;
        Ok(Handled::Done)
    }

    /// Runs inside the transaction, after the row of `processed_event`, and only if that row is new.
    fn effect(&self, delivery: &Delivery, event: AccountBalanceChanged) -> MysqlEffect {
        let (position, id) = (delivery.position.clone(), delivery.message.event_id);
        let group = self.group.clone();
        Box::new(move |mut tx| {
            let (event, position, group) = (event.clone(), position.clone(), group.clone());
            Box::pin(async move {
                let at = (position.topic, position.partition, position.offset);
                let key = (id.shard().number(), group.as_str(), id.raw());
                let source = (event.tx_id.as_str(), at.0, at.1, at.2, key.0, key.1, key.2);
                tx.execute(TELL_SOURCE, source).await?;
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
