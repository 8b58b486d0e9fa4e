//! What callers want of the likes of an article, and what they get.

use madang_board::{ArticleId, MemberId};
use madang_kernel::{EventId, Timestamp};
use madang_like::{CleanedUp, Like, LikeOutcome, Unlike};

/// One call.
pub(super) enum Call {
    /// A like, or its end.
    Change(Change),
    /// The article is deleted.
    MarkGone(ArticleId),
    /// Up to so many likes of a deleted article go.
    CleanUp(ArticleId, usize),
    /// The article was never deleted; names the event that says what is left.
    Restore(ArticleId, EventId),
}

impl Call {
    pub(super) fn article(&self) -> ArticleId {
        match self {
            Self::Change(change) => change.article_id,
            Self::MarkGone(article) | Self::CleanUp(article, _) | Self::Restore(article, _) => *article,
        }
    }
}

/// The answer, each for its kind of call.
pub(super) enum Answer {
    Changed(LikeOutcome),
    Marked(bool),
    CleanedUp(CleanedUp),
    Restored(()),
}

/// What one caller wants.
pub(super) struct Change {
    pub(super) article_id: ArticleId,
    pub(super) member_id: MemberId,
    pub(super) event_id: EventId,
    /// The row to be there; `None` when it is to go.
    pub(super) row: Option<NewRow>,
}

/// What a like keeps beside its key.
pub(super) struct NewRow {
    pub(super) member_name: String,
    pub(super) created_at: Timestamp,
}

impl From<Like> for Change {
    fn from(like: Like) -> Self {
        let Like { article_id, member, created_at, event_id } = like;
        let row = Some(NewRow { member_name: member.name, created_at });
        Self { article_id, member_id: member.member_id, event_id, row }
    }
}

impl From<Unlike> for Change {
    fn from(unlike: Unlike) -> Self {
        let Unlike { article_id, member_id, event_id } = unlike;
        Self { article_id, member_id, event_id, row: None }
    }
}
