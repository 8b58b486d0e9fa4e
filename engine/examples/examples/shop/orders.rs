//! The order service: writes an order and the event that tells of it in one transaction, and a relay carries the event to
//! Kafka. Nothing is sent inside the transaction, and nothing committed is lost: without a broker events wait in the outbox.

use std::sync::Arc;

use madang_engine_kafka::KafkaLog;
use madang_engine_mysql::{Database, Decided, Fold, Lanes, Mysql, MysqlOptions, MysqlOutbox, SqlError, Tx, bytes};
use madang_kernel::{Clock, EventId, Id, IdGenerator, NodeId, NodeLease, ShardId, StoreError, SystemClock, Timestamp};
use madang_messaging::{Assignment, Message, OnError, Outage, Outbox as _, Relay, RelayConfig, Supervisor, ToMessage};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

madang_kernel::ids! {
    /// An order.
    OrderId,
}

/// Where this service publishes.
pub(crate) const TOPIC: &str = "order.v1";
/// An hour; a program with several processes leases its node number instead (`MysqlLeases`).
const LEASE_MS: i64 = 3_600_000;

mod tables {
    refinery::embed_migrations!("migrations/orders");
}

/// What others are told of an order: the payload of the event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OrderPlaced {
    pub(crate) order_id: OrderId,
    pub(crate) sku: String,
    pub(crate) quantity: u32,
}

/// The event as the program has it. The engine turns it into a message, and keeps the value for who follows commits.
#[derive(Debug, Clone)]
pub(crate) struct OrderEvent {
    event_id: EventId,
    occurred_at: Timestamp,
    order: OrderPlaced,
}

impl ToMessage for OrderEvent {
    fn to_message(&self) -> Message {
        Message {
            event_id: self.event_id,
            topic: TOPIC.to_owned(),
            // Messages of one key keep their order: here, all that concerns one thing in stock.
            key: self.order.sku.clone(),
            shard: self.order.order_id.shard(),
            occurred_at: self.occurred_at,
            headers: vec![("type".to_owned(), "order.placed".to_owned())],
            payload: serde_json::to_vec(&self.order).unwrap_or_default().into(),
        }
    }
}

/// Decides calls. Concurrent ones are folded into one transaction by the engine: they come as a slice.
struct PlaceOrders;

impl Fold for PlaceOrders {
    type Call = OrderEvent;
    type Answer = OrderId;
    type Event = OrderEvent;

    fn shard(call: &OrderEvent) -> ShardId {
        call.order.order_id.shard()
    }

    async fn decide(&self, tx: &mut Tx<'_>, calls: &[OrderEvent]) -> Result<Decided<OrderId, OrderEvent>, SqlError> {
        const INSERT: &str = "INSERT INTO orders (shard, order_id, sku, quantity) VALUES (?, ?, ?, ?)";
        let mut decided = Decided::without_events(Vec::new());
        for call in calls {
            let OrderPlaced { order_id: id, sku, quantity } = &call.order;
            let row = vec![id.shard().number().into(), id.raw().into(), bytes(sku.as_str()), (*quantity).into()];
            tx.write(INSERT, row).await?;
            decided.decisions.push(Ok(*id));
            // Goes into the outbox in this transaction: order and event commit together, or neither does.
            decided.events.push(call.clone());
        }
        Ok(decided)
    }
}

/// The service.
pub(crate) struct Orders {
    db: Mysql<OrderEvent>,
    outbox: Arc<MysqlOutbox>,
    lanes: Lanes<PlaceOrders>,
    ids: IdGenerator,
}

impl Orders {
    /// Opens the database, and starts the relay that publishes what is committed.
    pub(crate) async fn open(options: &MysqlOptions, log: &KafkaLog, tasks: &Supervisor) -> anyhow::Result<Self> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let database = Database::new("orders").with_migrations("schema_orders", tables::migrations::runner);
        let db = Mysql::open(options, database, clock.clone()).await?;
        // One process serves every shard; several share them by a `Coordinator`.
        let (_, all_shards) = watch::channel(Assignment::ALL);
        let outbox = Arc::new(MysqlOutbox::new(&db));
        let (relay, hand_over) =
            Relay::new(RelayConfig::default(), outbox.clone(), Arc::new(log.clone()), all_shards, clock.clone());
        db.hand_over_to(hand_over);
        tasks.spawn("relay", OnError::Restart, move |stop| relay.clone().run(stop));
        let now = clock.now().as_millis();
        let ids = IdGenerator::new(clock, NodeLease { node: NodeId(0), from_ms: now, until_ms: now + LEASE_MS });
        Ok(Self { lanes: Lanes::start(&db, PlaceOrders), db, outbox, ids })
    }

    /// Places an order. Once this returns, the order is committed and its event will be published.
    pub(crate) async fn place(&self, sku: &str, quantity: u32) -> Result<OrderId, StoreError> {
        let shard = ShardId::for_name(sku);
        let next = |error| StoreError::unavailable("ids", format!("{error}"));
        let order_id: OrderId = self.ids.next(shard).map_err(next)?;
        let event_id = self.ids.next(shard).map_err(next)?;
        let order = OrderPlaced { order_id, sku: sku.to_owned(), quantity };
        self.lanes.call(OrderEvent { event_id, occurred_at: SystemClock.now(), order }).await
    }

    /// How many events wait in the outbox.
    pub(crate) async fn unsent(&self) -> Result<u64, Outage> {
        Ok(self.outbox.backlog().await?.unsent)
    }

    /// Closes the database; what was not published is published after the next start.
    pub(crate) async fn close(&self) {
        self.db.close().await;
    }
}
