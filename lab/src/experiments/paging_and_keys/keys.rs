//! Primary keys: what their order costs when rows are inserted, and on disk.

use std::sync::Arc;
use std::time::{Duration, Instant};

use madang_kernel::{Clock as _, EventId, Id as _, IdGenerator, NodeId, NodeLease, ShardId, SystemClock};
use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, Value};

use crate::scratch::Scratch;

/// Rows of one statement.
const STATEMENT_ROWS: u64 = 500;
/// How long ids may be made, in milliseconds.
const LEASE_MS: i64 = 3_600_000;
/// What stands in a row beside its key.
const TEXT: &str = "what a row holds beside its key, about as long as a title";

/// A kind of key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    AutoIncrement,
    Snowflake,
    UuidV7,
    UuidV4,
}

/// What rows with a kind of key cost.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cost {
    pub(super) key: Key,
    pub(super) rows: u64,
    pub(super) took: Duration,
    pub(super) bytes: u64,
}

impl Key {
    pub(super) const ALL: [Self; 4] = [Self::AutoIncrement, Self::Snowflake, Self::UuidV7, Self::UuidV4];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::AutoIncrement => "auto-increment",
            Self::Snowflake => "Snowflake",
            Self::UuidV7 => "UUIDv7",
            Self::UuidV4 => "UUIDv4",
        }
    }

    fn table(self) -> &'static str {
        match self {
            Self::AutoIncrement => "by_auto_increment",
            Self::Snowflake => "by_snowflake",
            Self::UuidV7 => "by_uuid_v7",
            Self::UuidV4 => "by_uuid_v4",
        }
    }

    fn column(self) -> &'static str {
        match self {
            Self::AutoIncrement => "BIGINT NOT NULL AUTO_INCREMENT",
            Self::Snowflake => "BIGINT NOT NULL",
            Self::UuidV7 | Self::UuidV4 => "BINARY(16) NOT NULL",
        }
    }

    fn next(self, ids: &IdGenerator, number: u32) -> anyhow::Result<Value> {
        Ok(match self {
            // The server gives it.
            Self::AutoIncrement => Value::NULL,
            Self::Snowflake => Value::Int(ids.next::<EventId>(ShardId::for_name("rows"))?.raw()),
            Self::UuidV7 => Value::Bytes(uuid_v7(SystemClock.now().as_millis(), number, rand::random()).to_vec()),
            Self::UuidV4 => Value::Bytes(uuid_v4(rand::random()).to_vec()),
        })
    }
}

/// A UUID whose first 48 bits are milliseconds, and whose next 32 count, so that also those of one millisecond rise (RFC 9562,
/// 6.2, method 1); the rest is chance.
fn uuid_v7(unix_ms: i64, number: u32, random: u64) -> [u8; 16] {
    let time = u128::try_from(unix_ms).unwrap_or(0) << 80;
    let rest = (u128::from(number) << 42) | u128::from(random >> 22);
    // Twelve bits of the rest stand before the two of the variant.
    let (before, behind) = (rest >> 62, rest & ((1 << 62) - 1));
    with_version((time | (before << 64) | behind).to_be_bytes(), 7)
}

/// A UUID of nothing but chance.
fn uuid_v4(random: u128) -> [u8; 16] {
    with_version(random.to_be_bytes(), 4)
}

fn with_version(mut bytes: [u8; 16], version: u8) -> [u8; 16] {
    bytes[6] = (bytes[6] & 0x0f) | (version << 4);
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    bytes
}

/// Inserts so many rows with a kind of key, some hundred a statement.
pub(super) async fn insert(conn: &mut Conn, scratch: &Scratch, key: Key, rows: u64) -> anyhow::Result<Cost> {
    let (table, column) = (key.table(), key.column());
    conn.query_drop(format!("CREATE TABLE {table} (id {column} PRIMARY KEY, text VARCHAR(100) NOT NULL)")).await?;
    conn.query_drop("SET SESSION unique_checks = 1").await?;
    let now = SystemClock.now().as_millis();
    let lease = NodeLease { node: NodeId(0), from_ms: now, until_ms: now + LEASE_MS };
    let ids = IdGenerator::new(Arc::new(SystemClock), lease);
    let placeholders = vec!["(?, ?)"; usize::try_from(STATEMENT_ROWS)?].join(",");
    let statement = conn.prep(format!("INSERT INTO {table} (id, text) VALUES {placeholders}")).await?;
    let began = Instant::now();
    let mut number = 0;
    for _ in 0..rows / STATEMENT_ROWS {
        let mut values = Vec::with_capacity(placeholders.len());
        for _ in 0..STATEMENT_ROWS {
            values.push(key.next(&ids, number)?);
            number += 1;
            values.push(TEXT.into());
        }
        conn.exec_drop(&statement, values).await?;
    }
    let took = began.elapsed();
    conn.query_drop(format!("ANALYZE TABLE {table}")).await?;
    let size = "SELECT data_length FROM information_schema.tables WHERE table_schema = ? AND table_name = ?";
    let bytes: Option<u64> = conn.exec_first(size, (scratch.name(), table)).await?;
    Ok(Cost { key, rows: rows / STATEMENT_ROWS * STATEMENT_ROWS, took, bytes: bytes.unwrap_or(0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuids_carry_their_version_and_those_of_time_sort_by_it() {
        for random in [0, 1, u64::MAX] {
            let four = uuid_v4(u128::from(random) << 64 | u128::from(random));
            let seven = uuid_v7(1_700_000_000_000, u32::MAX, random);
            assert_eq!((four[6] >> 4, seven[6] >> 4), (4, 7));
            assert_eq!((four[8] >> 6, seven[8] >> 6), (0b10, 0b10));
        }
        assert!(uuid_v7(1_700_000_000_000, u32::MAX, u64::MAX) < uuid_v7(1_700_000_000_001, 0, 0));
        assert!(uuid_v7(1_700_000_000_000, 4, u64::MAX) < uuid_v7(1_700_000_000_000, 5, 0));
        assert_eq!(uuid_v7(0x0001_0203_0405, 0, 0)[..6], [0, 1, 2, 3, 4, 5]);
    }
}
