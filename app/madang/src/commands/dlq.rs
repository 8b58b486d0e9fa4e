//! `madang dlq`: look at messages that were given up, and send them on their way again.

use anyhow::bail;
use madang_messaging::{DeadLetter, DeadLetterId, Ladders, Moment, Replayed, header, replay as replay_one};

use super::output::Output;
use crate::composition::site::Site;
use crate::tasks::consumers;

/// Letters read at a time.
const BATCH: usize = 256;
/// Bytes of a payload that is no text shown as numbers.
const RAW_MAX_BYTES: usize = 4_096;

/// One line a letter, oldest first.
pub(super) async fn list(site: &Site, limit: usize, output: &Output) -> anyhow::Result<u8> {
    let mut after = None;
    let mut listed = 0;
    while listed < limit {
        let letters = site.dead_letters.list(after.as_ref(), BATCH.min(limit - listed)).await?;
        let Some(last) = letters.last() else { break };
        after = Some(last.id.clone());
        listed += letters.len();
        for letter in &letters {
            output.text(summary(letter)).await?;
        }
    }
    output.text(format!("{listed} of {} dead letters", site.dead_letters.count().await?)).await?;
    Ok(0)
}

/// Everything about one letter.
pub(super) async fn show(site: &Site, id: &str, output: &Output) -> anyhow::Result<u8> {
    let Some(letter) = site.dead_letters.find(&DeadLetterId(id.to_owned())).await? else {
        bail!("there is no dead letter {id:?}: `madang dlq list` lists them all");
    };
    let message = &letter.message;
    output.text(format!("id: {}", letter.id)).await?;
    output.text(format!("given up at: {}", letter.died_at)).await?;
    output.text(format!("event: {}", message.event_id)).await?;
    output.text(format!("topic: {}", message.topic)).await?;
    output.text(format!("key: {}", message.key)).await?;
    output.text(format!("occurred at: {}", message.occurred_at)).await?;
    for (name, value) in &message.headers {
        output.text(format!("header {name}: {value}")).await?;
    }
    output.text(payload(&message.payload)).await?;
    Ok(0)
}

/// Publishes one letter, or every one there is now, again.
pub(super) async fn replay(site: &Site, id: Option<String>, dry_run: bool, output: &Output) -> anyhow::Result<u8> {
    let mut failures = 0_u64;
    let mut done = 0_u64;
    let ids = match id {
        Some(id) => vec![DeadLetterId(id)],
        None => every_id(site).await?,
    };
    let ladders = Ladders::of(&consumers::all(site));
    for id in &ids {
        let replayed = replay_one(site.dead_letters.as_ref(), site.log.as_ref(), &ladders, id, dry_run, now(site));
        match replayed.await {
            Ok(Replayed::WouldPublish(topic)) => output.text(format!("{id}: would be sent to {topic} again")).await?,
            Ok(Replayed::Published(topic)) => output.text(format!("{id}: sent to {topic} again")).await?,
            Err(error) => {
                failures += 1;
                output.finding(format!("{id}: {error}")).await?;
                continue;
            }
        }
        done += 1;
    }
    let verb = if dry_run { "would be sent again" } else { "sent again" };
    output.text(format!("{done} {verb}, {failures} failed")).await?;
    Ok(u8::from(failures > 0))
}

/// Taken before the first replay: a letter that dies again meanwhile is not replayed for ever.
async fn every_id(site: &Site) -> anyhow::Result<Vec<DeadLetterId>> {
    let mut ids: Vec<DeadLetterId> = Vec::new();
    loop {
        let letters = site.dead_letters.list(ids.last(), BATCH).await?;
        if letters.is_empty() {
            return Ok(ids);
        }
        ids.extend(letters.into_iter().map(|letter| letter.id));
    }
}

fn now(site: &Site) -> Moment {
    // A replay only asks for the time of day; the monotonic part belongs to the machines.
    Moment::new(0, site.clock.now())
}

fn summary(letter: &DeadLetter) -> String {
    let reason = letter.message.header(header::REASON).unwrap_or("no reason recorded");
    format!("{}  {}  {}  key {}  {reason}", letter.id, letter.died_at, letter.message.topic, letter.message.key)
}

fn payload(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => format!("payload: {text}"),
        Err(_) => {
            let shown: Vec<String> = bytes.iter().take(RAW_MAX_BYTES).map(|byte| format!("{byte:02x}")).collect();
            let cut = if bytes.len() > RAW_MAX_BYTES { " ..." } else { "" };
            format!("payload, {} bytes that are not text: {}{cut}", bytes.len(), shown.join(" "))
        }
    }
}
