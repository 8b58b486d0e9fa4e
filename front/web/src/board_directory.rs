//! The boards of the site, which every page names: asked for a few times a second at most, however many people read.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use madang_article::{ArticleError, ArticleService, BoardWithCount};
use madang_board::BoardId;

/// How old the list may be.
const KEPT: Duration = Duration::from_millis(500);
/// A board that is not in the list is looked for again, but not more often than this.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// All boards at some moment of the last half second.
pub(crate) type Boards = Arc<[BoardWithCount]>;

/// Keeps the boards for a moment.
pub(crate) struct BoardDirectory {
    articles: Arc<ArticleService>,
    kept: Mutex<Option<(Instant, Boards)>>,
}

impl BoardDirectory {
    pub(crate) fn new(articles: Arc<ArticleService>) -> Self {
        Self { articles, kept: Mutex::default() }
    }

    /// Every board, oldest first.
    pub(crate) async fn all(&self) -> Result<Boards, ArticleError> {
        self.younger_than(KEPT).await
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
        Ok(self.younger_than(LOOK_AGAIN).await?.iter().find(|board| is_it(board)).cloned())
    }

    async fn younger_than(&self, age: Duration) -> Result<Boards, ArticleError> {
        if let Some((made, boards)) = self.lock().as_ref().filter(|(made, _)| made.elapsed() < age) {
            let _ = made;
            return Ok(Arc::clone(boards));
        }
        let asked = Instant::now();
        let boards: Boards = self.articles.boards().await?.into();
        *self.lock() = Some((asked, Arc::clone(&boards)));
        Ok(boards)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<(Instant, Boards)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
