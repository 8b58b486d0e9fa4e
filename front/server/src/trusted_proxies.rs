//! Who really asks: behind a proxy, the address that `X-Forwarded-For` tells, as far as it was written by proxies that the
//! operator trusts. Anybody can send the header, so nobody else's word counts.

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use ipnet::IpNet;

/// Networks in one list: more are a mistake, and each costs a comparison.
const NETWORKS_MAX: usize = 256;

/// The networks whose `X-Forwarded-For` is believed. None by default.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TrustedProxies(Vec<IpNet>);

/// Text that is no list of addresses and networks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProxiesParseError {
    /// One entry cannot be read.
    #[error("{0:?} is neither an address nor a network such as 10.0.0.0/8 or fd00::/8")]
    Entry(String),
    /// One entry names an address and a network at once.
    #[error("{entry:?} has bits past its prefix: the network is {network}")]
    HostBits {
        /// The entry.
        entry: String,
        /// The network that may have been meant.
        network: String,
    },
    /// There are too many.
    #[error("there are more than {NETWORKS_MAX} entries")]
    TooMany,
}

impl FromStr for TrustedProxies {
    type Err = ProxiesParseError;

    /// Reads addresses and networks, separated by commas.
    fn from_str(text: &str) -> Result<Self, ProxiesParseError> {
        let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
        let networks: Vec<_> = entries.take(NETWORKS_MAX + 1).map(network).collect::<Result<_, _>>()?;
        if networks.len() > NETWORKS_MAX { Err(ProxiesParseError::TooMany) } else { Ok(Self(networks)) }
    }
}

impl TrustedProxies {
    /// The address of the client: the peer, unless the peer is a trusted proxy; then the right-most address of
    /// `X-Forwarded-For` that is none. `forwarded` are the values of the header in the order in which they came.
    ///
    /// What stands left of that address was written by the client and is not looked at. When the proxies themselves wrote
    /// something that is no address, the peer is all that is known.
    pub fn client<'a>(&self, peer: IpAddr, forwarded: impl DoubleEndedIterator<Item = &'a [u8]>) -> IpAddr {
        let peer = peer.to_canonical();
        if !self.trusts(peer) {
            return peer;
        }
        let mut client = peer;
        for entry in forwarded.rev().flat_map(|value| value.rsplit(|byte| *byte == b',')) {
            let Some(address) = address(entry) else { return peer };
            if !self.trusts(address) {
                return address;
            }
            // All are proxies of ours so far: should all be, the one farthest away has asked.
            client = address;
        }
        client
    }

    /// Whether an address is a proxy whose word counts.
    pub(crate) fn trusts(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address))
    }
}

/// An address as proxies write it: bare, in brackets, or with a port behind it.
fn address(entry: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(entry).ok()?.trim();
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    let address = bare.parse().ok().or_else(|| Some(text.parse::<SocketAddr>().ok()?.ip()))?;
    Some(address.to_canonical())
}

/// A network, or an address as the network of itself. Host bits past the prefix are refused: they name both at once.
fn network(entry: &str) -> Result<IpNet, ProxiesParseError> {
    if let Ok(address) = entry.parse::<IpAddr>() {
        return Ok(address.into());
    }
    let network: IpNet = entry.parse().map_err(|_| ProxiesParseError::Entry(entry.to_owned()))?;
    if network.addr() == network.network() {
        return Ok(network);
    }
    Err(ProxiesParseError::HostBits { entry: entry.to_owned(), network: network.trunc().to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROXIES: &str = "127.0.0.1, 10.0.0.0/8, fd00::/8";

    fn client(trusted: &str, peer: &str, forwarded: &[&str]) -> String {
        let trusted: TrustedProxies = trusted.parse().unwrap();
        trusted.client(peer.parse().unwrap(), forwarded.iter().map(|value| value.as_bytes())).to_string()
    }

    #[test]
    fn only_a_trusted_proxy_is_believed() {
        assert_eq!(client("", "127.0.0.1", &["192.0.2.1"]), "127.0.0.1", "nobody is trusted unless configured");
        assert_eq!(client(PROXIES, "192.0.2.9", &["192.0.2.1"]), "192.0.2.9");
        assert_eq!(client(PROXIES, "127.0.0.1", &["192.0.2.1"]), "192.0.2.1");
        assert_eq!(client(PROXIES, "::ffff:127.0.0.1", &["192.0.2.1"]), "192.0.2.1", "through an IPv6 socket");
        assert_eq!(client(PROXIES, "127.0.0.1", &[]), "127.0.0.1", "a request of the proxy's own");
        assert_eq!(client("0.0.0.0/0", "::1", &["192.0.2.1"]), "::1", "all of IPv4 is none of IPv6");
        assert_eq!(client("::/0", "127.0.0.1", &["192.0.2.1"]), "127.0.0.1");
    }

    #[test]
    fn the_right_most_address_that_is_no_proxy_is_the_client() {
        for (forwarded, expected) in [
            (&["203.0.113.7, 192.0.2.1"][..], "192.0.2.1"),
            (&["203.0.113.7, 192.0.2.1, 10.1.2.3"], "192.0.2.1"),
            (&["203.0.113.7", "192.0.2.1", "10.1.2.3, fd00::5"], "192.0.2.1"),
            (&["192.0.2.1:4711, 10.1.2.3:80"], "192.0.2.1"),
            (&["2001:db8::1, [fd00::5]:443"], "2001:db8::1"),
            (&["[2001:db8::1]:99"], "2001:db8::1"),
            (&["[2001:db8::1]"], "2001:db8::1"),
            (&["::ffff:192.0.2.1"], "192.0.2.1"),
            (&["  192.0.2.1\t"], "192.0.2.1"),
            (&["10.0.0.7, 10.1.2.3"], "10.0.0.7"),
            // What the client itself put there is never reached.
            (&["garbage, 192.0.2.1, 10.1.2.3"], "192.0.2.1"),
        ] {
            assert_eq!(client(PROXIES, "127.0.0.1", forwarded), expected, "{forwarded:?}");
        }
    }

    #[test]
    fn a_malformed_header_tells_nothing() {
        for forwarded in ["", ",", "unknown", "192.0.2.1,", "192.0.2.1, _hidden", "192.0.2.256", "192.0.2.1 10.0.0.1"] {
            assert_eq!(client(PROXIES, "10.0.0.1", &[forwarded]), "10.0.0.1", "{forwarded:?}");
        }
        let trusted: TrustedProxies = PROXIES.parse().unwrap();
        let peer: IpAddr = "10.0.0.1".parse().unwrap();
        assert_eq!(trusted.client(peer, [&b"192.0.2.1\xff"[..]].into_iter()), peer);
    }

    #[test]
    fn networks_are_read_to_their_last_bit() {
        let inside =
            |network: &str, address: &str| network.parse::<TrustedProxies>().unwrap().trusts(address.parse().unwrap());
        for (network, address, expected) in [
            ("10.0.0.0/8", "10.255.255.255", true),
            ("10.0.0.0/8", "11.0.0.0", false),
            ("192.0.2.128/25", "192.0.2.128", true),
            ("192.0.2.128/25", "192.0.2.127", false),
            ("192.0.2.1", "192.0.2.1", true),
            ("192.0.2.1/32", "192.0.2.2", false),
            ("0.0.0.0/0", "255.255.255.255", true),
            ("::/0", "2001:db8::1", true),
            ("fd00::/8", "fdff::1", true),
            ("fd00::/8", "fe00::1", false),
            ("2001:db8::1", "2001:db8::1", true),
            ("2001:db8::1/128", "2001:db8::2", false),
        ] {
            assert_eq!(inside(network, address), expected, "{network} {address}");
        }
    }

    #[test]
    fn a_list_that_cannot_be_read_says_which_entry() {
        let refused = |text: &str| text.parse::<TrustedProxies>().unwrap_err();
        for entry in ["localhost", "10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/x", "10.0.0.0/+8", "10.0.0/8", "/8"]
        {
            assert_eq!(refused(&format!("127.0.0.1, {entry}")), ProxiesParseError::Entry(entry.to_owned()));
        }
        assert!(refused("10.0.0.1/8").to_string().contains("10.0.0.0/8"));
        assert_eq!(refused(&vec!["127.0.0.1"; NETWORKS_MAX + 1].join(",")), ProxiesParseError::TooMany);
        assert_eq!("".parse(), Ok(TrustedProxies::default()));
        assert_eq!(" , ".parse(), Ok(TrustedProxies::default()));
    }
}
