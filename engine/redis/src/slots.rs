//! Where a tag lies in a cluster, as Redis itself computes it.

use crate::Tag;

/// Slots of a cluster.
pub(crate) const SLOTS: u16 = 16_384;

/// The slot of a tag: CRC-16/XMODEM of what stands between the braces.
pub(crate) fn slot(tag: &Tag) -> u16 {
    let group = tag.as_str().trim_start_matches('{').trim_end_matches('}');
    let crc = group.bytes().fold(0_u16, |mut crc, byte| {
        crc ^= u16::from(byte) << 8;
        for _ in 0..8 {
            crc = if crc & 0x8000 == 0 { crc << 1 } else { crc << 1 ^ 0x1021 };
        }
        crc
    });
    crc % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_those_of_redis() {
        for (group, expected) in [("123456789", 0x31c3), ("foo", 12_182), ("bar", 5_061)] {
            assert_eq!(slot(&Tag::new(group)), expected % SLOTS, "{group}");
        }
    }
}
