//! Shards: 64 logical ones, written into ids for ever, mapped onto 1 to 64 servers. The first map of a cluster is made here,
//! from ranges or by even shares; later ones are told by the servers ([`ShardOwners`](crate::ShardOwners)).

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::id::{Id, SHARD_BITS};

/// How many logical shards there are; never changes, because ids carry the number.
pub const SHARDS: usize = 1 << SHARD_BITS;
/// The same as a shard's number is typed.
pub const SHARDS_U8: u8 = 1 << SHARD_BITS;

/// A logical shard, 0 to 63.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShardId(u8);

impl ShardId {
    /// The home of small global data: members, the board directory, leases.
    pub const HOME: Self = Self(0);

    /// The shard of that number, if there is one.
    pub fn new(number: u8) -> Option<Self> {
        (number < SHARDS_U8).then_some(Self(number))
    }

    /// The lowest bits of `bits` as a shard.
    pub(crate) fn wrapping(bits: u64) -> Self {
        let [lowest, ..] = bits.to_le_bytes();
        Self(lowest % SHARDS_U8)
    }

    /// Where what belongs to `owner` lives (the comments of an article, say): spread by hash, so that one busy place loads
    /// no single server.
    pub fn of_parts(owner: impl Id) -> Self {
        Self::wrapping(mix(owner.raw().cast_unsigned()))
    }

    /// A shard for something new that has a name, spread evenly over names.
    pub fn for_name(name: &str) -> Self {
        let folded = name.bytes().fold(0u64, |hash, byte| mix(hash ^ u64::from(byte)));
        Self::wrapping(mix(folded))
    }

    /// 0 to 63.
    pub fn number(self) -> u8 {
        self.0
    }

    /// Every shard, in order.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..SHARDS_U8).map(Self)
    }
}

impl fmt::Display for ShardId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The finaliser of splitmix64: every input bit reaches every output bit, so the sequence bits of an id do not show.
fn mix(mut bits: u64) -> u64 {
    bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// Position of a physical server in the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerIndex(pub u8);

/// Which server holds which logical shard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShardMap {
    server_of: [ServerIndex; SHARDS],
    servers: usize,
}

/// Why a list of ranges is not a shard map.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShardMapError {
    /// A range that is not `N` or `N-M` with N ≤ M ≤ 63.
    #[error("server {server}: \"{range}\" is not a range of shards; write \"0-31\" or \"7\", within 0 to 63")]
    Malformed {
        /// Position of the server in the list.
        server: usize,
        /// What was written.
        range: String,
    },
    /// Two servers claim one shard.
    #[error("shard {shard} is claimed twice, by server {first} and server {second}")]
    Overlap {
        /// The shard in question.
        shard: u8,
        /// The server that claims it first.
        first: usize,
        /// The server that claims it again.
        second: usize,
    },
    /// Shards nobody holds.
    #[error("shards {} to {} belong to no server", .shards.start(), .shards.end())]
    Gap {
        /// The first run of shards without a server.
        shards: RangeInclusive<u8>,
    },
    /// More servers than shards, or none.
    #[error("{count} servers: there can be 1 to 64")]
    ServerCount {
        /// How many were listed.
        count: usize,
    },
}

impl ShardMap {
    /// Everything on one server.
    pub fn single() -> Self {
        Self { server_of: [ServerIndex(0); SHARDS], servers: 1 }
    }

    /// About as many shards for each of so many servers, in ranges.
    pub fn even(servers: usize) -> Result<Self, ShardMapError> {
        if servers == 0 || servers > SHARDS {
            return Err(ShardMapError::ServerCount { count: servers });
        }
        let mut server_of = [ServerIndex(0); SHARDS];
        for (shard, server) in server_of.iter_mut().enumerate() {
            // At most 63, because the shard is below 64.
            *server = ServerIndex(u8::try_from(shard * servers / SHARDS).unwrap_or_default());
        }
        Ok(Self { server_of, servers })
    }

    /// One range a server, in the order of the servers: `["0-31", "32-63"]`. A server without a range holds nothing.
    pub fn from_ranges<S: AsRef<str>>(ranges: &[S]) -> Result<Self, ShardMapError> {
        let runs: Vec<Vec<&str>> = ranges
            .iter()
            .map(|range| Some(range.as_ref()).filter(|range| !range.is_empty()).into_iter().collect())
            .collect();
        Self::from_runs(&runs)
    }

    /// Any number of ranges a server, in the order of the servers.
    pub fn from_runs<S: AsRef<str>>(runs: &[Vec<S>]) -> Result<Self, ShardMapError> {
        if runs.is_empty() || runs.len() > SHARDS {
            return Err(ShardMapError::ServerCount { count: runs.len() });
        }
        let mut holder: [Option<u8>; SHARDS] = [None; SHARDS];
        for (server, texts) in (0_u8..).zip(runs) {
            for text in texts {
                let range = parse_range(text.as_ref()).ok_or_else(|| ShardMapError::Malformed {
                    server: server.into(),
                    range: text.as_ref().to_owned(),
                })?;
                for shard in range {
                    if let Some(first) = holder[usize::from(shard)].replace(server) {
                        return Err(ShardMapError::Overlap { shard, first: first.into(), second: server.into() });
                    }
                }
            }
        }
        let is_free = |shard: &u8| holder[usize::from(*shard)].is_none();
        if let Some(first) = (0..SHARDS_U8).find(is_free) {
            let last = (first..SHARDS_U8).take_while(is_free).last().unwrap_or(first);
            return Err(ShardMapError::Gap { shards: first..=last });
        }
        Ok(Self { server_of: holder.map(|server| ServerIndex(server.unwrap_or_default())), servers: runs.len() })
    }

    /// The server that holds `shard`.
    pub fn server(&self, shard: ShardId) -> ServerIndex {
        self.server_of[usize::from(shard.number())]
    }

    /// How many servers there are.
    pub fn servers(&self) -> usize {
        self.servers
    }
}

fn parse_range(text: &str) -> Option<RangeInclusive<u8>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let first = u8::from_str(first.trim()).ok()?;
    let last = u8::from_str(last.trim()).ok()?;
    (first <= last && usize::from(last) < SHARDS).then_some(first..=last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EventId;

    #[test]
    fn ranges_map_every_shard() {
        let map = ShardMap::from_ranges(&["0-31", "32-62", "63"]).unwrap();
        assert_eq!(map.servers(), 3);
        assert_eq!(map.server(ShardId(31)), ServerIndex(0));
        assert_eq!(map.server(ShardId(63)), ServerIndex(2));
        assert_eq!(ShardId::all().filter(|shard| map.server(*shard) == ServerIndex(1)).count(), 31);
    }

    #[test]
    fn even_shares_are_ranges_and_cover_every_shard() {
        assert_eq!(ShardMap::even(2).unwrap(), ShardMap::from_ranges(&["0-31", "32-63"]).unwrap());
        for servers in 1..=SHARDS {
            let map = ShardMap::even(servers).unwrap();
            let held: Vec<u8> = ShardId::all().map(|shard| map.server(shard).0).collect();
            assert!(held.is_sorted() && usize::from(held[SHARDS - 1]) == servers - 1, "{servers}: {held:?}");
        }
        assert!(ShardMap::even(0).is_err() && ShardMap::even(65).is_err());
    }

    #[test]
    fn a_server_without_a_range_holds_nothing() {
        let map = ShardMap::from_ranges(&["0-31", "32-63", ""]).unwrap();
        assert_eq!(map.servers(), 3);
        assert!(ShardId::all().all(|shard| map.server(shard) != ServerIndex(2)));
    }

    #[test]
    fn a_gap_an_overlap_and_nonsense_are_named() {
        let message = |ranges: &[&str]| ShardMap::from_ranges(ranges).unwrap_err().to_string();
        assert_eq!(message(&["0-20", "31-63"]), "shards 21 to 30 belong to no server");
        assert_eq!(message(&["0-31", "31-63"]), "shard 31 is claimed twice, by server 0 and server 1");
        assert!(message(&["0-64"]).contains("\"0-64\" is not a range"));
        assert!(message(&["9-3"]).contains("server 0"));
        assert_eq!(message(&[]), "0 servers: there can be 1 to 64");
    }

    #[test]
    fn parts_of_articles_spread_evenly_although_ids_share_their_low_bits() {
        let mut counts = [0u32; SHARDS];
        for ms in 0..64_000i64 {
            // One article a millisecond on one board by one node: sequence 0, same shard, same node.
            let article = EventId::from_raw((1_000_000 + ms) << 22 | 5 << 16 | 1 << 8);
            counts[usize::from(ShardId::of_parts(article).number())] += 1;
        }
        assert!(counts.iter().all(|count| (800..1_200).contains(count)), "{counts:?}");
    }

    #[test]
    fn boards_spread_evenly() {
        let mut counts = [0u32; SHARDS];
        for number in 0..64_000 {
            counts[usize::from(ShardId::for_name(&format!("board-{number}")).number())] += 1;
        }
        assert!(counts.iter().all(|count| (800..1_200).contains(count)), "{counts:?}");
    }
}
