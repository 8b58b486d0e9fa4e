//! How many streams one network holds: a stream is a connection that stays, and without this bound one address could take
//! them all.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Streams of one network, an IPv4 address or an IPv6 /64: an office behind one address, each with a few tabs.
pub(crate) const STREAMS_OF_NETWORK_MAX: usize = 256;

/// Streams by network. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct NetworkStreams(Arc<Mutex<HashMap<IpAddr, usize>>>);

/// One of them, until it is dropped.
pub(crate) struct NetworkStream {
    streams: NetworkStreams,
    network: IpAddr,
}

impl NetworkStreams {
    /// Another stream of a network; `None` when it has too many.
    pub(crate) fn open(&self, network: IpAddr) -> Option<NetworkStream> {
        let mut streams = self.lock();
        let of_network = streams.entry(network).or_default();
        if *of_network >= STREAMS_OF_NETWORK_MAX {
            return None;
        }
        *of_network += 1;
        Some(NetworkStream { streams: self.clone(), network })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for NetworkStream {
    fn drop(&mut self) {
        let mut streams = self.streams.lock();
        if let Some(of_network) = streams.get_mut(&self.network) {
            *of_network -= 1;
            if *of_network == 0 {
                streams.remove(&self.network);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_network_has_so_many_and_others_theirs() {
        let streams = NetworkStreams::default();
        let [one, other] = ["192.0.2.1", "192.0.2.2"].map(|address| address.parse::<IpAddr>().unwrap());
        let held: Vec<_> = (0..STREAMS_OF_NETWORK_MAX).map(|_| streams.open(one).unwrap()).collect();
        assert!(streams.open(one).is_none());
        assert!(streams.open(other).is_some());
        drop(held);
        assert!(streams.open(one).is_some());
        assert!(streams.lock().is_empty(), "nobody is remembered");
    }
}
