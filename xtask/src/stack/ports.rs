//! Free ports on the loopback address, outside the range from which the system takes the ports of outgoing connections.

use std::net::{Ipv4Addr, TcpListener};

use anyhow::{Result, bail};

use super::secret;

/// The first port that is tried.
const FIRST: u16 = 21_000;
/// One past the last; outgoing connections use 32,768 and up on Linux, so a killed server finds its port free again.
const END: u16 = 31_000;

const _: () = assert!(FIRST > 1_024 && FIRST < END && END < 32_768);

/// Finds ports that nobody listens on and that are not among `taken`, beginning at a random one.
///
/// Nothing holds them until the servers bind: two stacks that start at the same moment rarely meet, as each begins
/// elsewhere, and a server that finds its port taken says so in its log.
pub(crate) fn free(count: usize, taken: &[u16]) -> Result<Vec<u16>> {
    hold(count, taken)?.iter().map(|listener| Ok(listener.local_addr()?.port())).collect()
}

/// Listens on as many free ports; all at once, so that no port is found twice.
fn hold(count: usize, taken: &[u16]) -> Result<Vec<TcpListener>> {
    let width = END - FIRST;
    if count > usize::from(width) {
        bail!("{count} free ports between {FIRST} and {END} on 127.0.0.1 are more than there are");
    }
    let start = u16::from_le_bytes(secret::random()?) % width;
    let mut listeners = Vec::with_capacity(count);
    for step in 0..width {
        if listeners.len() == count {
            return Ok(listeners);
        }
        let port = FIRST + (start + step) % width;
        if !taken.contains(&port) {
            listeners.extend(TcpListener::bind((Ipv4Addr::LOCALHOST, port)));
        }
    }
    if listeners.len() < count {
        bail!("found {} of {count} free ports between {FIRST} and {END} on 127.0.0.1", listeners.len());
    }
    Ok(listeners)
}

/// Fails when somebody listens on the port, who would otherwise be taken for the server that cannot.
pub(crate) fn check_free(port: u16) -> Result<()> {
    if let Err(error) = TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
        bail!("port {port} is taken ({error}): `down`, then `up` finds another");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_free_distinct_and_not_among_those_taken() {
        // Held all the while: a port that was let go may stay taken for a moment by a process another test is starting.
        let held = hold(8, &[]).unwrap();
        let first: Vec<_> = held.iter().map(|listener| listener.local_addr().unwrap().port()).collect();
        let second = free(200, &first).unwrap();
        let distinct: std::collections::BTreeSet<_> = second.iter().copied().collect();
        assert_eq!(distinct.len(), 200);
        assert!(first.iter().all(|port| !distinct.contains(port)));
        assert!(distinct.iter().all(|port| (FIRST..END).contains(port)));
        assert!(check_free(first[0]).unwrap_err().to_string().contains("is taken"));
    }

    #[test]
    fn a_port_that_was_let_go_is_free_again() {
        let port = free(1, &[]).unwrap()[0];
        let until = std::time::Instant::now() + std::time::Duration::from_secs(30);
        while let Err(error) = check_free(port) {
            assert!(std::time::Instant::now() < until, "{error}");
            std::thread::yield_now();
        }
    }

    #[test]
    fn more_ports_than_there_are_is_an_error() {
        let error = free(usize::from(END - FIRST) + 1, &[]).unwrap_err().to_string();
        assert!(error.contains("free ports between"), "{error}");
    }
}
