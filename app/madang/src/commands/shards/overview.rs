//! `madang shards list`: the servers with the shards that each holds.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use madang_kernel::{ServerIndex, ShardId, ShardOwners};
use madang_mysql::ServerCopies;

use crate::commands::output::counted;

/// The map as all servers together tell it, service by service where they differ; `None` where no server tells any.
pub(super) fn overview(services: &[&str], copies: &[ServerCopies]) -> Option<String> {
    let maps: Vec<(&str, ShardOwners)> =
        services.iter().enumerate().filter_map(|(index, service)| Some((*service, merged(copies, index)?))).collect();
    let (_, first) = maps.first()?;
    let servers = servers(copies);
    let mut text = String::new();
    if maps.iter().all(|(_, map)| map == first) {
        one(&mut text, "every service", first, &servers);
    } else {
        maps.iter().for_each(|(service, map)| one(&mut text, service, map, &servers));
    }
    Some(text)
}

fn one(text: &mut String, service: &str, map: &ShardOwners, servers: &BTreeMap<u8, String>) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "shard map of {service}, version {}:", map.version());
    for (server, address) in servers {
        let shards: Vec<ShardId> = map.shards_of(ServerIndex(*server)).collect();
        let held = if shards.is_empty() { "no shards".to_owned() } else { in_ranges(&shards) };
        let _ = writeln!(text, "  server {server} ({address}): {held} ({})", counted(shards.len() as u64, "shard"));
    }
}

/// What the servers together know of one service.
pub(super) fn merged(copies: &[ServerCopies], service: usize) -> Option<ShardOwners> {
    let mut merged: Option<ShardOwners> = None;
    for told in copies {
        let Some(Some(copy)) = told.copies.as_ref().ok().and_then(|copies| copies.get(service)) else { continue };
        let merged = merged.get_or_insert_with(|| copy.owners.clone());
        ShardId::all().for_each(|shard| merged.learn(ServerIndex(told.server), shard, copy.owners.of(shard)));
    }
    merged
}

fn servers(copies: &[ServerCopies]) -> BTreeMap<u8, String> {
    copies.iter().map(|told| (told.server, told.address.clone())).collect()
}

/// `0-31, 40`.
pub(super) fn in_ranges(shards: &[ShardId]) -> String {
    let runs = shards.chunk_by(|one, next| one.number() + 1 == next.number());
    let runs: Vec<String> = runs
        .map(|run| match run {
            [one] => one.to_string(),
            _ => format!("{}-{}", run[0], run[run.len() - 1]),
        })
        .collect();
    runs.join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::status::tests::{copies_of, moved};
    use super::*;

    #[test]
    fn one_map_is_told_once_and_an_empty_server_is_told_too() {
        let copies = copies_of(&["a:1", "b:2", "c:3"], &["0-31", "32-63", ""]);
        let text = overview(&["member", "like"], &copies).unwrap();
        assert_eq!(
            text,
            "shard map of every service, version 1:\n  server 0 (a:1): 0-31 (32 shards)\n  \
             server 1 (b:2): 32-63 (32 shards)\n  server 2 (c:3): no shards (0 shards)\n"
        );
    }

    #[test]
    fn services_that_differ_are_told_apart_and_the_latest_word_holds() {
        let mut copies = copies_of(&["a:1", "b:2"], &["0-31", "32-63"]);
        moved(&mut copies, 1, 7, 1);
        let text = overview(&["member", "like"], &copies).unwrap();
        assert!(text.contains("of member, version 1") && text.contains("of like, version 2"), "{text}");
        assert!(text.contains("server 1 (b:2): 7, 32-63 (33 shards)"), "{text}");
    }

    #[test]
    fn nothing_is_told_where_nobody_knows() {
        assert_eq!(overview(&["member"], &[]), None);
    }
}
