//! Two ways to publish that look complete. The first remembers the last id that it saw, and never comes back for a row that
//! commits later than one with a greater id. The second tells of a change right after its commit, and nobody else ever does.

use std::path::Path;
use std::time::Duration;

use madang_kernel::{Clock as _, SystemClock};
use mysql_async::Conn;
use mysql_async::prelude::Queryable as _;
use rand::SeedableRng as _;
use rand::rngs::StdRng;

use super::outbox::{self, Event};
use super::programs::{POLL, rows_of, save, saved};

/// Polls for rows behind the last one.
pub(super) async fn cursor(mut conn: Conn, state: &Path) -> anyhow::Result<()> {
    let mut last: u64 = saved(state)?.and_then(|text| text.parse().ok()).unwrap_or(0);
    loop {
        let behind = "SELECT id, account, version FROM outbox WHERE id > ? ORDER BY id LIMIT 1000";
        let events = rows_of(conn.exec(behind, (last,)).await?);
        for event in &events {
            println!("{}", event.line());
            last = last.max(event.id);
        }
        save(state, &last.to_string())?;
        if events.is_empty() {
            tokio::time::sleep(POLL).await;
        }
    }
}

/// Writes, and publishes what it has committed itself; then it notes that it did.
pub(super) async fn immediate(mut conn: Conn, mut marking: Conn, seed: u64, pause: Duration) -> anyhow::Result<()> {
    let mut chance = StdRng::seed_from_u64(seed);
    loop {
        let event: Event = outbox::write(&mut conn, &mut chance).await?;
        let committed_at_ms = SystemClock.now().as_millis();
        // Killed before this line, it has told nobody.
        println!("{}", event.line_of_commit_at(committed_at_ms));
        marking.exec_drop("UPDATE outbox SET sent = 1 WHERE id = ?", (event.id,)).await?;
        tokio::time::sleep(pause).await;
    }
}
