//! Asks a server, in the few bytes of its own protocol that it takes, whether it is there and what it is.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};

use super::part::Part;
use super::state::Server;

/// How long a server on this machine may take to accept a connection.
const CONNECT_MS: u64 = 1_000;
/// How long it may take to answer.
const ANSWER_MS: u64 = 3_000;
/// More than any of the answers we ask for.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// The version that a server tells, or, for one that tells none, the one it was made from.
pub(crate) fn ask(server: &Server) -> Result<String> {
    let answer = match server.part {
        Part::Mysql => mariadb(server.port),
        Part::Redis | Part::RedisCluster => redis(server.port),
        Part::Kafka => kafka(server.port).map(|_| server.version.clone()),
        Part::Nginx | Part::Browser => bail!("{} is started by the tests", server.part.name()),
    };
    answer.map_err(plainly)
}

/// The same, from a server that has its peers with it.
pub(crate) fn ask_with_peers(server: &Server, brokers: usize) -> Result<String> {
    match server.part {
        Part::RedisCluster => redis_cluster(server.port).map_err(plainly),
        Part::Kafka => {
            let known = kafka(server.port).map_err(plainly)?;
            ensure!(known >= brokers, "it knows {known} of {brokers} brokers");
            Ok(server.version.clone())
        }
        Part::Mysql | Part::Redis | Part::Nginx | Part::Browser => ask(server),
    }
}

/// Says a time-out as one; the system calls it a resource that is temporarily unavailable.
fn plainly(error: anyhow::Error) -> anyhow::Error {
    let kind = error.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
    match kind {
        Some(ErrorKind::WouldBlock | ErrorKind::TimedOut) => anyhow!("no answer within {} s", ANSWER_MS / 1_000),
        _ => error,
    }
}

fn connect(port: u16) -> Result<TcpStream> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let stream = TcpStream::connect_timeout(&address, Duration::from_millis(CONNECT_MS))?;
    stream.set_read_timeout(Some(Duration::from_millis(ANSWER_MS)))?;
    stream.set_write_timeout(Some(Duration::from_millis(ANSWER_MS)))?;
    Ok(stream)
}

/// The version in MariaDB's greeting, which it sends once it takes clients.
pub(crate) fn mariadb(port: u16) -> Result<String> {
    let mut stream = connect(port)?;
    let mut header = [0; 4];
    stream.read_exact(&mut header)?;
    let length = usize::from(header[0]) | usize::from(header[1]) << 8;
    let mut greeting = vec![0; length.min(ANSWER_BYTES_MAX)];
    stream.read_exact(&mut greeting)?;
    version_in_greeting(&greeting)
}

fn version_in_greeting(greeting: &[u8]) -> Result<String> {
    let (protocol, rest) = greeting.split_first().context("an empty greeting")?;
    ensure!(*protocol == 10, "refused: {}", String::from_utf8_lossy(rest));
    let version = rest.split(|byte| *byte == 0).next().unwrap_or_default();
    let version = String::from_utf8_lossy(version);
    // MariaDB still says 5.5.5 first, for replicas that know no version with two digits.
    Ok(version.strip_prefix("5.5.5-").unwrap_or(&version).to_owned())
}

/// The version of a Redis.
pub(crate) fn redis(port: u16) -> Result<String> {
    let info = redis_command(port, "INFO server")?;
    Ok(field(&info, "redis_version").context("no version in its answer")?.to_owned())
}

/// The version of a Redis that belongs to a whole cluster: every slot has an owner that is up.
pub(crate) fn redis_cluster(port: u16) -> Result<String> {
    let info = redis_command(port, "CLUSTER INFO")?;
    let state = field(&info, "cluster_state").unwrap_or("unknown");
    ensure!(state == "ok", "the cluster's state is {state}");
    redis(port)
}

fn field<'a>(info: &'a str, name: &str) -> Option<&'a str> {
    info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
}

fn redis_command(port: u16, command: &str) -> Result<String> {
    let mut stream = connect(port)?;
    write!(stream, "{command}\r\n")?;
    redis_answer(&mut BufReader::new(stream.take(ANSWER_BYTES_MAX as u64)))
}

fn redis_answer(answer: &mut impl BufRead) -> Result<String> {
    let mut line = String::new();
    answer.read_line(&mut line)?;
    let line = line.trim_end();
    if let Some(length) = line.strip_prefix('$') {
        let length: usize = length.parse()?;
        let mut text = vec![0; length.min(ANSWER_BYTES_MAX)];
        answer.read_exact(&mut text)?;
        return Ok(String::from_utf8_lossy(&text).into_owned());
    }
    match line.strip_prefix('+') {
        Some(text) => Ok(text.to_owned()),
        None => bail!("answered {line:?}"),
    }
}

/// How many brokers a Kafka broker knows of.
pub(crate) fn kafka(port: u16) -> Result<usize> {
    let mut stream = connect(port)?;
    stream.write_all(&metadata_request())?;
    let mut size = [0; 4];
    stream.read_exact(&mut size)?;
    let size = usize::try_from(i32::from_be_bytes(size)).context("a negative size")?;
    let mut answer = vec![0; size.min(ANSWER_BYTES_MAX)];
    stream.read_exact(&mut answer)?;
    brokers_in(&answer)
}

/// A metadata request of version 4 that names no topic and makes none.
fn metadata_request() -> Vec<u8> {
    const METADATA: i16 = 3;
    const VERSION: i16 = 4;
    const CLIENT: &[u8] = b"xtask";
    let mut body = Vec::new();
    body.extend(METADATA.to_be_bytes());
    body.extend(VERSION.to_be_bytes());
    body.extend(1_i32.to_be_bytes());
    body.extend((CLIENT.len() as i16).to_be_bytes());
    body.extend(CLIENT);
    body.extend(0_i32.to_be_bytes());
    body.push(0);
    let size = body.len() as i32;
    [size.to_be_bytes().as_slice(), &body].concat()
}

/// The number of brokers: after the correlation id and the throttle time.
fn brokers_in(answer: &[u8]) -> Result<usize> {
    let count = answer.get(8..12).context("a short answer")?;
    Ok(usize::try_from(i32::from_be_bytes(count.try_into()?)).unwrap_or(0))
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
    fn an_answer_of_redis_is_text_or_a_refusal() {
        let info = "# Server\r\nredis_version:7.0.15\r\nredis_mode:cluster\r\n";
        let answer = format!("${}\r\n{info}\r\n", info.len());
        let text = redis_answer(&mut answer.as_bytes()).unwrap();
        assert_eq!(field(&text, "redis_version"), Some("7.0.15"));
        assert_eq!(field(&text, "redis"), None);
        assert_eq!(redis_answer(&mut b"+PONG\r\n".as_slice()).unwrap(), "PONG");
        assert!(redis_answer(&mut b"-LOADING\r\n".as_slice()).unwrap_err().to_string().contains("LOADING"));
        assert!(redis_answer(&mut b"$9\r\nshort".as_slice()).is_err());
    }

    #[test]
    fn a_metadata_answer_tells_how_many_brokers_there_are() {
        let answer = [1_i32.to_be_bytes(), 0_i32.to_be_bytes(), 3_i32.to_be_bytes()].concat();
        assert_eq!(brokers_in(&answer).unwrap(), 3);
        assert!(brokers_in(&answer[..9]).is_err());
        assert_eq!(metadata_request()[..8], [0, 0, 0, 20, 0, 3, 0, 4]);
    }
}
