//! Ids: 63 bits that tell when, where and by whom they were issued; one newtype per thing they name.

use crate::{NodeId, ShardId, Timestamp};

/// Milliseconds since [`ID_EPOCH_MS`]: enough until the year 2093.
pub const TIME_BITS: u32 = 41;
/// The logical shard on which the thing lives.
pub const SHARD_BITS: u32 = 6;
/// The leased number of the issuing process.
pub const NODE_BITS: u32 = 8;
/// Ids of one process and shard within one millisecond.
pub const SEQUENCE_BITS: u32 = 8;
/// 2024-01-01T00:00:00Z, where id time begins.
pub const ID_EPOCH_MS: i64 = 1_704_067_200_000;
/// How many node numbers there are.
pub const NODES: usize = 1 << NODE_BITS;

// The sign bit stays clear, so that every id is a positive BIGINT in any database.
const _: () = assert!(TIME_BITS + SHARD_BITS + NODE_BITS + SEQUENCE_BITS == 63);

/// Text that cannot be an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a decimal number from 1 to 9223372036854775807")]
pub struct IdParseError;

/// What all id newtypes share; lets the generator issue any of them.
pub trait Id: Copy + Send + Sync + 'static {
    /// Wraps raw bits; the caller vouches that they name this kind of thing.
    fn from_raw(raw: i64) -> Self;
    /// The 63 bits, as stored in a BIGINT column.
    fn raw(self) -> i64;

    /// The logical shard written into the id.
    fn shard(self) -> ShardId {
        let bits = self.raw().cast_unsigned() >> (NODE_BITS + SEQUENCE_BITS);
        ShardId::wrapping(bits)
    }

    /// The moment written into the id (never a wall-clock promise: it may be borrowed from the near future).
    fn issued_at(self) -> Timestamp {
        let ms = self.raw().cast_unsigned() >> (SHARD_BITS + NODE_BITS + SEQUENCE_BITS);
        Timestamp::from_millis(ms.cast_signed() + ID_EPOCH_MS)
    }
}

/// Composes the layout `time | shard | node | sequence`.
pub(crate) fn compose(time_ms: u64, shard: ShardId, node: NodeId, sequence: u64) -> i64 {
    debug_assert!(time_ms < 1 << TIME_BITS && sequence < 1 << SEQUENCE_BITS);
    let bits = time_ms << (SHARD_BITS + NODE_BITS + SEQUENCE_BITS)
        | u64::from(shard.number()) << (NODE_BITS + SEQUENCE_BITS)
        | u64::from(node.0) << SEQUENCE_BITS
        | sequence;
    bits.cast_signed()
}

/// Reads the one spelling that an id has.
#[doc(hidden)]
pub fn parse_id(text: &str) -> Result<i64, IdParseError> {
    // One spelling an id, digits only: `i64::from_str` would also take "+5" and "005".
    if text.is_empty() || text.starts_with('0') || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(IdParseError);
    }
    match text.parse::<i64>() {
        Ok(raw) if raw > 0 => Ok(raw),
        _ => Err(IdParseError),
    }
}

/// Declares id newtypes: `ids! { /// An account. AccountId }`. In JSON an id is a string, because numbers lose bits past
/// 2^53 in most clients. The crate that declares them depends on serde.
#[macro_export]
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(i64);

        impl $crate::Id for $name {
            fn from_raw(raw: i64) -> Self {
                Self(raw)
            }
            fn raw(self) -> i64 {
                self.0
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(&self.0, f)
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = $crate::IdParseError;
            fn from_str(text: &str) -> Result<Self, $crate::IdParseError> {
                $crate::parse_id(text).map(Self)
            }
        }

        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(&self.0)
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <::std::borrow::Cow<'de, str> as ::serde::Deserialize>::deserialize(deserializer)?;
                text.parse().map_err(::serde::de::Error::custom)
            }
        }
    )*};
}

ids! {
    /// An event, stable through every retry and replay.
    EventId,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_tells_its_shard_and_time() {
        let raw = compose(1_000, ShardId::new(63).unwrap(), NodeId(255), 255);
        let id = EventId::from_raw(raw);
        assert_eq!(id.shard().number(), 63);
        assert_eq!(id.issued_at().as_millis(), ID_EPOCH_MS + 1_000);
    }

    #[test]
    fn only_plain_positive_decimals_are_ids() {
        for text in ["", "0", "-1", "+1", "01", " 1", "1.0", "abc", "9223372036854775808", "99999999999999999999"] {
            assert_eq!(text.parse::<EventId>(), Err(IdParseError), "{text:?}");
        }
        assert_eq!("9223372036854775807".parse::<EventId>().unwrap().raw(), i64::MAX);
    }

    #[test]
    fn ids_are_strings_in_json() {
        let id = EventId::from_raw(9_007_199_254_740_993);
        assert_eq!(serde_json::to_string(&id).unwrap(), "\"9007199254740993\"");
        assert_eq!(serde_json::from_str::<EventId>("\"9007199254740993\"").unwrap(), id);
        assert!(serde_json::from_str::<EventId>("9007199254740993").is_err());
    }
}
