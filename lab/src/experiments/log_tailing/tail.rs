//! Tailing: the binary log, read as a replica reads it. It holds what is committed, in the order of the commits, and nobody
//! asks the tables.

use std::path::Path;

use anyhow::Context as _;
use futures_util::{FutureExt as _, StreamExt as _};
use mysql_async::binlog::events::{Event as LogEvent, EventData, RowsEventData, TableMapEvent};
use mysql_async::binlog::row::BinlogRow;
use mysql_async::prelude::FromValue;
use mysql_async::{BinlogStreamRequest, Conn, Value};

use super::kafka::Publisher;
use super::outbox::Event;
use super::programs::{save, saved};

/// The table whose rows are published.
const TABLE: &str = "outbox";
/// Events published at once.
const BATCH_MAX: usize = 500;

/// A place in the binary log: the file, and where in it the next event begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) file: String,
    pub(super) position: u64,
}

impl Place {
    pub(super) fn text(&self) -> String {
        format!("{} {}", self.file, self.position)
    }

    pub(super) fn read(text: &str) -> Option<Self> {
        let (file, position) = text.split_once(' ')?;
        Some(Self { file: file.to_owned(), position: position.parse().ok()? })
    }
}

/// Follows the log from the saved place, and saves the place behind transactions once their rows are published: as many at a time
/// as are there.
pub(super) async fn follow(conn: Conn, publisher: &Publisher, database: &str, state: &Path) -> anyhow::Result<()> {
    let mut place = saved(state)?.as_deref().and_then(Place::read).context("where in the log to begin is not known")?;
    // A number that no replica has: the server ends the older of two with the same.
    let server_id = 1_000_000 + rand::random::<u32>() % 1_000_000;
    let request = BinlogStreamRequest::new(server_id).with_filename(place.file.as_bytes()).with_pos(place.position);
    let mut stream = conn.get_binlog_stream(request).await?;
    let (mut committed, mut open) = (Vec::new(), Vec::new());
    loop {
        // Waits only when there is nothing left to publish.
        let next = stream.next().now_or_never();
        let next = match next {
            None if !committed.is_empty() => {
                publish_until(publisher, &mut committed, state, &place)?;
                continue;
            }
            None => stream.next().await,
            Some(next) => next,
        };
        let event = next.context("the server ended the log")??;
        match event.read_data()? {
            // The server also makes one up when it begins a file; before it has said whether events carry a checksum, that of
            // this one is taken for the end of the name. It tells nothing new.
            Some(EventData::RotateEvent(rotate)) if behind(&event) > 0 => {
                place = Place { file: rotate.name().into_owned(), position: rotate.position() };
            }
            Some(EventData::RowsEvent(rows)) => {
                let table = stream.get_tme(rows.table_id()).context("rows of a table that was not described")?;
                if is_ours(table, database) {
                    open.extend(inserted(&rows, table)?);
                }
            }
            Some(EventData::XidEvent(_)) => {
                place.position = behind(&event);
                committed.append(&mut open);
                if committed.len() >= BATCH_MAX {
                    publish_until(publisher, &mut committed, state, &place)?;
                }
            }
            // What MariaDB has beside MySQL (GTIDs of its own, checkpoints) concerns only replicas.
            _ => {}
        }
    }
}

/// Publishes what is committed, and saves the place behind it: dead in between, it publishes it again.
fn publish_until(publisher: &Publisher, committed: &mut Vec<Event>, state: &Path, place: &Place) -> anyhow::Result<()> {
    publisher.publish(committed)?;
    committed.clear();
    save(state, &place.text())
}

fn is_ours(table: &TableMapEvent<'_>, database: &str) -> bool {
    table.database_name() == database && table.table_name() == TABLE
}

/// Where the event behind this one begins; 0 of one that is not in the log, but made up for this connection.
fn behind(event: &LogEvent) -> u64 {
    u64::from(event.header().log_pos())
}

/// Rows that were inserted; the column order is that of the table.
fn inserted(rows: &RowsEventData<'_>, table: &TableMapEvent<'_>) -> anyhow::Result<Vec<Event>> {
    let mut events = Vec::new();
    if !matches!(rows, RowsEventData::WriteRowsEvent(_) | RowsEventData::WriteRowsEventV1(_)) {
        return Ok(events);
    }
    for row in rows.rows(table) {
        if let (_, Some(mut after)) = row? {
            let event =
                Event { id: value(&mut after, 0)?, account: value(&mut after, 1)?, version: value(&mut after, 2)? };
            events.push(event);
        }
    }
    Ok(events)
}

fn value<T: FromValue>(row: &mut BinlogRow, column: usize) -> anyhow::Result<T> {
    let found = row.take(column).with_context(|| format!("a row without column {column}"))?;
    let value = Value::try_from(found)?;
    T::from_value_opt(value).with_context(|| format!("column {column} is of another type"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_was_saved() {
        let place = Place { file: "binlog.000012".to_owned(), position: 4_711 };
        assert_eq!(Place::read(&place.text()), Some(place));
        assert_eq!(Place::read("binlog.000012"), None);
    }
}
