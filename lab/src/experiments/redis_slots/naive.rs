//! A program that was written for one Redis: keys are named after what they hold, where each lies was looked up once, and
//! commands go to the node of their first key.

use std::collections::HashMap;

use redis::aio::MultiplexedConnection;
use redis::{RedisResult, Script};

use super::cluster::Cluster;

pub(super) struct Client {
    connections: Vec<MultiplexedConnection>,
    node_of_key: HashMap<String, usize>,
    deposit: Script,
}

impl Client {
    pub(super) async fn connect(cluster: &Cluster, accounts: u32) -> anyhow::Result<Self> {
        let mut node_of_key = HashMap::new();
        for account in 0..accounts {
            for key in [balance_key(account), version_key(account)] {
                let owner = cluster.owner(cluster.slot(&key).await?).await?;
                node_of_key.insert(key, owner);
            }
        }
        let connections = cluster.nodes.iter().map(|node| node.connection.clone()).collect();
        let deposit = Script::new("redis.call('INCRBY', KEYS[1], ARGV[1]) return redis.call('INCR', KEYS[2])");
        Ok(Self { connections, node_of_key, deposit })
    }

    fn connection(&self, key: &str) -> MultiplexedConnection {
        self.connections[self.node_of_key.get(key).copied().unwrap_or(0)].clone()
    }

    /// Balance and version in one command.
    pub(super) async fn read(&self, account: u32) -> RedisResult<(Option<i64>, Option<i64>)> {
        let (balance, version) = (balance_key(account), version_key(account));
        redis::cmd("MGET").arg(&balance).arg(&version).query_async(&mut self.connection(&balance)).await
    }

    /// Balance and version in one transaction.
    pub(super) async fn write(&self, account: u32, balance: i64, version: i64) -> RedisResult<()> {
        let (balance_key, version_key) = (balance_key(account), version_key(account));
        let mut pipeline = redis::pipe();
        pipeline.atomic().set(&balance_key, balance).set(&version_key, version);
        pipeline.exec_async(&mut self.connection(&balance_key)).await
    }

    /// Balance and version by one script.
    pub(super) async fn deposit(&self, account: u32, amount: i64) -> RedisResult<i64> {
        let (balance, version) = (balance_key(account), version_key(account));
        let mut connection = self.connection(&balance);
        self.deposit.key(&balance).key(version).arg(amount).invoke_async(&mut connection).await
    }

    /// One key alone.
    pub(super) async fn count(&self, account: u32) -> RedisResult<i64> {
        let key = balance_key(account);
        redis::cmd("INCR").arg(&key).query_async(&mut self.connection(&key)).await
    }
}

pub(super) fn balance_key(account: u32) -> String {
    format!("lab:account:{account}:balance")
}

pub(super) fn version_key(account: u32) -> String {
    format!("lab:account:{account}:version")
}
