//! What an event says of the lists that no board keeps for itself: the newest of the whole site, and what is active.

use madang_board::BoardId;
use madang_event::{ArticleState, Envelope, Event};
use madang_kernel::{Timestamp, millis};
use serde::{Deserialize, Serialize};

/// A change of where an article stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activity {
    /// It was created.
    Created {
        /// Its board.
        board_id: BoardId,
        /// When.
        #[serde(rename = "at", with = "millis")]
        created_at: Timestamp,
    },
    /// Its comments changed.
    Discussed {
        /// Its board, where that is told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        board_id: Option<BoardId>,
        /// When the newest visible comment was written; `None` when there is none.
        #[serde(default, rename = "at_ms", skip_serializing_if = "Option::is_none")]
        last_at_ms: Option<i64>,
        /// The version of the count of comments.
        version: u64,
    },
    /// It was removed and is there again: where it stands is to be asked.
    Restored {
        /// Its board.
        board_id: BoardId,
    },
}

impl Activity {
    /// What an event says; `None` when it moves nothing. A deletion does not: candidates that are gone leave when they are
    /// met, and a late deletion takes away nothing that was restored.
    pub fn of(envelope: &Envelope) -> Option<Self> {
        match &envelope.event {
            Event::ArticleCreated(ArticleState { board_id, created_at, .. }) => {
                Some(Self::Created { board_id: *board_id, created_at: *created_at })
            }
            Event::ArticleRestored(state) => Some(Self::Restored { board_id: state.board_id }),
            Event::CommentCreated(change) | Event::CommentEdited(change) | Event::CommentDeleted(change) => {
                let last_at_ms = change.last.as_ref().map(|last| last.created_at.as_millis());
                // A process of an earlier version tells no newest comment where there is one.
                let is_told = last_at_ms.is_some() || change.comment_count == 0;
                let version = envelope.version;
                is_told.then_some(Self::Discussed { board_id: change.board_id, last_at_ms, version })
            }
            Event::ArticleEdited(_)
            | Event::ArticleDeleted(_)
            | Event::ArticleLockChanged(_)
            | Event::ArticleLikesChanged(_)
            | Event::ArticleViewed(_) => None,
        }
    }
}
