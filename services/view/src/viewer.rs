//! Who counts as one viewer: a member by id, a guest by a keyed hash from which neither address nor browser can be read.

use std::net::{IpAddr, Ipv6Addr};

use hmac::{Hmac, KeyInit, Mac};
use madang_board::{ArticleId, MemberId};
use madang_kernel::Id;
use sha2::Sha256;

/// Bytes of a user agent that are told apart; what a client adds past them costs nothing.
const USER_AGENT_MAX_BYTES: usize = 1_024;
/// Of an IPv6 address, what one customer is given: 64 bits.
const V6_NETWORK_BYTES: usize = 8;
/// Set in every guest, clear in every member, so that the two never meet.
const GUEST_BIT: u128 = 1 << 127;

/// One viewer, for as long as a window lasts. Holds a member's id, or 127 bits of a keyed hash and one of their network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Viewer {
    id: u128,
    network: Option<Network>,
}

/// Where a guest comes from, as a keyed hash: an IPv4 address, or of an IPv6 address what one customer is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Network(pub(crate) u64);

impl Viewer {
    /// A member who is signed in.
    pub fn member(member: MemberId) -> Self {
        Self { id: u128::from(member.raw().cast_unsigned()), network: None }
    }

    /// The network of a guest; members are known by themselves.
    pub(crate) fn network(self) -> Option<Network> {
        self.network
    }

    /// Both halves, for a hash.
    pub(crate) fn halves(self) -> [u64; 2] {
        halves(self.id)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the lower half is meant")]
fn halves(bits: u128) -> [u64; 2] {
    [(bits >> 64) as u64, bits as u64]
}

/// The secret of an installation under which guests are hashed. Without it the addresses of the world could be tried.
#[derive(Clone)]
pub struct GuestKey {
    /// Keyed once; each use starts from a copy.
    mac: Hmac<Sha256>,
}

impl GuestKey {
    /// From 32 secret bytes, the same at every start.
    pub fn new(key: [u8; 32]) -> Self {
        // The block of a short key is the key with zeros behind it, by the definition of HMAC.
        let mut block = [0; 64];
        block[..key.len()].copy_from_slice(&key);
        Self { mac: Hmac::new(&block.into()) }
    }

    /// A guest, by where the request came from and what it says it is.
    pub fn guest(&self, address: IpAddr, user_agent: &[u8]) -> Viewer {
        // One spelling for an IPv4 address, whichever socket it came through.
        let address = match address.to_canonical() {
            IpAddr::V4(v4) => v4.to_ipv6_mapped(),
            IpAddr::V6(v6) => v6,
        };
        let user_agent = &user_agent[..user_agent.len().min(USER_AGENT_MAX_BYTES)];
        let mac = self.mac.clone().chain_update(b"guest").chain_update(address.octets()).chain_update(user_agent);
        Viewer { id: first_half(mac) | GUEST_BIT, network: Some(self.network(address)) }
    }

    /// Whoever has one IPv6 address of a network has 2^64 of them.
    fn network(&self, address: Ipv6Addr) -> Network {
        let is_v4 = address.to_ipv4_mapped().is_some();
        let kept = if is_v4 { 16 } else { V6_NETWORK_BYTES };
        let [high, _] =
            halves(first_half(self.mac.clone().chain_update(b"network").chain_update(&address.octets()[..kept])));
        Network(high)
    }

    /// Names a viewer's look at an article, for a window that others can see: neither can be read from it.
    pub fn sighting(&self, viewer: Viewer, article: ArticleId) -> u128 {
        let mac = self.mac.clone().chain_update(b"sighting").chain_update(viewer.id.to_be_bytes());
        first_half(mac.chain_update(article.raw().to_be_bytes()))
    }

    /// Names the looks of a guest's network at an article, likewise; nothing for a member.
    pub fn network_sighting(&self, viewer: Viewer, article: ArticleId) -> Option<u128> {
        let network = viewer.network?;
        let mac = self.mac.clone().chain_update(b"network sighting").chain_update(network.0.to_be_bytes());
        Some(first_half(mac.chain_update(article.raw().to_be_bytes())))
    }

    /// Makes places in the window unpredictable, so that nobody can push out a chosen viewer.
    pub(crate) fn window_seed(&self) -> u64 {
        let [_, low] = halves(first_half(self.mac.clone().chain_update(b"window")));
        low
    }
}

fn first_half(mac: Hmac<Sha256>) -> u128 {
    let bytes: [u8; 32] = mac.finalize().into_bytes().into();
    bytes[..16].iter().fold(0, |bits, byte| bits << 8 | u128::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: [u8; 32] = [7; 32];

    fn guest(key: [u8; 32], address: &str, user_agent: &str) -> Viewer {
        GuestKey::new(key).guest(address.parse().unwrap(), user_agent.as_bytes())
    }

    #[test]
    fn a_guest_is_the_same_at_every_start_and_another_under_another_key() {
        assert_eq!(guest(KEY, "192.0.2.1", "Firefox"), guest(KEY, "192.0.2.1", "Firefox"));
        assert_ne!(guest(KEY, "192.0.2.1", "Firefox"), guest([8; 32], "192.0.2.1", "Firefox"));
    }

    #[test]
    fn address_and_user_agent_both_tell_guests_apart() {
        let one = guest(KEY, "192.0.2.1", "Firefox");
        assert_ne!(one, guest(KEY, "192.0.2.2", "Firefox"));
        assert_ne!(one, guest(KEY, "192.0.2.1", "Chrome"));
        assert_ne!(one, guest(KEY, "192.0.2.1", ""));
        assert_ne!(guest(KEY, "2001:db8::1", ""), guest(KEY, "2001:db8::2", ""));
    }

    #[test]
    fn an_address_counts_once_through_either_kind_of_socket() {
        assert_eq!(guest(KEY, "192.0.2.1", "x"), guest(KEY, "::ffff:192.0.2.1", "x"));
    }

    #[test]
    fn guests_of_one_address_or_of_one_house_share_their_network() {
        let network = |address| guest(KEY, address, "x").network();
        assert_eq!(guest(KEY, "192.0.2.1", "a").network(), guest(KEY, "192.0.2.1", "b").network());
        assert_eq!(network("2001:db8::1"), network("2001:db8::ffff:2"));
        assert_eq!(network("192.0.2.1"), network("::ffff:192.0.2.1"));
        assert_ne!(network("2001:db8::1"), network("2001:db8:0:1::1"));
        assert_ne!(network("192.0.2.1"), network("192.0.2.2"));
        assert_eq!(Viewer::member(MemberId::from_raw(1)).network(), None);
    }

    #[test]
    fn a_sighting_is_of_one_viewer_and_one_article_under_one_key() {
        let (key, one) = (GuestKey::new(KEY), Viewer::member(MemberId::from_raw(1)));
        let sighting = key.sighting(one, ArticleId::from_raw(2));
        assert_eq!(sighting, GuestKey::new(KEY).sighting(one, ArticleId::from_raw(2)));
        assert_ne!(sighting, key.sighting(one, ArticleId::from_raw(3)));
        assert_ne!(sighting, key.sighting(Viewer::member(MemberId::from_raw(2)), ArticleId::from_raw(2)));
        assert_ne!(sighting, GuestKey::new([8; 32]).sighting(one, ArticleId::from_raw(2)));
    }

    #[test]
    fn no_guest_is_a_member() {
        for raw in [1, i64::MAX] {
            assert_eq!(Viewer::member(MemberId::from_raw(raw)).id & GUEST_BIT, 0);
        }
        assert_ne!(guest(KEY, "192.0.2.1", "x").id & GUEST_BIT, 0);
    }

    #[test]
    fn the_longest_user_agent_is_no_trouble() {
        let long = "x".repeat(1 << 20);
        assert_eq!(guest(KEY, "192.0.2.1", &long), guest(KEY, "192.0.2.1", &long[..USER_AGENT_MAX_BYTES]));
    }
}
