//! The two ends of a copy: the file of a site, and the databases of a cluster; and how a row of one reads at the other.

use std::sync::Arc;

use anyhow::{Context as _, bail};
use madang_kernel::{Clock, SystemClock};
use madang_mysql::{ImportCell, Mysql, MysqlImport, Service};
use madang_sqlite::{ExportRow, ExportState, Sqlite, SqliteOptions};
use rusqlite::types::Value;
use sha2::{Digest as _, Sha256};

use crate::composition;
use crate::config::ClusterSettings;
use crate::config::data_directory::DataDirectory;
use crate::config::keys;

const OTHERS: [Service; 5] = [Service::Article, Service::Comment, Service::Like, Service::View, Service::HotArticle];

/// The site that moves.
pub(super) struct Source {
    pub(super) database: Sqlite,
    /// Tells this site from every other, and nothing about its keys.
    pub(super) site: String,
}

impl Source {
    pub(super) fn open(data: &DataDirectory) -> anyhow::Result<Self> {
        let site = keys::site_mark(data.path())?;
        let database = madang_sqlite::open(SqliteOptions::in_directory(data.path()), Arc::new(SystemClock))?;
        Ok(Self { database, site })
    }
}

/// Where it moves to.
pub(super) struct Target {
    pub(super) import: MysqlImport,
}

impl Target {
    pub(super) async fn open(cluster: &ClusterSettings) -> anyhow::Result<Self> {
        let (options, clock) = (composition::mysql_options(cluster), Arc::new(SystemClock) as Arc<dyn Clock>);
        let open = async |service: Service| {
            let opened = Mysql::open(&options, service, clock.clone()).await;
            opened.with_context(|| format!("cannot open the databases of {}", service.name()))
        };
        let member = open(Service::Member).await?;
        let mut others = Vec::new();
        for service in OTHERS {
            others.push((service, open(service).await?));
        }
        Ok(Self { import: MysqlImport::new(member, others) })
    }
}

/// What the site holds, in so few bytes that two states are as good as never the same. The end of its ids is left out: it
/// moves whenever somebody looks.
pub(super) fn digest(state: &ExportState) -> String {
    hex::encode(&Sha256::digest(format!("{:?}{:?}", state.counts, state.marks))[..16])
}

/// A row as the cluster takes it.
pub(super) fn cells(row: ExportRow) -> anyhow::Result<Vec<ImportCell>> {
    let cell = |value| {
        Ok(match value {
            Value::Null => ImportCell::Null,
            Value::Integer(number) => ImportCell::Int(number),
            Value::Text(text) => ImportCell::Bytes(text.into_bytes()),
            Value::Blob(bytes) => ImportCell::Bytes(bytes),
            Value::Real(_) => bail!("a column holds a floating-point number, which no table of a cluster takes"),
        })
    };
    row.into_iter().map(cell).collect()
}

/// A key as the cluster keeps it for the next run.
pub(super) fn key_text(key: &[Value]) -> anyhow::Result<Vec<u8>> {
    let part = |value: &Value| {
        Ok(match value {
            Value::Integer(number) => serde_json::Value::from(*number),
            Value::Text(text) => serde_json::Value::from(text.as_str()),
            Value::Null | Value::Real(_) | Value::Blob(_) => {
                bail!("a primary key holds neither a whole number nor text")
            }
        })
    };
    let parts = key.iter().map(part).collect::<anyhow::Result<Vec<_>>>()?;
    Ok(serde_json::to_vec(&parts)?)
}

/// The key that an earlier run kept.
pub(super) fn key_values(text: &[u8]) -> anyhow::Result<Vec<Value>> {
    let parts: Vec<serde_json::Value> = serde_json::from_slice(text).context("cannot read where the copy stopped")?;
    let value = |part: serde_json::Value| match part {
        serde_json::Value::Number(number) => {
            Ok(Value::Integer(number.as_i64().context("cannot read where the copy stopped: a number is too large")?))
        }
        serde_json::Value::String(text) => Ok(Value::Text(text)),
        other => bail!("cannot read where the copy stopped: {other} is not a key"),
    };
    parts.into_iter().map(value).collect()
}

#[cfg(test)]
mod tests {
    use madang_mysql::ImportTable;
    use madang_sqlite::{Fate, TABLES};

    use super::*;

    #[test]
    fn every_table_that_moves_has_its_place_in_a_cluster() {
        for table in TABLES {
            let moves = matches!(table.fate, Fate::Moved(_));
            assert_eq!(ImportTable::named(table.name).is_some(), moves, "{}", table.name);
        }
    }

    #[test]
    fn a_key_comes_back_as_it_was_kept() {
        let key = vec![Value::Integer(i64::MAX), Value::Text("POST /마당".to_owned()), Value::Integer(-1)];
        assert_eq!(key_values(&key_text(&key).unwrap()).unwrap(), key);
        assert!(key_text(&[Value::Null]).is_err());
        assert!(key_values(b"[1.5]").is_err() && key_values(b"{}").is_err());
    }

    #[test]
    fn a_state_does_not_change_because_somebody_looked() {
        let state = ExportState { counts: vec![("a".to_owned(), 1)], marks: vec![("b".to_owned(), 2)], ids_end_ms: 3 };
        let later = ExportState { ids_end_ms: 4, ..state.clone() };
        assert_eq!(digest(&state), digest(&later));
        let other = ExportState { marks: vec![("b".to_owned(), 3)], ..state.clone() };
        assert_ne!(digest(&state), digest(&other));
    }
}
