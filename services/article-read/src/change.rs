//! What an event changes in the model. Views are no part of it: they are read from their owner through a short cache.

use std::sync::Arc;

use madang_board::{ArticleId, BoardId};
use madang_event::{BoardCount, Envelope, Event};
use serde::{Deserialize, Serialize};

use crate::{ArticleGroup, ArticleText, Count, Discussion, Entry};

/// Whether an article is among those of its board.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Presence {
    /// It was there after the change.
    There,
    /// It is gone, for good or until it is restored.
    Gone,
    /// It was gone and is there again.
    Back,
}

/// What an event says of a board's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoardChange {
    /// The board.
    pub board_id: BoardId,
    /// The article that it is about.
    pub article_id: ArticleId,
    /// Whether that article is on the board.
    pub presence: Presence,
    /// The board's count after the change.
    pub count: BoardCount,
}

/// What an event says of an article, and of its board's list if it says something of that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The article.
    pub article_id: ArticleId,
    /// The groups that the event tells.
    pub entry: Entry,
    /// The board's part of it.
    pub board: Option<BoardChange>,
    /// Whether the event reports the article's creation: only then does nothing older exist.
    pub is_creation: bool,
}

impl Change {
    /// Reads an event; `None` when it changes nothing here.
    pub fn of(envelope: Envelope) -> Option<Self> {
        let version = envelope.version;
        match envelope.event {
            Event::ArticleCreated(state) => {
                let board = there(state.article_id, state.board_id, state.board_count);
                // Nobody can have commented on or liked what did not exist: its counters stand at 0, version 0.
                let (comments, likes) = (Some(Discussion::default()), Some(Count::default()));
                let entry = Entry { comments, likes, ..live(ArticleText::of(state, version)) };
                Some(Self { article_id: board.article_id, entry, board: Some(board), is_creation: true })
            }
            Event::ArticleEdited(state) => {
                let board = there(state.article_id, state.board_id, state.board_count);
                let entry = live(ArticleText::of(state, version));
                Some(Self { article_id: board.article_id, entry, board: Some(board), is_creation: false })
            }
            Event::ArticleRestored(state) => {
                let there = there(state.article_id, state.board_id, state.board_count);
                let board = BoardChange { presence: Presence::Back, ..there };
                // What is counted of it was kept meanwhile, and is asked for where it is not known.
                let entry = live(ArticleText::of(state, version));
                Some(Self { article_id: board.article_id, entry, board: Some(board), is_creation: false })
            }
            Event::ArticleDeleted(gone) => {
                let (article_id, board_id, count) = (gone.article_id, gone.board_id, gone.board_count);
                let board = Some(BoardChange { board_id, article_id, presence: Presence::Gone, count });
                let entry = Entry { article: Some(ArticleGroup::Deleted { version }), ..Entry::default() };
                Some(Self { article_id, entry, board, is_creation: false })
            }
            Event::CommentCreated(change) | Event::CommentEdited(change) | Event::CommentDeleted(change) => {
                let (count, locked, last) = (change.comment_count, change.locked, change.last);
                let comments = Some(Discussion { count, locked, last, version });
                Some(Self::of_count(change.article_id, Entry { comments, ..Entry::default() }))
            }
            Event::ArticleLockChanged(lock) => {
                let (count, locked, last) = (lock.comment_count, lock.locked, lock.last);
                let comments = Some(Discussion { count, locked, last, version });
                Some(Self::of_count(lock.article_id, Entry { comments, ..Entry::default() }))
            }
            Event::ArticleLikesChanged(change) => {
                let likes = Some(Count { count: change.like_count, version });
                Some(Self::of_count(change.article_id, Entry { likes, ..Entry::default() }))
            }
            Event::ArticleViewed(_) => None,
        }
    }

    fn of_count(article_id: ArticleId, entry: Entry) -> Self {
        Self { article_id, entry, board: None, is_creation: false }
    }
}

fn live(text: ArticleText) -> Entry {
    Entry { article: Some(ArticleGroup::Live(Arc::new(text))), ..Entry::default() }
}

fn there(article_id: ArticleId, board_id: BoardId, count: BoardCount) -> BoardChange {
    BoardChange { board_id, article_id, presence: Presence::There, count }
}
