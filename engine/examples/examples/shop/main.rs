//! A shop in two services that share no database and never call one another: transactional messaging as a program of yours
//! would use it, on `madang-messaging`, `madang-engine-mysql` and `madang-engine-kafka`, and nothing of the board.
//!
//! `orders.rs` writes an order and its event in one transaction and relays the event to Kafka; `stock.rs` consumes it, once.
//! Start servers and run it:
//!
//! ```text
//! cargo xtask stack up && eval "$(cargo xtask stack env)"
//! cargo run -p madang-engine-examples --example shop
//! ```

mod orders;
mod stock;

use std::time::Duration;

use anyhow::{Context as _, bail};
use madang_engine_kafka::{KafkaLog, KafkaOptions};
use madang_engine_mysql::{MysqlOptions, ServerOptions};
use madang_messaging::{EventLog as _, GroupId, Polled, Supervisor};
use orders::{Orders, TOPIC};
use stock::Stock;

/// How long the tasks may take to finish what they have in hand.
const STOP_MAX: Duration = Duration::from_secs(10);

#[tokio::main]
#[allow(dead_code, reason = "the test of this program includes it as a module")]
async fn main() -> anyhow::Result<()> {
    let mysql = std::env::var("MADANG_TEST_MYSQL").context("MADANG_TEST_MYSQL names no server")?;
    let kafka = std::env::var("MADANG_TEST_KAFKA").context("MADANG_TEST_KAFKA names no broker")?;
    let shop = Shop::open("shop", mysql.split(',').next().unwrap_or_default(), &kafka).await?;
    shop.stock.put("pencil", 100).await?;
    for quantity in [1, 2, 3] {
        let order = shop.orders.place("pencil", quantity).await?;
        println!("orders: {order} is placed, for {quantity} pencils");
    }
    while shop.has_backlog().await? {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    println!("{} pencils are left", shop.stock.left("pencil").await?);
    shop.close().await;
    Ok(())
}

/// Both services in one process; each could have processes of its own.
pub(crate) struct Shop {
    pub(crate) orders: Orders,
    pub(crate) stock: Stock,
    log: KafkaLog,
    tasks: Supervisor,
}

impl Shop {
    /// Opens both services. `name` starts the names of their databases, topics and groups.
    pub(crate) async fn open(name: &str, mysql: &str, kafka: &str) -> anyhow::Result<Self> {
        let server = ServerOptions { url: mysql.to_owned(), shards: "0-63".to_owned() };
        let mysql = MysqlOptions { database_prefix: name.to_owned(), ..MysqlOptions::new(vec![server]) };
        let topics = vec![TOPIC.to_owned()];
        let log = KafkaLog::connect(KafkaOptions {
            prefix: format!("{name}."),
            topics,
            partitions: 4,
            ..KafkaOptions::new("shop", kafka)
        })
        .await?;
        let tasks = Supervisor::new("shop");
        let stock = Stock::open(&mysql, &log, &tasks).await?;
        let orders = Orders::open(&mysql, &log, &tasks).await?;
        Ok(Self { orders, stock, log, tasks })
    }

    /// Whether anything committed has not been applied: it waits in the outbox, or in the log for its consumer.
    pub(crate) async fn has_backlog(&self) -> anyhow::Result<bool> {
        Ok(self.orders.unsent().await? > 0 || self.log.lag(&stock::group(), &[TOPIC.to_owned()]).await? > 0)
    }

    /// Publishes the oldest event again, as a relay does that lost the answer of its broker.
    #[allow(dead_code, reason = "only the test does so")]
    pub(crate) async fn publish_again(&self) -> anyhow::Result<()> {
        let mut reader = self.log.subscribe(&GroupId::new("doubling"), &[TOPIC.to_owned()]).await?;
        let Polled::Deliveries(oldest) = reader.poll(1, Duration::from_secs(60)).await? else { bail!("no event") };
        let messages: Vec<_> = oldest.into_iter().map(|delivery| delivery.message).collect();
        self.log.publish(&messages).await?;
        Ok(())
    }

    /// Stops the tasks, which finish what they have in hand, then closes what they stand on.
    pub(crate) async fn close(self) {
        self.tasks.shutdown(STOP_MAX).await;
        self.log.close(STOP_MAX).await;
        self.orders.close().await;
        self.stock.close().await;
    }
}
