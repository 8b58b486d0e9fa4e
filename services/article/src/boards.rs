//! Use cases of boards: create, change, archive, delete, list.

use madang_board::rules::{About, Action, may};
use madang_board::{Actor, BoardId, CommentMode};
use madang_kernel::{Created, Idempotency, ShardId, StoreError};

use crate::board_cache::{BoardFacts, CachedBoard};
use crate::service::NO_BOARD;
use crate::{
    ArticleError, ArticleService, Board, BoardState, BoardWithCount, CreateBoard, DeleteBoard, EditBoard, NewBoard,
};

/// A board as its creator asks for it.
#[derive(Debug, Clone)]
pub struct BoardDraft {
    /// 2 to 32 of a-z, 0-9 and `-`, starting with a letter or digit.
    pub slug: String,
    /// 1 to 100 characters.
    pub title: String,
    /// How comments are arranged.
    pub comment_mode: CommentMode,
}

/// A board as an administrator wants it.
#[derive(Debug, Clone)]
pub struct BoardEdit {
    /// 1 to 100 characters.
    pub title: String,
    /// At most 500 characters.
    pub description: String,
    /// 0 to 1,000,000.
    pub position: i64,
    /// Whether it can only be read.
    pub archived: bool,
}

impl ArticleService {
    /// Creates the board `general` if the site has no board at all; true when it did.
    pub async fn ensure_first_board(&self) -> Result<bool, ArticleError> {
        if !self.boards().await?.is_empty() {
            return Ok(false);
        }
        let draft = BoardDraft { slug: "general".into(), title: "General".into(), comment_mode: CommentMode::TwoLevel };
        match self.new_board(&draft, None).await {
            Ok(_) => Ok(true),
            // Another process was faster.
            Err(ArticleError::SlugTaken) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Creates a board (administrators), the last in order.
    pub async fn create_board(
        &self,
        actor: &Actor,
        draft: BoardDraft,
        idempotency: Option<Idempotency>,
    ) -> Result<BoardWithCount, ArticleError> {
        may(actor, Action::CreateBoard, About::NOTHING)?;
        self.new_board(&draft, idempotency).await
    }

    async fn new_board(
        &self,
        draft: &BoardDraft,
        idempotency: Option<Idempotency>,
    ) -> Result<BoardWithCount, ArticleError> {
        let (slug, title) = draft.check()?;
        // Of two boards that are created at once and stand at one position the older is first, so no lock is needed.
        let position = self.store.boards().await?.iter().map(|found| found.board.position).max().unwrap_or(0);
        let board = Board {
            board_id: self.next_id(ShardId::for_name(slug.as_str()))?,
            slug: slug.into_string(),
            title: title.into_string(),
            description: String::new(),
            position,
            comment_mode: draft.comment_mode,
            created_at: self.clock.now(),
        };
        let (epoch, now) = (self.board_cache.epoch(), board.created_at);
        let board = match self.store.create_board(NewBoard { board, idempotency }).await? {
            CreateBoard::Created(Created::Now(board)) => {
                let facts = BoardFacts { comment_mode: board.comment_mode, archived: false };
                self.board_cache.note_existing(board.board_id, facts, now, epoch);
                board
            }
            CreateBoard::Created(Created::Before(board)) => board,
            CreateBoard::Created(Created::KeyReused) => return Err(ArticleError::KeyReused),
            CreateBoard::SlugTaken => return Err(ArticleError::SlugTaken),
        };
        // A repeated request gets the answer of the first, so the board is as empty as it was then.
        Ok(BoardWithCount { board, article_count: 0, archived: false, last_activity_at: None })
    }

    /// Changes a board, and whether it takes changes (administrators).
    pub async fn edit_board(
        &self,
        actor: &Actor,
        board: BoardId,
        edit: BoardEdit,
    ) -> Result<BoardWithCount, ArticleError> {
        may(actor, Action::EditBoard, About::NOTHING)?;
        let (title, description, position) = edit.check()?;
        let edit = EditBoard {
            board_id: board,
            title: title.into_string(),
            description: description.into_string(),
            position: position.get(),
            state: BoardState::archived(edit.archived),
        };
        let edited = self.store.edit_board(edit).await;
        // Whatever came of it: what was cached may be wrong now.
        self.board_cache.forget(board);
        edited?.ok_or(NO_BOARD)
    }

    /// Deletes a board that has no articles (administrators).
    pub async fn delete_board(&self, actor: &Actor, board: BoardId) -> Result<(), ArticleError> {
        may(actor, Action::DeleteBoard, About::NOTHING)?;
        let deleted = self.store.delete_board(board).await;
        self.board_cache.forget(board);
        match deleted? {
            DeleteBoard::Deleted => Ok(()),
            DeleteBoard::HasArticles => Err(ArticleError::HasArticles),
            DeleteBoard::Absent => Err(NO_BOARD),
        }
    }

    /// Every board by its position, of equal ones the oldest first.
    pub async fn boards(&self) -> Result<Vec<BoardWithCount>, ArticleError> {
        let mut boards = self.store.boards().await?;
        boards.sort_by_key(|found| (found.board.position, found.board.board_id));
        Ok(boards)
    }

    /// One board.
    pub async fn board(&self, board: BoardId) -> Result<BoardWithCount, ArticleError> {
        let now = self.clock.now();
        if self.board_cache.find(board, now) == CachedBoard::Absent {
            return Err(NO_BOARD);
        }
        let epoch = self.board_cache.epoch();
        match self.store.find_board(board).await? {
            Some(found) => {
                let facts = BoardFacts { comment_mode: found.board.comment_mode, archived: found.archived };
                self.board_cache.note_existing(board, facts, now, epoch);
                Ok(found)
            }
            None => {
                self.board_cache.note_absent(board, now);
                Err(NO_BOARD)
            }
        }
    }

    /// Asks the store about a board only while nothing fresh is cached.
    pub(crate) async fn require_board(&self, board: BoardId) -> Result<(), ArticleError> {
        match self.board_cache.find(board, self.clock.now()) {
            CachedBoard::There(_) => Ok(()),
            CachedBoard::Absent => Err(NO_BOARD),
            CachedBoard::Miss => self.board(board).await.map(drop),
        }
    }

    /// What other services ask about a board; `None` when there is no such.
    pub(crate) async fn board_facts(&self, board: BoardId) -> Result<Option<BoardFacts>, StoreError> {
        if let CachedBoard::There(facts) = self.board_cache.find(board, self.clock.now()) {
            return Ok(Some(facts));
        }
        match self.board(board).await {
            Ok(found) => Ok(Some(BoardFacts { comment_mode: found.board.comment_mode, archived: found.archived })),
            Err(ArticleError::Store(error)) => Err(error),
            Err(_) => Ok(None),
        }
    }
}
