//! One change of an article as the hubs of several processes tell it to one another: a few bytes, no text, no names.

use madang_board::CommentId;
use madang_event::{Envelope, Event};
use serde::{Deserialize, Serialize};

use super::Reading;

/// What changed, with the state after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// The text, which is at this version now.
    Edited(u64),
    /// The article is gone.
    Gone,
    /// It is back, with a text of this version.
    Restored(u64),
    /// A comment was written.
    Commented(CommentId, Reading),
    /// The text of a comment changed.
    CommentEdited(CommentId, Reading),
    /// A comment was deleted.
    Uncommented(CommentId, Reading),
    /// New comments are no longer taken, or again; the count stays, its version grows.
    LockChanged(Reading),
    /// Likes.
    Liked(Reading),
    /// Views.
    Viewed(Reading),
}

impl Change {
    /// What an event says to those who have its article open; `None` for one that nobody can have open yet.
    pub fn of(envelope: &Envelope) -> Option<Self> {
        let reading = |count| Reading { count, version: envelope.version };
        Some(match &envelope.event {
            Event::ArticleCreated(_) => return None,
            Event::ArticleEdited(_) => Self::Edited(envelope.version),
            Event::ArticleDeleted(_) => Self::Gone,
            Event::ArticleRestored(_) => Self::Restored(envelope.version),
            Event::CommentCreated(change) => Self::Commented(change.comment_id, reading(change.comment_count)),
            Event::CommentEdited(change) => Self::CommentEdited(change.comment_id, reading(change.comment_count)),
            Event::CommentDeleted(change) => Self::Uncommented(change.comment_id, reading(change.comment_count)),
            Event::ArticleLockChanged(lock) => Self::LockChanged(reading(lock.comment_count)),
            Event::ArticleLikesChanged(likes) => Self::Liked(reading(likes.like_count)),
            Event::ArticleViewed(views) => Self::Viewed(reading(views.view_count)),
        })
    }

    /// The change as it travels.
    pub fn encode(&self) -> Vec<u8> {
        // Numbers and names only, which always can be written.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// The change that travelled; `None` for what a newer version of the program says.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }
}

#[cfg(test)]
mod tests {
    use madang_kernel::Id;

    use super::*;

    #[test]
    fn a_change_survives_its_way() {
        let reading = Reading { count: 3, version: u64::MAX };
        let comment = CommentId::from_raw(i64::MAX);
        for change in [
            Change::Edited(2),
            Change::Gone,
            Change::Restored(3),
            Change::Commented(comment, reading),
            Change::CommentEdited(comment, reading),
            Change::Uncommented(comment, reading),
            Change::LockChanged(reading),
            Change::Liked(reading),
            Change::Viewed(reading),
        ] {
            assert_eq!(Change::decode(&change.encode()), Some(change));
        }
        assert_eq!(Change::decode(b"{\"newer\":1}"), None);
    }
}
