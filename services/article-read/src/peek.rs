//! Reads type, article and version from the front of an event without parsing the rest: texts are most of the bytes, and
//! most of them are known already.

use madang_kernel::ArticleId;

/// What stands at the front of an event.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Peeked<'a> {
    pub(crate) type_name: &'a str,
    pub(crate) key: ArticleId,
    pub(crate) version: u64,
}

/// The front of an event as this program writes it; `None` for anything else, which is then decoded.
pub(crate) fn peek(raw: &[u8]) -> Option<Peeked<'_>> {
    /// Longer than any front.
    const FRONT_BYTES: usize = 256;
    let front = &raw[..raw.len().min(FRONT_BYTES)];
    // The cut may go through a character further back; the front itself is ASCII.
    let front = match std::str::from_utf8(front) {
        Ok(front) => front,
        Err(error) => std::str::from_utf8(&front[..error.valid_up_to()]).ok()?,
    };
    let (_, front) = front.strip_prefix("{\"event_id\":\"")?.split_once("\",\"type\":\"")?;
    let (type_name, front) = front.split_once("\",\"key\":\"")?;
    let (key, front) = front.split_once("\",\"version\":")?;
    let (version, _) = front.split_once(',')?;
    Some(Peeked { type_name, key: key.parse().ok()?, version: version.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sample::{board_count, commented, created, deleted, edited, liked};

    #[test]
    fn the_front_agrees_with_the_whole() {
        let count = board_count(1, 1);
        for event in [created(5, count), edited(5, 2, count), deleted(6, 3, count), commented(7, 4, 1), liked(8, 5, 1)]
        {
            let raw = event.encode();
            let expected = Peeked { type_name: event.event.type_name(), key: event.key, version: event.version };
            assert_eq!(peek(&raw), Some(expected));
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(raw in prop::collection::vec(any::<u8>(), 0..400), cut in 0..400usize) {
            peek(&raw);
            let event = created(5, board_count(1, 1)).encode();
            peek(&event[..cut.min(event.len())]);
        }
    }
}
