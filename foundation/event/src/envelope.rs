//! The envelope around every event, and its JSON: unknown fields are let through, unknown types never guessed at.

use bytes::Bytes;
use madang_board::ArticleId;
use madang_kernel::{EventId, Id, ShardId, Timestamp};
use madang_messaging::{Message, ToMessage};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{ArticleDeleted, ArticleLikes, ArticleLock, ArticleState, ArticleViews, CommentChange, Topic};

/// The names of the types on the wire.
pub mod type_name {
    /// A new article.
    pub const ARTICLE_CREATED: &str = "article.created";
    /// An article's text changed.
    pub const ARTICLE_EDITED: &str = "article.edited";
    /// An article is gone.
    pub const ARTICLE_DELETED: &str = "article.deleted";
    /// An article that a moderator had removed is back.
    pub const ARTICLE_RESTORED: &str = "article.restored";
    /// A new comment.
    pub const COMMENT_CREATED: &str = "comment.created";
    /// A comment's text changed.
    pub const COMMENT_EDITED: &str = "comment.edited";
    /// A comment is gone, or marked as such.
    pub const COMMENT_DELETED: &str = "comment.deleted";
    /// An article takes no new comments, or does again.
    pub const ARTICLE_LOCK_CHANGED: &str = "article.lock_changed";
    /// Members liked an article, or no longer do.
    pub const ARTICLE_LIKES_CHANGED: &str = "article.likes_changed";
    /// Views of an article were written back.
    pub const ARTICLE_VIEWED: &str = "article.viewed";

    /// Every type that this build knows.
    pub const ALL: [&str; 10] = [
        ARTICLE_CREATED,
        ARTICLE_EDITED,
        ARTICLE_DELETED,
        ARTICLE_RESTORED,
        COMMENT_CREATED,
        COMMENT_EDITED,
        COMMENT_DELETED,
        ARTICLE_LOCK_CHANGED,
        ARTICLE_LIKES_CHANGED,
        ARTICLE_VIEWED,
    ];
}

/// What happened. Variants are a noun and a past verb.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A new article.
    ArticleCreated(ArticleState),
    /// An article's text changed.
    ArticleEdited(ArticleState),
    /// An article is gone.
    ArticleDeleted(ArticleDeleted),
    /// An article that a moderator had removed is back, with this text.
    ArticleRestored(ArticleState),
    /// A new comment.
    CommentCreated(CommentChange),
    /// A comment's text changed, and the count did not, only its version; or a comment that a moderator had removed is back.
    CommentEdited(CommentChange),
    /// A comment is gone, or marked as such because others reply to it.
    CommentDeleted(CommentChange),
    /// An article takes no new comments, or does again; the count of comments did not change, only its version.
    ArticleLockChanged(ArticleLock),
    /// Members liked an article, or no longer do.
    ArticleLikesChanged(ArticleLikes),
    /// Views of an article were written back.
    ArticleViewed(ArticleViews),
}

impl Event {
    /// The name of the type on the wire.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::ArticleCreated(_) => type_name::ARTICLE_CREATED,
            Self::ArticleEdited(_) => type_name::ARTICLE_EDITED,
            Self::ArticleDeleted(_) => type_name::ARTICLE_DELETED,
            Self::ArticleRestored(_) => type_name::ARTICLE_RESTORED,
            Self::CommentCreated(_) => type_name::COMMENT_CREATED,
            Self::CommentEdited(_) => type_name::COMMENT_EDITED,
            Self::CommentDeleted(_) => type_name::COMMENT_DELETED,
            Self::ArticleLockChanged(_) => type_name::ARTICLE_LOCK_CHANGED,
            Self::ArticleLikesChanged(_) => type_name::ARTICLE_LIKES_CHANGED,
            Self::ArticleViewed(_) => type_name::ARTICLE_VIEWED,
        }
    }

    /// The stream it belongs to.
    pub fn topic(&self) -> Topic {
        match self {
            Self::ArticleCreated(_) | Self::ArticleEdited(_) | Self::ArticleDeleted(_) | Self::ArticleRestored(_) => {
                Topic::Article
            }
            Self::CommentCreated(_)
            | Self::CommentEdited(_)
            | Self::CommentDeleted(_)
            | Self::ArticleLockChanged(_) => Topic::Comment,
            Self::ArticleLikesChanged(_) => Topic::Like,
            Self::ArticleViewed(_) => Topic::View,
        }
    }
}

/// An event with what every consumer needs to place it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// Stable through retries and replays; what an inbox remembers.
    pub event_id: EventId,
    /// When the change was committed, by the writer's clock.
    pub occurred_at: Timestamp,
    /// The article that orders the event.
    pub key: ArticleId,
    /// The version of the state it carries; the newer one wins, whatever arrives first.
    pub version: u64,
    /// What happened.
    pub event: Event,
}

/// Bytes that are not an event this build knows. Keeps them, so that the dead letters hold what arrived.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{reason}")]
pub struct DecodeError {
    /// What is wrong with them.
    pub reason: DecodeReason,
    /// The bytes as they came.
    pub raw: Bytes,
}

/// What is wrong with the bytes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeReason {
    /// Not JSON, or fields missing or of the wrong type.
    #[error("malformed event: {0}")]
    Malformed(String),
    /// A type that this build has never heard of.
    #[error("unknown event type \"{0}\"")]
    UnknownType(String),
}

#[derive(Serialize, Deserialize)]
struct Wire<'a, D> {
    event_id: EventId,
    #[serde(rename = "type")]
    type_name: std::borrow::Cow<'a, str>,
    key: ArticleId,
    version: u64,
    occurred_at: Timestamp,
    data: D,
}

impl Envelope {
    /// The JSON of the envelope.
    pub fn encode(&self) -> Bytes {
        match &self.event {
            Event::ArticleCreated(state) | Event::ArticleEdited(state) | Event::ArticleRestored(state) => {
                self.encode_with(state)
            }
            Event::ArticleDeleted(gone) => self.encode_with(gone),
            Event::CommentCreated(change) | Event::CommentEdited(change) | Event::CommentDeleted(change) => {
                self.encode_with(change)
            }
            Event::ArticleLockChanged(lock) => self.encode_with(lock),
            Event::ArticleLikesChanged(likes) => self.encode_with(likes),
            Event::ArticleViewed(views) => self.encode_with(views),
        }
    }

    /// Reads an envelope from its JSON.
    pub fn decode(raw: &Bytes) -> Result<Self, DecodeError> {
        parse(raw).map_err(|reason| DecodeError { reason, raw: raw.clone() })
    }

    /// The name of the type of an encoded event, as cheaply as it can be read; `None` for what this build does not know.
    pub fn type_name_of(raw: &[u8]) -> Option<&'static str> {
        let wire: Wire<'_, IgnoredAny> = serde_json::from_slice(raw).ok()?;
        type_name::ALL.into_iter().find(|known| wire.type_name == *known)
    }

    fn encode_with<D: Serialize>(&self, data: &D) -> Bytes {
        let wire = Wire {
            event_id: self.event_id,
            type_name: self.event.type_name().into(),
            key: self.key,
            version: self.version,
            occurred_at: self.occurred_at,
            data,
        };
        // Plain structs of strings and numbers into memory: there is nothing that could fail.
        serde_json::to_vec(&wire).unwrap_or_default().into()
    }
}

fn parse(raw: &[u8]) -> Result<Envelope, DecodeReason> {
    let wire: Wire<'_, &RawValue> = serde_json::from_slice(raw).map_err(malformed)?;
    let event = match wire.type_name.as_ref() {
        type_name::ARTICLE_CREATED => Event::ArticleCreated(data(wire.data)?),
        type_name::ARTICLE_EDITED => Event::ArticleEdited(data(wire.data)?),
        type_name::ARTICLE_DELETED => Event::ArticleDeleted(data(wire.data)?),
        type_name::ARTICLE_RESTORED => Event::ArticleRestored(data(wire.data)?),
        type_name::COMMENT_CREATED => Event::CommentCreated(data(wire.data)?),
        type_name::COMMENT_EDITED => Event::CommentEdited(data(wire.data)?),
        type_name::COMMENT_DELETED => Event::CommentDeleted(data(wire.data)?),
        type_name::ARTICLE_LOCK_CHANGED => Event::ArticleLockChanged(data(wire.data)?),
        type_name::ARTICLE_LIKES_CHANGED => Event::ArticleLikesChanged(data(wire.data)?),
        type_name::ARTICLE_VIEWED => Event::ArticleViewed(data(wire.data)?),
        unknown => return Err(DecodeReason::UnknownType(unknown.to_owned())),
    };
    Ok(Envelope { event_id: wire.event_id, occurred_at: wire.occurred_at, key: wire.key, version: wire.version, event })
}

fn data<'a, D: Deserialize<'a>>(raw: &'a RawValue) -> Result<D, DecodeReason> {
    serde_json::from_str(raw.get()).map_err(malformed)
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err takes")]
fn malformed(error: serde_json::Error) -> DecodeReason {
    DecodeReason::Malformed(error.to_string())
}

impl ToMessage for Envelope {
    fn to_message(&self) -> Message {
        let topic = self.event.topic();
        Message {
            event_id: self.event_id,
            topic: topic.name().to_owned(),
            key: self.key.to_string(),
            shard: match topic {
                Topic::Article => self.key.shard(),
                // What belongs to an article lives apart from its board.
                Topic::Comment | Topic::Like | Topic::View => ShardId::of_parts(self.key),
            },
            occurred_at: self.occurred_at,
            headers: Vec::new(),
            payload: self.encode(),
        }
    }
}

#[cfg(test)]
mod tests {
    use madang_board::{BoardId, CommentId, MemberId};
    use madang_kernel::Id;
    use proptest::prelude::*;

    use super::*;
    use crate::{BoardCount, LastComment, Writer};

    fn created(title: String, content: String) -> Envelope {
        let article_id = ArticleId::from_raw(77);
        Envelope {
            event_id: EventId::from_raw(5),
            occurred_at: Timestamp::from_millis(1_704_067_200_123),
            key: article_id,
            version: 1,
            event: Event::ArticleCreated(ArticleState {
                article_id,
                board_id: BoardId::from_raw(9),
                title,
                content_html: format!("<p>{content}</p>"),
                content,
                writer: Writer { member_id: MemberId::from_raw(3), name: "마당".into() },
                created_at: Timestamp::from_millis(1_704_067_200_000),
                modified_at: Timestamp::from_millis(1_704_067_200_000),
                board_count: BoardCount { article_count: 1, version: 1 },
            }),
        }
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(title in ".{1,100}", content in "(?s).{0,500}") {
            let envelope = created(title, content);
            prop_assert_eq!(Envelope::decode(&envelope.encode()).unwrap(), envelope);
        }

        #[test]
        fn any_bytes_are_an_event_or_refused_with_those_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let raw = Bytes::from(bytes);
            match Envelope::decode(&raw) {
                Ok(envelope) => prop_assert_eq!(Envelope::decode(&envelope.encode()).unwrap(), envelope),
                Err(error) => prop_assert_eq!(error.raw, raw),
            }
        }

        #[test]
        fn a_damaged_event_is_decoded_or_refused(at in any::<prop::sample::Index>(), byte: u8, cut: bool) {
            let mut raw = created("title".into(), "content".into()).encode().to_vec();
            let at = at.index(raw.len());
            if cut { raw.truncate(at) } else { raw[at] = byte }
            let raw = Bytes::from(raw);
            match Envelope::decode(&raw) {
                Ok(envelope) => prop_assert_eq!(Envelope::decode(&envelope.encode()).unwrap(), envelope),
                Err(error) => prop_assert_eq!(error.raw, raw),
            }
        }
    }

    #[test]
    fn every_type_survives_the_wire() {
        let article_id = ArticleId::from_raw(77);
        let comment = CommentChange {
            article_id,
            comment_id: CommentId::from_raw(6),
            parent_id: None,
            comment_count: 1,
            locked: true,
            board_id: Some(BoardId::from_raw(9)),
            last: Some(LastComment {
                comment_id: CommentId::from_raw(6),
                writer: Writer { member_id: MemberId::from_raw(3), name: "마당".into() },
                created_at: Timestamp::from_millis(1_704_067_200_001),
            }),
        };
        let likes = ArticleLikes { article_id, liked: vec![MemberId::from_raw(3)], unliked: vec![], like_count: 1 };
        let board_count = BoardCount { article_count: 0, version: 2 };
        let gone = ArticleDeleted { article_id, board_id: BoardId::from_raw(9), board_count, restorable: false };
        let Event::ArticleCreated(state) = created("t".into(), "c".into()).event else { panic!("a creation") };
        let events = [
            Event::ArticleDeleted(ArticleDeleted { restorable: true, ..gone.clone() }),
            Event::ArticleDeleted(gone),
            Event::ArticleRestored(state),
            Event::CommentCreated(comment.clone()),
            Event::CommentEdited(comment.clone()),
            Event::CommentDeleted(comment),
            Event::ArticleLockChanged(ArticleLock { article_id, comment_count: 1, locked: true, last: None }),
            Event::ArticleLikesChanged(likes),
            Event::ArticleViewed(ArticleViews { article_id, view_count: 100 }),
        ];
        for event in events {
            let envelope = Envelope { event, ..created("t".into(), "c".into()) };
            assert_eq!(Envelope::decode(&envelope.encode()).unwrap(), envelope);
            assert_eq!(Envelope::type_name_of(&envelope.encode()), Some(envelope.event.type_name()));
        }
    }

    #[test]
    fn unknown_fields_are_let_through() {
        let json = String::from_utf8(created("t".into(), "c".into()).encode().to_vec()).unwrap();
        let extended = json.replacen("{\"event_id\"", "{\"added_later\":[1,{}],\"event_id\"", 1).replacen(
            "\"data\":{",
            "\"data\":{\"mood\":\"calm\",",
            1,
        );
        assert_ne!(json, extended);
        assert_eq!(Envelope::decode(&extended.into()).unwrap(), created("t".into(), "c".into()));
    }

    #[test]
    fn an_unknown_type_is_refused_with_its_bytes() {
        let raw = Bytes::from(
            r#"{"event_id":"1","type":"article.pinned","key":"2","version":1,"occurred_at":"2024-01-01T00:00:00Z","data":{}}"#,
        );
        let error = Envelope::decode(&raw).unwrap_err();
        assert_eq!(error.reason, DecodeReason::UnknownType("article.pinned".into()));
        assert_eq!(error.raw, raw);
        assert_eq!(Envelope::type_name_of(&raw), None);
    }

    #[test]
    fn bytes_that_are_no_event_are_refused_with_themselves() {
        for raw in ["", "null", "{}", "\u{feff}{}", r#"{"event_id":1}"#, "\0\u{1}"] {
            let raw = Bytes::from(raw);
            let error = Envelope::decode(&raw).unwrap_err();
            assert!(matches!(error.reason, DecodeReason::Malformed(_)), "{raw:?}");
            assert_eq!(error.raw, raw);
        }
    }

    #[test]
    fn the_longest_article_fits() {
        let content = "\u{10ffff}".repeat(20_000);
        let envelope = created("\"\\\n".repeat(33), content);
        assert_eq!(Envelope::decode(&envelope.encode()).unwrap(), envelope);
    }
}
