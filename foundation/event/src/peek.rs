//! A look at the front of an encoded event: its type, key and version without parsing what it carries, for those who
//! ignore most of what they are handed.

use madang_board::ArticleId;
use madang_kernel::EventId;

use crate::{Envelope, type_name};

/// What the front of an encoded event says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peeked<'a> {
    /// Stable through retries and replays.
    pub event_id: EventId,
    /// One of [`type_name::ALL`].
    pub type_name: &'a str,
    /// The article that orders the event.
    pub key: ArticleId,
    /// The version of the state it carries.
    pub version: u64,
}

impl Envelope {
    /// Reads the front of what [`Envelope::encode`] writes. `None` for everything else (another order of fields, another
    /// spelling, a type that this build does not know), which says nothing about it: decode it.
    ///
    /// The data is not looked at, only that the text ends as an event does. So bytes that were damaged in the middle
    /// may be peeked at and yet be refused by [`Envelope::decode`]: peek to ignore an event, never to apply one.
    pub fn peek(raw: &[u8]) -> Option<Peeked<'_>> {
        let (event_id, rest) = text(raw.strip_prefix(br#"{"event_id":"#)?)?;
        let (type_name, rest) = text(rest.strip_prefix(br#","type":"#)?)?;
        let (key, rest) = text(rest.strip_prefix(br#","key":"#)?)?;
        let (version, rest) = number(rest.strip_prefix(br#","version":"#)?)?;
        let (_, rest) = text(rest.strip_prefix(br#","occurred_at":"#)?)?;
        let data = rest.strip_prefix(br#","data":{"#)?;
        let whole = data.ends_with(b"}}") && type_name::ALL.contains(&type_name);
        whole.then_some(Peeked { event_id: event_id.parse().ok()?, type_name, key: key.parse().ok()?, version })
    }
}

/// A string without anything that would have to be unescaped, and what follows it.
fn text(raw: &[u8]) -> Option<(&str, &[u8])> {
    let raw = raw.strip_prefix(b"\"")?;
    let end = raw
        .iter()
        .position(|byte| !matches!(byte, b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'.' | b'_' | b':' | b'-'))?;
    let (text, rest) = raw.split_at(end);
    Some((std::str::from_utf8(text).ok()?, rest.strip_prefix(b"\"")?))
}

/// A whole number as JSON spells it, and what follows it.
fn number(raw: &[u8]) -> Option<(u64, &[u8])> {
    let end = raw.iter().position(|byte| !byte.is_ascii_digit())?;
    let (digits, rest) = raw.split_at(end);
    if digits.len() > 1 && digits[0] == b'0' {
        return None;
    }
    Some((std::str::from_utf8(digits).ok()?.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use madang_board::{BoardId, CommentId, MemberId};
    use madang_kernel::{Id, Timestamp};
    use proptest::prelude::*;

    use super::*;
    use crate::{
        ArticleDeleted, ArticleLikes, ArticleLock, ArticleState, ArticleViews, BoardCount, CommentChange, Event, Writer,
    };

    fn event(kind: usize, article: i64, text: String, count: u64) -> Event {
        let article_id = ArticleId::from_raw(article);
        let board_count = BoardCount { article_count: count, version: count };
        let state = ArticleState {
            article_id,
            board_id: BoardId::from_raw(9),
            title: text.clone(),
            content_html: text.clone(),
            content: text.clone(),
            writer: Writer { member_id: MemberId::from_raw(3), name: text },
            created_at: Timestamp::from_millis(1),
            modified_at: Timestamp::from_millis(2),
            board_count,
        };
        let comment = CommentChange {
            article_id,
            comment_id: CommentId::from_raw(6),
            parent_id: None,
            comment_count: count,
            locked: count % 2 == 1,
            board_id: Some(BoardId::from_raw(9)),
            last: None,
        };
        let likes = ArticleLikes { article_id, liked: vec![], unliked: vec![], like_count: count };
        match kind {
            0 => Event::ArticleCreated(state),
            1 => Event::ArticleEdited(state),
            2 => {
                let (board_id, restorable) = (BoardId::from_raw(9), count.is_multiple_of(2));
                Event::ArticleDeleted(ArticleDeleted { article_id, board_id, board_count, restorable })
            }
            3 => Event::ArticleRestored(state),
            4 => Event::CommentCreated(comment),
            5 => Event::CommentEdited(comment),
            6 => Event::CommentDeleted(comment),
            7 => Event::ArticleLockChanged(ArticleLock {
                article_id,
                comment_count: count,
                locked: count.is_multiple_of(2),
                last: None,
            }),
            8 => Event::ArticleLikesChanged(likes),
            _ => Event::ArticleViewed(ArticleViews { article_id, view_count: count }),
        }
    }

    prop_compose! {
        fn envelope()(
            kind in 0..type_name::ALL.len(), id in 1..i64::MAX, article in 1..i64::MAX, version: u64, count: u64,
            ms in 0..4_000_000_000_000_i64, text in "(?s).{0,60}",
        ) -> Envelope {
            Envelope {
                event_id: EventId::from_raw(id),
                occurred_at: Timestamp::from_millis(ms),
                key: ArticleId::from_raw(article),
                version,
                event: event(kind, article, text, count),
            }
        }
    }

    fn agrees(peeked: Peeked<'_>, decoded: &Envelope) -> bool {
        let Envelope { event_id, key, version, event, .. } = decoded;
        peeked == Peeked { event_id: *event_id, type_name: event.type_name(), key: *key, version: *version }
    }

    proptest! {
        #[test]
        fn a_peek_agrees_with_what_is_decoded(envelope in envelope()) {
            let raw = envelope.encode();
            prop_assert!(agrees(Envelope::peek(&raw).unwrap(), &Envelope::decode(&raw).unwrap()));
        }

        #[test]
        fn a_damaged_event_is_peeked_at_as_it_is_decoded_or_not_at_all(
            envelope in envelope(), at: prop::sample::Index, byte: u8, cut: prop::sample::Index, cuts: bool,
        ) {
            let mut raw = envelope.encode().to_vec();
            let place = at.index(raw.len());
            raw[place] = byte;
            if cuts {
                raw.truncate(cut.index(raw.len()));
            }
            if let (Some(peeked), Ok(decoded)) = (Envelope::peek(&raw), Envelope::decode(&Bytes::from(raw.clone()))) {
                prop_assert!(agrees(peeked, &decoded));
            }
        }

        #[test]
        fn any_bytes_may_be_peeked_at(raw: Vec<u8>, front in 0..80_usize) {
            let _ = Envelope::peek(&raw);
            let sample = br#"{"event_id":"5","type":"article.viewed","key":"7","version":1,"occurred_at":"x","data":{}}"#;
            let spliced: Vec<u8> = sample[..front].iter().copied().chain(raw).collect();
            let _ = Envelope::peek(&spliced);
        }
    }

    #[test]
    fn what_is_not_spelled_as_we_spell_it_is_left_to_the_decoder() {
        let ours = r#"{"event_id":"5","type":"article.viewed","key":"7","version":1,"occurred_at":"2024-01-01T00:00:00.000Z","data":{"article_id":"7","view_count":1}}"#;
        assert!(Envelope::peek(ours.as_bytes()).is_some());
        for (from, to) in [
            ("{\"event_id\"", "{ \"event_id\""),
            ("article.viewed", "article.pinned"),
            ("article.viewed", "article\\u002eviewed"),
            ("\"7\",\"version\"", "\"seven\",\"version\""),
            ("\"version\":1", "\"version\":01"),
            ("\"version\":1", "\"version\":-1"),
            ("\"version\":1", "\"version\":18446744073709551616"),
            ("\"data\":{", "\"data\":["),
            ("1}}", "1}"),
            ("1}}", "1}} "),
        ] {
            let other = ours.replacen(from, to, 1);
            assert_ne!(other, ours);
            assert_eq!(Envelope::peek(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn every_type_is_known() {
        for kind in 0..type_name::ALL.len() {
            assert_eq!(event(kind, 7, String::new(), 1).type_name(), type_name::ALL[kind]);
        }
    }
}
