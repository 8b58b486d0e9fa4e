//! Two ways to publish that look complete. The first remembers the last id that it saw, and never comes back for a row that
//! commits later than one with a greater id. The second tells of a change right after its commit, and nobody else ever does.

use std::path::Path;
use std::time::Duration;

use mysql_async::Conn;
use mysql_async::prelude::Queryable as _;
use rand::SeedableRng as _;
use rand::rngs::StdRng;

use super::kafka::Publisher;
use super::outbox;
use super::programs::{POLL, rows_of, save, saved};
use crate::programs::crash::{CrashPoint, CrashPoints};

/// Polls for rows behind the last one.
pub(super) async fn cursor(mut conn: Conn, publisher: &Publisher, state: &Path) -> anyhow::Result<()> {
    let mut last: u64 = saved(state)?.and_then(|text| text.parse().ok()).unwrap_or(0);
    loop {
        let behind = "SELECT id, account, version FROM outbox WHERE id > ? ORDER BY id LIMIT 1000";
        let events = rows_of(conn.exec(behind, (last,)).await?);
        publisher.publish(&events)?;
        last = events.iter().map(|event| event.id).max().unwrap_or(last);
        save(state, &last.to_string())?;
        if events.is_empty() {
            tokio::time::sleep(POLL).await;
        }
    }
}

/// Who writes and publishes what it wrote.
pub(super) struct Writer {
    pub(super) conn: Conn,
    /// Notes what was published.
    pub(super) marking: Conn,
    pub(super) seed: u64,
    pub(super) pause: Duration,
}

/// Writes, and publishes what it has committed itself; then it notes that it did.
pub(super) async fn immediate(mut writer: Writer, publisher: &Publisher, crash: &CrashPoints) -> anyhow::Result<()> {
    let mut chance = StdRng::seed_from_u64(writer.seed);
    loop {
        let event = outbox::write(&mut writer.conn, &mut chance).await?;
        // The runner hears at once that the commit was answered: latency counts from here.
        println!("{}", event.line());
        // Dead here, it has told nobody else.
        crash.pass(CrashPoint::AfterCommitBeforeSend);
        publisher.publish(&[event])?;
        writer.marking.exec_drop("UPDATE outbox SET sent = 1 WHERE id = ?", (event.id,)).await?;
        tokio::time::sleep(writer.pause).await;
    }
}
