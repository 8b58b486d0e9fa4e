//! Use cases of boards and articles: check the rules, make the ids, ask the store.

use std::sync::Arc;

use madang_kernel::{
    Actor, ArticleId, BoardId, Clock, IdGenerator, Invalid, Once, Page, PageNumber, PageSize, Scroll, StoreError,
};

use crate::{Article, ArticleStore, ArticleSummary, BoardWithCount, CommentMode};

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

/// An article as its writer hands it in.
#[derive(Debug, Clone)]
pub struct ArticleDraft {
    /// 1 to 100 characters.
    pub title: String,
    /// 1 to 20,000 characters of Markdown.
    pub content: String,
}

/// Why a use case did not happen.
#[derive(Debug, thiserror::Error)]
pub enum ArticleError {
    /// There is no such thing; says which kind.
    #[error("there is no such {0}")]
    NotFound(&'static str),
    /// The actor may not do this; says why.
    #[error("{0}")]
    Forbidden(&'static str),
    /// The input is not acceptable.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The article is no longer at the version the caller saw.
    #[error("the article was changed meanwhile")]
    Changed,
    /// Another board has this slug.
    #[error("another board has this slug")]
    SlugTaken,
    /// The idempotency key was used with another body.
    #[error("this Idempotency-Key was used with another body")]
    KeyReused,
    /// The store could not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Boards and articles.
pub struct ArticleService {
    store: Arc<dyn ArticleStore>,
    ids: Arc<IdGenerator>,
    clock: Arc<dyn Clock>,
}

impl ArticleService {
    /// A service over a store.
    pub fn new(store: Arc<dyn ArticleStore>, ids: Arc<IdGenerator>, clock: Arc<dyn Clock>) -> Self {
        Self { store, ids, clock }
    }

    /// Creates the board `general` if the site has no board at all; true when it did.
    pub async fn ensure_first_board(&self) -> Result<bool, ArticleError> {
        unimplemented!()
    }

    /// Creates a board (administrators).
    pub async fn create_board(
        &self,
        actor: &Actor,
        draft: BoardDraft,
        once: Option<Once>,
    ) -> Result<BoardWithCount, ArticleError> {
        unimplemented!()
    }

    /// Every board, oldest first.
    pub async fn boards(&self) -> Result<Vec<BoardWithCount>, ArticleError> {
        unimplemented!()
    }

    /// One board.
    pub async fn board(&self, board: BoardId) -> Result<BoardWithCount, ArticleError> {
        unimplemented!()
    }

    /// Writes an article.
    pub async fn create(
        &self,
        actor: &Actor,
        board: BoardId,
        draft: ArticleDraft,
        once: Option<Once>,
    ) -> Result<Article, ArticleError> {
        unimplemented!()
    }

    /// Changes an article (author or moderator), if it is still at `expected_version`.
    pub async fn edit(
        &self,
        actor: &Actor,
        article: ArticleId,
        draft: ArticleDraft,
        expected_version: Option<u64>,
    ) -> Result<Article, ArticleError> {
        unimplemented!()
    }

    /// Deletes an article (author or moderator).
    pub async fn delete(&self, actor: &Actor, article: ArticleId) -> Result<(), ArticleError> {
        unimplemented!()
    }

    /// One article.
    pub async fn get(&self, article: ArticleId) -> Result<Article, ArticleError> {
        unimplemented!()
    }

    /// A numbered page of a board, newest first.
    pub async fn page(
        &self,
        board: BoardId,
        page: PageNumber,
        size: PageSize,
    ) -> Result<Page<ArticleSummary>, ArticleError> {
        unimplemented!()
    }

    /// A step down a board from `before`, or from the newest.
    pub async fn scroll(
        &self,
        board: BoardId,
        before: Option<ArticleId>,
        size: PageSize,
    ) -> Result<Scroll<ArticleSummary, ArticleId>, ArticleError> {
        unimplemented!()
    }
}
