//! What each server is set to, asked on a connection of its own: for whoever tells an operator what is wrong.

use std::collections::BTreeMap;
use std::time::Duration;

use redis::{Client, IntoConnectionInfo as _, RedisResult};

use crate::RedisOptions;

/// How long a server may take to tell all.
const ANSWER_MAX: Duration = Duration::from_secs(3);

/// A server as it is.
#[derive(Debug, Clone, Default)]
pub struct NodeInspection {
    /// What it says about itself (`INFO`).
    pub info: BTreeMap<String, String>,
    /// Settings that it tells; a server that is somebody else's may keep them to itself.
    pub settings: BTreeMap<String, String>,
}

/// Asks every server of the options, in their order. Changes nothing.
pub async fn inspect(options: &RedisOptions) -> Vec<Result<NodeInspection, String>> {
    let asked = options.urls.iter().map(|url| async move {
        match tokio::time::timeout(ANSWER_MAX, node(url)).await {
            Ok(answer) => answer.map_err(|error| error.to_string()),
            Err(_) => Err(format!("no answer within {ANSWER_MAX:?}")),
        }
    });
    futures_util::future::join_all(asked).await
}

async fn node(url: &str) -> RedisResult<NodeInspection> {
    let client = Client::open(url.into_connection_info()?)?;
    let mut connection = client.get_multiplexed_async_connection().await?;
    let info: String = redis::cmd("INFO").arg("all").query_async(&mut connection).await?;
    let mut found = NodeInspection { info: pairs(&info), ..NodeInspection::default() };
    if found.info.get("cluster_enabled").is_some_and(|enabled| enabled == "1") {
        let cluster: String = redis::cmd("CLUSTER").arg("INFO").query_async(&mut connection).await?;
        found.info.extend(pairs(&cluster));
    }
    for name in ["maxmemory", "maxmemory-policy"] {
        let asked: RedisResult<BTreeMap<String, String>> =
            redis::cmd("CONFIG").arg("GET").arg(name).query_async(&mut connection).await;
        found.settings.extend(asked.unwrap_or_default());
    }
    Ok(found)
}

/// Lines of `name:value`.
fn pairs(text: &str) -> BTreeMap<String, String> {
    let pair = |line: &str| line.trim().split_once(':').map(|(name, value)| (name.to_owned(), value.to_owned()));
    text.lines().filter(|line| !line.starts_with('#')).filter_map(pair).collect()
}
