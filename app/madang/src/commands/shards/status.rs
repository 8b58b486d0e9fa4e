//! `madang shards status`: whether the servers agree about the map, and take writes for their shards.

use madang_kernel::{ServerIndex, ShardId};
use madang_mysql::{ServerCopies, ShardCopy, UnfinishedMove};

use super::overview::{in_ranges, merged};

/// What there is to tell.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// In order.
    pub(super) lines: Vec<String>,
    /// How many of them are problems.
    pub(super) problems: usize,
}

impl Findings {
    fn ok(&mut self, text: impl std::fmt::Display) {
        self.lines.push(format!("ok       {text}"));
    }

    fn problem(&mut self, text: impl std::fmt::Display, what_to_do: &str) {
        self.problems += 1;
        self.lines.push(format!("problem  {text}; {what_to_do}"));
    }
}

/// Compares what the servers told.
pub(super) fn status(services: &[&str], copies: &[ServerCopies]) -> Findings {
    let mut findings = Findings::default();
    for told in copies {
        server(services, copies, told, &mut findings);
    }
    let latest: Vec<_> = (0..services.len()).filter_map(|service| merged(copies, service)).collect();
    for (service, owners) in services.iter().zip(&latest) {
        let fenced: Vec<ShardId> = owners.fenced().collect();
        if !fenced.is_empty() {
            findings.problem(
                format!("{service}: shards {} take no writes", in_ranges(&fenced)),
                "they are changing hands; if no `madang shards move` is at work, run it again as below",
            );
        }
    }
    if let Some(first) = latest.first() {
        if latest.iter().all(|owners| owners == first) {
            findings.ok(format!("version {} of the shard map, the same for every service", first.version()));
        } else {
            let versions: Vec<String> = services
                .iter()
                .zip(&latest)
                .map(|(service, owners)| format!("{service} {}", owners.version()))
                .collect();
            findings.ok(format!("each service has its own version of the shard map: {}", versions.join(", ")));
        }
    }
    findings
}

/// Tells of moves that are not finished.
pub(super) fn moves(unfinished: &[UnfinishedMove], findings: &mut Findings) {
    for UnfinishedMove { database, shard, source, target, phase } in unfinished {
        findings.problem(
            format!(
                "{database}: shard {shard} is on its way from server {source} to server {target}: {}",
                phase.name()
            ),
            &format!(
                "if no command is at work, run `madang shards move {shard} --to {target}`, with the other shards below"
            ),
        );
    }
}

fn server(services: &[&str], copies: &[ServerCopies], told: &ServerCopies, findings: &mut Findings) {
    let name = format!("server {} ({})", told.server, told.address);
    let known = match &told.copies {
        Ok(known) => known,
        Err(reason) => {
            return findings
                .problem(format!("{name} cannot be asked: {reason}"), "its shards are not served until it responds");
        }
    };
    let mut differs = false;
    for (index, (service, copy)) in services.iter().zip(known).enumerate() {
        let Some(copy) = copy else {
            differs = true;
            findings.problem(
                format!("{name} has no shard map of {service}"),
                "start the cluster once so that it is made, or run `madang shards add-server` with its address again",
            );
            continue;
        };
        if let Some(missing) = missing_server(copies, index, copy) {
            differs = true;
            findings.problem(
                format!("{name} does not know of {missing}, for {service}"),
                "run `madang shards add-server` with that address again",
            );
        }
        let behind = behind(copies, index, ServerIndex(told.server), copy);
        if !behind.is_empty() {
            differs = true;
            findings.problem(
                format!("{name} has an old copy of the map of {service}: shards {}", in_ranges(&behind)),
                "writes are refused by their owners all the same, and processes ask the other servers",
            );
        }
    }
    if !differs {
        findings.ok(format!("{name} responds and knows the map of {} services", services.len()));
    }
}

/// A server that another one knows and this copy does not.
fn missing_server(copies: &[ServerCopies], service: usize, copy: &ShardCopy) -> Option<String> {
    let others = copies.iter().filter_map(|told| told.copies.as_ref().ok()?.get(service)?.as_ref());
    let mut known = others.flat_map(|other| other.servers.iter());
    known.find(|(server, _)| !copy.servers.contains_key(*server)).map(|(_, address)| address.clone())
}

/// The shards whose latest owner this copy does not know.
fn behind(copies: &[ServerCopies], service: usize, server: ServerIndex, copy: &ShardCopy) -> Vec<ShardId> {
    let Some(latest) = merged(copies, service) else { return Vec::new() };
    let is_old = |shard: &ShardId| copy.owners.of(*shard).epoch < latest.of(*shard).epoch;
    // What it does not hold it need not know; what it once held and lost, it must.
    ShardId::all().filter(|shard| is_old(shard) && copy.owners.of(*shard).server == server).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use madang_kernel::{ShardMap, ShardOwner, ShardOwners};

    use super::*;

    /// Two services that agree, on servers of which each knows all.
    pub(crate) fn copies_of(addresses: &[&str], ranges: &[&str]) -> Vec<ServerCopies> {
        let owners = ShardOwners::first(&ShardMap::from_ranges(ranges).unwrap());
        let servers = (0..).zip(addresses.iter().map(|address| (*address).to_owned())).collect();
        let copy = ShardCopy { servers, owners };
        let told = |(server, address): (u8, &&str)| ServerCopies {
            server,
            address: (*address).to_owned(),
            copies: Ok(vec![Some(copy.clone()), Some(copy.clone())]),
        };
        (0..).zip(addresses).map(told).collect()
    }

    /// Gives a shard of a service to a server, which alone knows it.
    pub(crate) fn moved(copies: &mut [ServerCopies], service: usize, shard: u8, to: u8) {
        let owner = ShardOwner { server: ServerIndex(to), epoch: 2, writable: true };
        let copy = copies[usize::from(to)].copies.as_mut().unwrap()[service].as_mut().unwrap();
        copy.owners.learn(ServerIndex(to), ShardId::new(shard).unwrap(), owner);
    }

    fn told(copies: &[ServerCopies]) -> (usize, String) {
        let findings = status(&["member", "like"], copies);
        (findings.problems, findings.lines.join("\n"))
    }

    #[test]
    fn servers_that_agree_are_well() {
        let (problems, text) = told(&copies_of(&["a:1", "b:2"], &["0-31", "32-63"]));
        assert_eq!(problems, 0, "{text}");
        assert!(text.contains("version 1 of the shard map, the same for every service"), "{text}");
    }

    #[test]
    fn an_owner_that_does_not_know_that_it_lost_a_shard_is_told() {
        let mut copies = copies_of(&["a:1", "b:2"], &["0-31", "32-63"]);
        moved(&mut copies, 1, 7, 1);
        let (problems, text) = told(&copies);
        assert_eq!(problems, 1, "{text}");
        assert!(text.contains("server 0 (a:1) has an old copy of the map of like: shards 7"), "{text}");
    }

    #[test]
    fn a_server_that_is_away_and_one_that_is_half_added_are_told() {
        let mut copies = copies_of(&["a:1", "b:2"], &["0-31", "32-63"]);
        copies[1].copies = Err("connection refused".to_owned());
        let (problems, text) = told(&copies);
        assert!(problems == 1 && text.contains("server 1 (b:2) cannot be asked: connection refused"), "{text}");

        let mut copies = copies_of(&["a:1", "b:2", "c:3"], &["0-31", "32-63", ""]);
        copies[2].copies.as_mut().unwrap()[1] = None;
        copies[0].copies.as_mut().unwrap()[1].as_mut().unwrap().servers.remove(&2);
        let (problems, text) = told(&copies);
        assert!(problems == 2 && text.contains("does not know of c:3, for like"), "{text}");
        assert!(text.contains("server 2 (c:3) has no shard map of like"), "{text}");
    }

    #[test]
    fn a_shard_without_writes_is_told() {
        let mut copies = copies_of(&["a:1", "b:2"], &["0-31", "32-63"]);
        let fenced = ShardOwner { server: ServerIndex(0), epoch: 1, writable: false };
        let copy = copies[0].copies.as_mut().unwrap()[0].as_mut().unwrap();
        copy.owners.learn(ServerIndex(0), ShardId::new(9).unwrap(), fenced);
        let (problems, text) = told(&copies);
        assert!(problems == 1 && text.contains("member: shards 9 take no writes"), "{text}");
    }
}
