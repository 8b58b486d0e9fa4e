//! How much of each pool of connections is in use, shown as figures.

use std::convert::Infallible;
use std::time::Duration;

use madang_messaging::Stop;
use madang_mysql::{Mysql, Service};

use crate::tasks::upkeep::every;

/// How often pools are looked at.
const EVERY: Duration = Duration::from_secs(5);

/// Shows the pools of these databases until `stop`.
pub(super) async fn show(databases: Vec<(Service, Mysql)>, stop: Stop) -> Result<(), Infallible> {
    every(EVERY, stop, async move || {
        for (service, database) in &databases {
            for (host, pool) in database.addresses().into_iter().zip(database.pools()) {
                let labels = [("server", host), ("service", service.name().to_owned())];
                metrics::gauge!("madang_mysql_pool_connections_max", &labels).set(pool.max as f64);
                metrics::gauge!("madang_mysql_pool_waiting", &labels).set(pool.waiting as f64);
                for (state, connections) in [("used", pool.used), ("idle", pool.idle)] {
                    let [server, of] = labels.clone();
                    let labels = [server, of, ("state", state.to_owned())];
                    metrics::gauge!("madang_mysql_pool_connections", &labels).set(connections as f64);
                }
            }
        }
    })
    .await
}
