//! The boards of the site, which every page names: loaded a few times a second at most, however many people read.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use madang_article::{ArticleError, ArticleService, BoardWithCount};
use madang_board::BoardId;

/// How old the list may be.
const TTL: Duration = Duration::from_millis(500);
/// For a board that is not in the list the list is loaded again, but not more often than this.
const RELOAD_AFTER: Duration = Duration::from_millis(50);

/// All boards at some moment of the last half second.
pub(crate) type Boards = Arc<[BoardWithCount]>;

/// Caches the boards for a moment.
pub(crate) struct BoardDirectory {
    articles: Arc<ArticleService>,
    cached: Mutex<Option<(Instant, Boards)>>,
}

impl BoardDirectory {
    pub(crate) fn new(articles: Arc<ArticleService>) -> Self {
        Self { articles, cached: Mutex::default() }
    }

    /// Every board, oldest first.
    pub(crate) async fn all(&self) -> Result<Boards, ArticleError> {
        self.younger_than(TTL).await
    }

    /// The board with this short name.
    pub(crate) async fn by_slug(&self, slug: &str) -> Result<Option<BoardWithCount>, ArticleError> {
        self.find(|board| board.board.slug == slug).await
    }

    /// The board with this id.
    pub(crate) async fn by_id(&self, board: BoardId) -> Result<Option<BoardWithCount>, ArticleError> {
        self.find(|found| found.board.board_id == board).await
    }

    /// A board was created here: the next who asks sees it.
    pub(crate) fn forget(&self) {
        *self.lock() = None;
    }

    async fn find(&self, is_it: impl Fn(&BoardWithCount) -> bool) -> Result<Option<BoardWithCount>, ArticleError> {
        if let Some(found) = self.all().await?.iter().find(|board| is_it(board)) {
            return Ok(Some(found.clone()));
        }
        // It may have been created a moment ago.
        Ok(self.younger_than(RELOAD_AFTER).await?.iter().find(|board| is_it(board)).cloned())
    }

    async fn younger_than(&self, age: Duration) -> Result<Boards, ArticleError> {
        if let Some((_, boards)) = self.lock().as_ref().filter(|(loaded, _)| loaded.elapsed() < age) {
            return Ok(Arc::clone(boards));
        }
        let began = Instant::now();
        let boards: Boards = self.articles.boards().await?.into();
        *self.lock() = Some((began, Arc::clone(&boards)));
        Ok(boards)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<(Instant, Boards)>> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
