//! A look at the front of a message, to leave unread what has no part in any list.

/// The texts of articles: kilobytes in which nothing scores.
const UNREAD: [&[u8]; 2] = [b"article.created", b"article.edited"];

/// Whether the payload is plainly an event that this service has no use for. False when in doubt: then it is decoded.
pub(crate) fn is_of_no_interest(payload: &[u8]) -> bool {
    type_at_the_front(payload).is_some_and(|name| UNREAD.contains(&name))
}

/// The type, if the payload opens as our own writers write it: the event's id, then its type.
fn type_at_the_front(payload: &[u8]) -> Option<&[u8]> {
    let after_id = payload.strip_prefix(br#"{"event_id":""#)?;
    let digits = after_id.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let name = after_id[digits..].strip_prefix(br#"","type":""#)?;
    let end = name.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
    (name[end] == b'"').then_some(&name[..end])
}

#[cfg(test)]
mod tests {
    use madang_event::{ArticleState, ArticleViews, BoardCount, Envelope, Event, Writer};
    use madang_kernel::{ArticleId, BoardId, EventId, Id, MemberId, Timestamp};

    use super::*;

    fn envelope(event: Event) -> Envelope {
        let (event_id, key) = (EventId::from_raw(1 << 60), ArticleId::from_raw(1));
        Envelope { event_id, occurred_at: Timestamp::from_millis(0), key, version: 1, event }
    }

    #[test]
    fn texts_are_left_unread_and_counts_are_not() {
        let state = ArticleState {
            article_id: ArticleId::from_raw(1),
            board_id: BoardId::from_raw(1),
            title: "\"type\":\"article.viewed\"".into(),
            content: "c".into(),
            content_html: "c".into(),
            writer: Writer { member_id: MemberId::from_raw(1), name: "w".into() },
            created_at: Timestamp::from_millis(0),
            modified_at: Timestamp::from_millis(0),
            board_count: BoardCount { article_count: 1, version: 1 },
        };
        assert!(is_of_no_interest(&envelope(Event::ArticleCreated(state.clone())).encode()));
        assert!(is_of_no_interest(&envelope(Event::ArticleEdited(state)).encode()));
        let views = ArticleViews { article_id: ArticleId::from_raw(1), view_count: 1 };
        assert!(!is_of_no_interest(&envelope(Event::ArticleViewed(views)).encode()));
    }

    #[test]
    fn whatever_looks_different_is_decoded() {
        for payload in [
            "",
            "{",
            "{}",
            r#"{"event_id":"1","#,
            r#"{"event_id":"1","type":"#,
            r#"{"event_id":"1","type":"article.created"#,
            r#"{"event_id":"1","type":"article.created\"}"#,
            r#"{"event_id":"1x","type":"article.created"}"#,
            r#"{"type":"article.created","event_id":"1"}"#,
            r#"{"event_id":"1","type":"article.created_elsewhere"}"#,
        ] {
            assert!(!is_of_no_interest(payload.as_bytes()), "{payload}");
        }
    }
}
