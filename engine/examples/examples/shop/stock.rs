//! The stock service: takes what was ordered out of stock, each order once, however often its event is delivered.

use std::convert::Infallible;
use std::sync::Arc;

use async_trait::async_trait;
use madang_engine_kafka::KafkaLog;
use madang_engine_mysql::{Database, Mysql, MysqlEffect, MysqlInbox, MysqlOptions, SqlError, bytes, transact};
use madang_kernel::{ShardId, StoreError, SystemClock};
use madang_messaging::{
    Applied, Consumer, ConsumerConfig, Delivery, GroupId, Handled, Handler, HandlerError, Inbox, OnError, Supervisor,
};

use super::orders::{OrderPlaced, TOPIC};

mod tables {
    refinery::embed_migrations!("migrations/stock");
}

/// The service. It reports no events of its own.
pub(crate) struct Stock {
    db: Mysql<Infallible>,
}

impl Stock {
    /// Opens the database, and starts the consumer.
    pub(crate) async fn open(options: &MysqlOptions, log: &KafkaLog, tasks: &Supervisor) -> anyhow::Result<Self> {
        let database = Database::new("stock").with_migrations("schema_stock", tables::migrations::runner);
        let db = Mysql::open(options, database, Arc::new(SystemClock)).await?;
        let config = ConsumerConfig::new(group(), vec![TOPIC.to_owned()]);
        // Its topics, with those of its retries and dead letters.
        log.prepare(std::slice::from_ref(&config)).await?;
        let handler = Arc::new(TakeFromStock { inbox: MysqlInbox::new(&db) });
        let consumer = Consumer::new(config, Arc::new(log.clone()), handler, Arc::new(SystemClock));
        tasks.spawn("stock", OnError::Restart, move |stop| consumer.clone().run(stop));
        Ok(Self { db })
    }

    /// Sets how many of a thing are in stock.
    pub(crate) async fn put(&self, sku: &str, quantity: i32) -> Result<(), StoreError> {
        const PUT: &str =
            "INSERT INTO stock (sku, quantity) VALUES (?, ?) ON DUPLICATE KEY UPDATE quantity = VALUES(quantity)";
        let row = vec![bytes(sku), quantity.into()];
        let put: Result<u64, SqlError> = transact!(self.db, ShardId::for_name(sku), |tx| tx.write(PUT, row.clone()));
        Ok(put.map(drop)?)
    }

    /// What is left of a thing.
    pub(crate) async fn left(&self, sku: &str) -> Result<i32, StoreError> {
        const LEFT: &str = "SELECT quantity FROM stock WHERE sku = ?";
        let found = self.db.read(self.db.server_of(ShardId::for_name(sku)), LEFT, vec![bytes(sku)]).await?;
        let Some(mut row) = found.into_iter().next() else { return Ok(0) };
        Ok(row.next()?)
    }

    /// Closes the database.
    pub(crate) async fn close(&self) {
        self.db.close().await;
    }
}

/// The consumer group: who shares its offsets, its retries and its dead letters.
pub(crate) fn group() -> GroupId {
    GroupId::new("stock")
}

struct TakeFromStock {
    inbox: MysqlInbox,
}

impl TakeFromStock {
    async fn take(&self, delivery: &Delivery) -> Result<Handled, HandlerError> {
        // What cannot be read goes to the dead letters at once, as it came.
        let order: OrderPlaced = serde_json::from_slice(&delivery.message.payload)
            .map_err(|error| HandlerError::Undecodable(error.to_string()))?;
        let (order_id, sku, quantity) = (order.order_id, order.sku.clone(), order.quantity);
        let effect: MysqlEffect = Box::new(move |mut tx| {
            let taken = (order.quantity, order.sku.clone());
            Box::pin(async move {
                tx.execute("UPDATE stock SET quantity = quantity - ? WHERE sku = ?", taken).await?;
                Ok(())
            })
        });
        // One transaction: the row in `processed_event`, and the effect only if that row is new.
        let applied = self.inbox.apply_once(&group(), delivery.message.event_id, None, effect).await?;
        match applied {
            Applied::Now => println!("stock: order {order_id} takes {quantity} of {sku}"),
            Applied::Before => println!("stock: order {order_id} came again, and is left alone"),
        }
        Ok(Handled::Done)
    }
}

#[async_trait]
impl Handler for TakeFromStock {
    async fn handle(&self, deliveries: &[Delivery]) -> Vec<Result<Handled, HandlerError>> {
        let mut outcomes = Vec::with_capacity(deliveries.len());
        for delivery in deliveries {
            outcomes.push(self.take(delivery).await);
        }
        outcomes
    }
}
