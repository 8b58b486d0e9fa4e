//! Asks a server, in the few bytes of its own protocol that it takes, whether it answers and what it is.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};

use super::kafka;
use super::part::Part;
use super::state::Server;
use crate::http;

/// How long a server on this machine may take to accept a connection, and each time to send something.
const WAIT_MAX: Duration = Duration::from_secs(3);
/// More than any of the replies we ask for.
const REPLY_BYTES_MAX: u64 = 64 * 1024;

/// The version of a server that answers.
pub(crate) fn version(server: &Server) -> Result<String> {
    let version = match server.part {
        Part::Mysql | Part::MysqlReplica => mariadb(server.port),
        Part::Redis | Part::RedisCluster => redis(server.port).and_then(|info| field(&info, "redis_version")),
        Part::Kafka => kafka_brokers(server.port).map(|_| kafka::VERSION.to_owned()),
        Part::Observe => told_version(server),
        Part::Nginx | Part::Browser | Part::Promtool | Part::HostTools => {
            bail!("{} is started by the tests", server.part.name())
        }
    };
    version.map_err(|error| match error.downcast_ref::<std::io::Error>().map(std::io::Error::kind) {
        // The system calls a time-out a resource that is temporarily unavailable.
        Some(ErrorKind::WouldBlock | ErrorKind::TimedOut) => anyhow!("no answer within {} s", WAIT_MAX.as_secs()),
        _ => error,
    })
}

/// The version of a server that answers and sees all its peers.
pub(crate) fn version_with_peers(server: &Server, brokers: usize) -> Result<String> {
    let version = version(server)?;
    match server.part {
        Part::RedisCluster => {
            let state = field(&redis(server.port)?, "cluster_state")?;
            ensure!(state == "ok", "the cluster's state is {state}");
        }
        Part::Kafka => {
            let known = kafka_brokers(server.port)?;
            ensure!(known >= brokers, "it knows {known} of {brokers} brokers");
        }
        Part::Mysql
        | Part::MysqlReplica
        | Part::Redis
        | Part::Nginx
        | Part::Browser
        | Part::Promtool
        | Part::HostTools
        | Part::Observe => {}
    }
    Ok(version)
}

/// The version that Prometheus and exporters tell in a figure of their own.
fn told_version(server: &Server) -> Result<String> {
    let figures = http::get(&format!("127.0.0.1:{}", server.port), "/metrics")?.ok()?;
    let told = figures.lines().find(|line| line.contains("_build_info{") && !line.starts_with("go_"));
    let version = told.and_then(|line| line.split(['{', ',']).find_map(|label| label.strip_prefix("version=\"")));
    Ok(version.and_then(|version| version.split('"').next()).unwrap_or("unknown").to_owned())
}

fn connect(port: u16) -> Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)), WAIT_MAX)?;
    stream.set_read_timeout(Some(WAIT_MAX))?;
    Ok(stream)
}

/// The version in MariaDB's greeting, which it sends once it takes clients.
fn mariadb(port: u16) -> Result<String> {
    let mut stream = connect(port)?;
    // Its length in three bytes, and a number.
    let mut header = [0; 4];
    stream.read_exact(&mut header)?;
    let mut greeting = vec![0; usize::from(u16::from_le_bytes([header[0], header[1]]))];
    stream.read_exact(&mut greeting)?;
    version_in_greeting(&greeting)
}

fn version_in_greeting(greeting: &[u8]) -> Result<String> {
    let (protocol, rest) = greeting.split_first().context("an empty greeting")?;
    ensure!(*protocol == 10, "refused: {}", String::from_utf8_lossy(rest));
    let version = String::from_utf8_lossy(rest.split(|byte| *byte == 0).next().unwrap_or_default());
    // MariaDB still says 5.5.5 first, for replicas that know no version with two digits.
    Ok(version.strip_prefix("5.5.5-").unwrap_or(&version).to_owned())
}

/// What a Redis says of itself and of its cluster; it closes the connection after that.
fn redis(port: u16) -> Result<String> {
    let mut stream = connect(port)?;
    stream.write_all(b"INFO server\r\nCLUSTER INFO\r\nQUIT\r\n")?;
    let mut reply = String::new();
    stream.take(REPLY_BYTES_MAX).read_to_string(&mut reply)?;
    Ok(reply)
}

fn field(info: &str, name: &str) -> Result<String> {
    let value = info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let value = value.with_context(|| format!("answered {:?}", info.lines().next().unwrap_or_default()))?;
    Ok(value.trim().to_owned())
}

/// How many brokers a Kafka broker knows of.
fn kafka_brokers(port: u16) -> Result<usize> {
    // Metadata, version 4, correlation id 1, from `xtask`: names no topic, and makes none.
    const REQUEST: &[u8] = b"\0\0\0\x14\0\x03\0\x04\0\0\0\x01\0\x05xtask\0\0\0\0\0";
    const _: () = assert!(REQUEST.len() == 4 + 0x14);
    let mut stream = connect(port)?;
    stream.write_all(REQUEST)?;
    // Its size, the correlation id, the throttle time, and the number of brokers.
    let mut reply = [0; 16];
    stream.read_exact(&mut reply)?;
    let [.., a, b, c, d] = reply;
    Ok(usize::try_from(i32::from_be_bytes([a, b, c, d])).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greeting_tells_the_version_and_a_refusal_its_reason() {
        assert_eq!(version_in_greeting(b"\x0a5.5.5-10.11.19-MariaDB\0rest").unwrap(), "10.11.19-MariaDB");
        assert_eq!(version_in_greeting(b"\x0a8.4.3\0rest").unwrap(), "8.4.3");
        let refused = version_in_greeting(b"\xff\x10\x04Too many connections").unwrap_err().to_string();
        assert!(refused.contains("Too many connections"), "{refused}");
        assert!(version_in_greeting(b"").is_err());
    }

    #[test]
    fn a_field_is_found_by_its_whole_name() {
        let info = "$60\r\n# Server\r\nredis_version:7.0.15\r\nredis_mode:cluster\r\n";
        assert_eq!(field(info, "redis_version").unwrap(), "7.0.15");
        assert!(field(info, "redis").is_err());
        assert!(field("-LOADING\r\n", "redis_version").unwrap_err().to_string().contains("LOADING"));
    }
}
