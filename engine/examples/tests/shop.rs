//! The example, on real servers: orders take from stock once, though an event is delivered twice.

#![allow(clippy::unwrap_used, reason = "the helpers of a test fail the test")]

#[path = "../examples/shop/main.rs"]
mod shop;

use std::time::{Duration, Instant};

use mysql_async::prelude::Queryable as _;
use shop::Shop;

/// Far longer than it takes, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

async fn applied(shop: &Shop) {
    let deadline = Instant::now() + PATIENCE;
    while shop.has_backlog().await.unwrap() {
        assert!(Instant::now() < deadline, "the events were never applied");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_takes_from_stock_once_though_its_event_is_delivered_twice() {
    let (mysql, kafka) = (madang_test_servers::mysql().remove(0), madang_test_servers::kafka());
    let name = format!("t{:016x}", rand::random::<u64>());
    let shop = Shop::open(&name, &mysql, &kafka).await.unwrap();
    shop.stock.put("pencil", 100).await.unwrap();
    for quantity in [1, 2, 3] {
        shop.orders.place("pencil", quantity).await.unwrap();
    }
    applied(&shop).await;
    assert_eq!(shop.stock.left("pencil").await.unwrap(), 94);
    shop.publish_again().await.unwrap();
    applied(&shop).await;
    assert_eq!(shop.stock.left("pencil").await.unwrap(), 94, "delivered twice, applied once");
    shop.close().await;

    let mut conn = mysql_async::Conn::from_url(&mysql).await.unwrap();
    let orders: Vec<u32> = conn.query(format!("SELECT quantity FROM {name}_orders.orders ORDER BY 1")).await.unwrap();
    assert_eq!(orders, [1, 2, 3]);
    for database in ["orders", "stock"] {
        conn.query_drop(format!("DROP DATABASE {name}_{database}")).await.unwrap();
    }
}
