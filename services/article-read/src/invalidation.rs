//! What one process tells the near caches of all processes about a change: versions and counts, which are enough to correct
//! what is cached, and never a text, which whoever needs it loads.

use madang_board::ArticleId;
use madang_event::{ArticleState, BoardCount, Envelope, Event, LastComment};
use serde::{Deserialize, Serialize};

use crate::entry::take_newer;
use crate::{Activity, ArticleGroup, BoardChange, Change, Count, Discussion, Entry, Presence};

/// The state of an article after a change, as far as the change tells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invalidation {
    /// The article.
    pub article_id: ArticleId,
    /// What its groups are at.
    #[serde(flatten)]
    pub floor: Floor,
    /// What it means to its board's list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board: Option<BoardChange>,
    /// What it means to lists of what is active. A process of an earlier version does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activity: Option<Activity>,
}

/// How new the groups of an article are at least. What is older must not be shown any more.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Floor {
    /// The text has this version, or a newer one.
    #[serde(default, rename = "v", skip_serializing_if = "Option::is_none")]
    pub text: Option<u64>,
    /// It was deleted, at this version.
    #[serde(default, rename = "d", skip_serializing_if = "Option::is_none")]
    pub deleted: Option<u64>,
    /// Visible comments, and whether new ones are taken.
    #[serde(default, rename = "c", skip_serializing_if = "Option::is_none")]
    pub comments: Option<Discussion>,
    /// Likes.
    #[serde(default, rename = "l", skip_serializing_if = "Option::is_none")]
    pub likes: Option<Count>,
}

impl Invalidation {
    /// What an event says; `None` when the model does not depend on it.
    pub fn of(envelope: &Envelope) -> Option<Self> {
        let (article_id, version) = (envelope.key, envelope.version);
        let comments = |count, locked, last: &Option<LastComment>| Floor {
            comments: Some(Discussion { count, locked, last: last.clone(), version }),
            ..Floor::default()
        };
        let (floor, board) = match &envelope.event {
            Event::ArticleCreated(state) | Event::ArticleEdited(state) => {
                (Floor { text: Some(version), ..Floor::default() }, Some(there(state)))
            }
            Event::ArticleRestored(state) => {
                let board = BoardChange { presence: Presence::Back, ..there(state) };
                (Floor { text: Some(version), ..Floor::default() }, Some(board))
            }
            Event::ArticleDeleted(gone) => {
                let board = on_board(article_id, gone.board_id, Presence::Gone, gone.board_count);
                (Floor { deleted: Some(version), ..Floor::default() }, Some(board))
            }
            Event::CommentCreated(change) | Event::CommentEdited(change) | Event::CommentDeleted(change) => {
                (comments(change.comment_count, change.locked, &change.last), None)
            }
            Event::ArticleLockChanged(lock) => (comments(lock.comment_count, lock.locked, &lock.last), None),
            Event::ArticleLikesChanged(change) => {
                let likes = Some(Count { count: change.like_count, version });
                (Floor { likes, ..Floor::default() }, None)
            }
            Event::ArticleViewed(_) => return None,
        };
        Some(Self { article_id, floor, board, activity: Activity::of(envelope) })
    }
}

impl From<&Change> for Invalidation {
    fn from(change: &Change) -> Self {
        let Change { article_id, entry, board, .. } = change;
        let Entry { article, comments, likes } = entry;
        let (text, deleted) = match article {
            Some(ArticleGroup::Live(text)) => (Some(text.head.version), None),
            Some(ArticleGroup::Deleted { version }) => (None, Some(*version)),
            None => (None, None),
        };
        Self {
            article_id: *article_id,
            floor: Floor { text, deleted, comments: comments.clone(), likes: *likes },
            board: *board,
            // Those lists hear of it where it was committed.
            activity: None,
        }
    }
}

fn there(state: &ArticleState) -> BoardChange {
    on_board(state.article_id, state.board_id, Presence::There, state.board_count)
}

fn on_board(
    article_id: ArticleId,
    board_id: madang_board::BoardId,
    presence: Presence,
    count: BoardCount,
) -> BoardChange {
    BoardChange { board_id, article_id, presence, count }
}

impl Floor {
    /// Takes the newer of each.
    pub fn merge(&mut self, other: &Self) {
        self.text = self.text.max(other.text);
        self.deleted = self.deleted.max(other.deleted);
        take_newer(&mut self.comments, other.comments.as_ref(), |comments| comments.version);
        take_newer(&mut self.likes, other.likes.as_ref(), |likes| likes.version);
    }

    /// Raises an entry to this; `false` when it has a text that is too old to be shown, or a deletion that was taken back.
    #[must_use]
    pub fn raise(&self, entry: &mut Entry) -> bool {
        if let Some(version) = self.deleted.filter(|deleted| self.text.is_none_or(|text| text <= *deleted)) {
            entry.merge(Entry { article: Some(ArticleGroup::Deleted { version }), ..Entry::default() });
        }
        entry.merge(Entry { article: None, comments: self.comments.clone(), likes: self.likes });
        let known = match &entry.article {
            Some(ArticleGroup::Live(text)) => Some(text.head.version),
            Some(ArticleGroup::Deleted { version }) => Some(*version),
            None => None,
        };
        known.is_none_or(|known| self.text.is_none_or(|version| known >= version))
    }

    /// Whether it says that the article exists, or did.
    pub fn tells_of_a_text(&self) -> bool {
        self.text.is_some()
    }
}
