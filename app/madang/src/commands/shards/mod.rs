//! `madang shards`: which relational server holds which shards, how well the servers agree about it, one more server, and
//! shards that move.

mod moving;
mod overview;
mod status;

use anyhow::{Context as _, bail};
use clap::Subcommand;

use self::moving::MoveArgs;
use self::overview::overview;
use self::status::status;
use super::upgrade::databases;
use crate::composition;
use crate::config::{ClusterSettings, Settings};

/// Something is not as it should be.
const PROBLEM: u8 = 1;
/// The longest address, or list of addresses, that the shard map has room for.
const ADDRESS_MAX_BYTES: usize = 300;

/// What can be asked about shards.
#[derive(Debug, Subcommand)]
pub(crate) enum ShardsCommand {
    /// List the servers and the shards that each holds
    #[command(
        long_about = "Lists the relational servers of a cluster with the shards that each holds, as the servers themselves know \
        it. Shards are the 64 parts into which all data is divided; every id carries the number of its shard. The version of \
        the map grows by one whenever a shard changes hands."
    )]
    List,
    /// Say whether every server responds, knows the same map and takes writes for its shards
    #[command(
        long_about = "Asks every relational server of a cluster what it knows of the shard map, for each service, and compares \
        the answers. The exit code is 0 if all agree and every shard takes writes, and 1 otherwise (one line for each \
        difference, with what to do about it)."
    )]
    Status,
    /// Add a relational server without shards
    #[command(
        long_about = "Adds a relational server to a running cluster: makes the databases of every service on it, gives it the \
        shard map, and tells the other servers where it is. Running processes use it within a second, without a restart. It \
        holds no shards at first.\n\n\
        Every server must respond. The new one is reached with the user and password of the first server of the \
        configuration, which must be allowed to create databases there; passwords are never stored in a database. If the \
        command is interrupted, run it again: it finishes what was begun. A server that holds databases of another cluster of \
        the same name is refused.\n\n\
        Afterwards append the server to [[cluster.mysql]] in every configuration file when convenient, without `shards`: until \
        then processes learn of it from the servers that are named there.",
        after_long_help = "Example:\n  madang shards add-server mysql://10.0.0.9:3306 --config cluster.toml"
    )]
    AddServer {
        /// The server, as mysql://HOST:PORT; with replicas that can take its place as mysql://HOST:PORT,HOST:PORT
        #[arg(value_name = "URL", value_parser = address)]
        address: String,
    },
    /// Move shards to another server, while everything runs
    #[command(
        long_about = "Moves shards with all their data, of every service, to another relational server of a running cluster. \
        Nothing stops: reads go on, and writes to a shard wait for less than a second while it changes hands. Rows are copied in \
        slices, what changes meanwhile is noted by triggers and applied, both copies are compared, and only then the new server \
        becomes the owner; a write by an old map is refused by the database. After a minute the old copy is removed.\n\n\
        Every server must respond, and every process must be of this version. If the command is interrupted, at whatever \
        moment and however, run it again: it goes on where it was. If a shard was just changing hands, its writes go on after a \
        few seconds; `madang shards status` lists what is not finished.\n\n\
        With --from every shard of a server moves, which empties it.",
        after_long_help = "Examples:\n  madang shards move 7 40-47 --to 2 --config cluster.toml\n  \
        madang shards move --from 0 --to 2 --config cluster.toml"
    )]
    Move(MoveArgs),
}

/// Carries one out.
pub(crate) async fn shards(command: &ShardsCommand, settings: &Settings) -> anyhow::Result<u8> {
    let Some(cluster) = &settings.cluster else {
        bail!(
            "a site in a data directory has no shards to place: give the configuration of a cluster with --config FILE"
        );
    };
    let options = composition::mysql_options(cluster);
    if let ShardsCommand::AddServer { address } = command {
        return add(cluster, address).await;
    }
    if let ShardsCommand::Move(args) = command {
        return moving::move_shards(cluster, args).await;
    }
    let services = databases();
    let names: Vec<&str> = services.iter().map(madang_mysql::Database::name).collect();
    let copies = madang_mysql::shard_copies(&options, &services).await;
    if matches!(command, ShardsCommand::List) {
        print!("{}", overview(&names, &copies).context(UNKNOWN)?);
        return Ok(0);
    }
    let mut findings = status(&names, &copies);
    status::moves(&madang_mysql::unfinished_moves(&options, &services).await, &mut findings);
    findings.lines.iter().for_each(|line| println!("{line}"));
    Ok(if findings.problems == 0 { 0 } else { PROBLEM })
}

const UNKNOWN: &str = "no server could tell the shard map: start the relational servers, or start the cluster once so that it is \
                       made; `madang shards status` says what each server answered";

async fn add(cluster: &ClusterSettings, address: &str) -> anyhow::Result<u8> {
    let options = composition::mysql_options(cluster);
    let server = madang_mysql::add_server(&options, &databases(), address).await;
    let server = server.with_context(|| format!("{address} was not added"))?;
    println!(
        "server {server} ({address}) is part of the cluster and holds no shards yet; every process uses it within a second"
    );
    let is_named = cluster.mysql.len() > usize::from(server);
    if !is_named {
        println!(
            "append it to [[cluster.mysql]] of every configuration file when convenient: url = \"mysql://…@{address}\""
        );
    }
    Ok(0)
}

/// Host and port of a URL without user and password, which do not belong on a command line or into a database; of several where
/// replicas can take its place.
fn address(text: &str) -> Result<String, String> {
    const SHAPE: &str = "write mysql://HOST:PORT, or mysql://HOST:PORT,HOST:PORT with its replicas";
    let rest = text.strip_prefix("mysql://").ok_or(SHAPE)?.trim_end_matches('/');
    if rest.contains('@') {
        return Err(format!(
            "{SHAPE} without a user and password: the server is reached with those of the first server of the configuration"
        ));
    }
    let is_member = |member: &str| {
        let Some((host, port)) = member.rsplit_once(':') else { return false };
        let is_host = !host.is_empty() && !host.contains(['/', '?', '#', ' ']);
        is_host && port.parse::<u16>().is_ok_and(|port| port > 0)
    };
    let fits = rest.len() <= ADDRESS_MAX_BYTES && rest.split(',').all(is_member);
    if fits { Ok(rest.to_owned()) } else { Err(SHAPE.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn a_server_is_named_without_its_password() {
        assert_eq!(address("mysql://10.0.0.9:3306").unwrap(), "10.0.0.9:3306");
        assert_eq!(address("mysql://db-3.internal:3306/").unwrap(), "db-3.internal:3306");
        assert_eq!(address("mysql://10.0.0.9:3306,10.0.0.10:3306").unwrap(), "10.0.0.9:3306,10.0.0.10:3306");
        assert!(address("mysql://me:secret@db:3306").unwrap_err().contains("first server"));
        for wrong in
            ["db:3306", "mysql://db", "mysql://:3306", "mysql://db:0", "mysql://db:x", "mysql://a/b:1", "mysql://a:1,b"]
        {
            assert!(address(wrong).unwrap_err().contains("mysql://HOST:PORT"), "{wrong}");
        }
    }
}
