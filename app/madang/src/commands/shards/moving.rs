//! `madang shards move`: shards to another server, while everything runs.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::Args;
use madang_kernel::{ServerIndex, ShardId};
use madang_mysql::{MovePace, MoveProgress, Moved, Mover, Step};

use super::overview::{in_ranges, merged};
use crate::commands::output::counted;
use crate::commands::upgrade::databases;
use crate::composition;
use crate::config::ClusterSettings;

/// What is to move where.
#[derive(Debug, Args)]
pub(crate) struct MoveArgs {
    /// Shards, as numbers or ranges: 7 12-20
    #[arg(value_name = "SHARD", value_parser = range, required_unless_present = "from")]
    shards: Vec<Range>,
    /// The server that they go to, by its number in `madang shards list`
    #[arg(long, value_name = "SERVER")]
    to: u8,
    /// Every shard that this server holds: empties it, so that it can be taken away
    #[arg(long, value_name = "SERVER", conflicts_with = "shards")]
    from: Option<u8>,
    /// Only say what would be copied
    #[arg(long)]
    dry_run: bool,
    /// Rows copied in one transaction
    #[arg(long, value_name = "ROWS", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    slice: u32,
    /// Seconds for which the old copy is kept; a process that was stopped for longer reads the shard map first
    #[arg(long, value_name = "SECONDS", default_value_t = 60, hide = true)]
    release_after: u64,
}

/// Shards from the first to the last.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Range(Vec<ShardId>);

/// Moves them, and tells how far it is.
pub(super) async fn move_shards(cluster: &ClusterSettings, args: &MoveArgs) -> anyhow::Result<u8> {
    let options = composition::mysql_options(cluster);
    let shards = match args.from {
        None => args.shards.iter().flat_map(|range| range.0.iter().copied()).collect(),
        Some(server) => held_by(cluster, server).await?,
    };
    if args.from == Some(args.to) {
        bail!("server {} is to be emptied into itself: give another one with --to", args.to);
    }
    let pace = MovePace { slice_rows: args.slice as usize, release_after: Duration::from_secs(args.release_after) };
    let mut mover = Mover::open(&options, &databases(), &shards, args.to, pace).await.context("nothing was moved")?;
    if args.dry_run {
        return plan(&mut mover, args.to).await;
    }
    let mut tally = Tally::default();
    let moved = mover.run(|progress| tally.note(progress)).await;
    let moved = moved.context("the move is not finished")?;
    println!("{}", summary(&shards, args.to, &moved));
    Ok(0)
}

/// The shards that a server holds, of any service.
async fn held_by(cluster: &ClusterSettings, server: u8) -> anyhow::Result<BTreeSet<ShardId>> {
    let (options, services) = (composition::mysql_options(cluster), databases());
    let copies = madang_mysql::shard_copies(&options, &services).await;
    let maps = (0..services.len()).filter_map(|service| merged(&copies, service));
    let shards: BTreeSet<ShardId> =
        maps.flat_map(|map| map.shards_of(ServerIndex(server)).collect::<Vec<_>>()).collect();
    if !copies.iter().any(|told| told.server == server) {
        bail!("there is no server {server}; `madang shards list` shows them");
    }
    Ok(shards)
}

async fn plan(mover: &mut Mover, target: u8) -> anyhow::Result<u8> {
    let mut by_shard: BTreeMap<(ShardId, u8), u64> = BTreeMap::new();
    for (_, shard, source, rows) in mover.plan().await? {
        *by_shard.entry((shard, source)).or_default() += rows;
    }
    for ((shard, source), rows) in &by_shard {
        println!("shard {shard}: {} from server {source} to server {target}", counted(*rows, "row"));
    }
    println!("{} in all; nothing was changed", counted(by_shard.values().sum(), "row"));
    Ok(0)
}

/// Says what is worth a line: not each slice.
#[derive(Default)]
struct Tally {
    rows: u64,
    waits: bool,
}

impl Tally {
    fn note(&mut self, MoveProgress { database, shard, step, rows }: MoveProgress) {
        match step {
            Step::Begin => self.rows = 0,
            Step::Copy => self.rows += rows,
            Step::Verify => println!("{database}: shard {shard}: {} copied and compared", counted(self.rows, "row")),
            Step::Lift => println!("{database}: shard {shard}: writes go on at its old server for now"),
            Step::Restart => println!("{database}: shard {shard}: is copied anew"),
            Step::Open => println!("{database}: shard {shard}: is served by its new server"),
            Step::Wait if !self.waits => {
                self.waits = true;
                println!("old copies are kept for a while yet, then removed");
            }
            Step::Release => println!("{database}: shard {shard}: old copy removed ({})", counted(rows, "row")),
            _ => {}
        }
    }
}

fn summary(shards: &BTreeSet<ShardId>, target: u8, moved: &Moved) -> String {
    let shards: Vec<ShardId> = shards.iter().copied().collect();
    let Moved { rows, changes, longest_pause, .. } = moved;
    format!(
        "shards {} are on server {target}: {} copied, {} applied meanwhile; writes to one of them waited for {:.2} s at most",
        in_ranges(&shards),
        counted(*rows, "row"),
        counted(*changes, "change"),
        longest_pause.as_secs_f64()
    )
}

fn range(text: &str) -> Result<Range, String> {
    let wrong = || format!("\"{text}\" is no shard: write 7 or 12-20, from 0 to 63");
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str| text.parse().ok().and_then(ShardId::new).ok_or_else(wrong);
    let (first, last): (ShardId, ShardId) = (number(first)?, number(last)?);
    if last < first {
        return Err(wrong());
    }
    Ok(Range(ShardId::all().filter(|shard| (first..=last).contains(shard)).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_numbers_and_ranges() {
        let numbers = |text: &str| range(text).unwrap().0.iter().map(|shard| shard.number()).collect::<Vec<_>>();
        assert_eq!((numbers("7"), numbers("12-14"), numbers("63")), (vec![7], vec![12, 13, 14], vec![63]));
        for wrong in ["64", "-1", "3-", "5-4", "0-64", "x", ""] {
            assert!(range(wrong).unwrap_err().contains("12-20"), "{wrong}");
        }
    }

    #[test]
    fn what_was_done_is_told_in_one_line() {
        let shards = [0, 1, 2, 7].into_iter().filter_map(ShardId::new).collect();
        let moved = Moved { rows: 5, changes: 1, switched: 24, longest_pause: Duration::from_millis(349) };
        assert_eq!(
            summary(&shards, 2, &moved),
            "shards 0-2, 7 are on server 2: 5 rows copied, 1 change applied meanwhile; writes to one of them waited for \
             0.35 s at most"
        );
    }
}
