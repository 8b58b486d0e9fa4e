//! The owners of what the query model is made of, asked in this process.

use std::sync::Arc;

use async_trait::async_trait;
use madang_article::{Article, ArticleError, ArticleService};
use madang_article_read::{
    ActiveArticle, ArticleHead, ArticleOwner, ArticlePlace, ArticleText, CommentOwner, Count, Discussion, LikeOwner,
    NewestArticles, Owners, ReadJoined, ViewOwner,
};
use madang_board::{ArticleId, BoardId, Pin};
use madang_comment::{CommentError, CommentService};
use madang_kernel::{Page, PageNumber, PageSize, Scroll, StoreError, Timestamp};
use madang_like::{LikeError, LikeService};
use madang_view::ViewService;

/// The services of this process as the owners, where it has all of them; `joined` reads what all of them have by one step,
/// where their stores are one.
pub fn local_owners(
    articles: Arc<ArticleService>,
    comments: Arc<CommentService>,
    likes: Arc<LikeService>,
    views: Arc<ViewService>,
    joined: Option<Arc<dyn ReadJoined>>,
) -> Owners {
    Owners {
        articles: Arc::new(LocalArticles(articles)),
        comments: Arc::new(LocalComments(comments)),
        likes: Arc::new(LocalLikes(likes)),
        views: Arc::new(LocalViews(views)),
        joined,
    }
}

/// The owner of articles, in this process.
pub struct LocalArticles(pub Arc<ArticleService>);

/// The owner of comments, in this process.
pub struct LocalComments(pub Arc<CommentService>);

/// The owner of likes, in this process.
pub struct LocalLikes(pub Arc<LikeService>);

/// The owner of views, in this process.
pub struct LocalViews(pub Arc<ViewService>);

impl LocalArticles {
    /// Every board.
    pub async fn boards(&self) -> Result<Vec<BoardId>, StoreError> {
        let boards = self.0.boards().await.map_err(article_error)?;
        Ok(boards.into_iter().map(|known| known.board.board_id).collect())
    }
}

#[async_trait]
impl ArticleOwner for LocalArticles {
    async fn articles(&self, articles: &[ArticleId]) -> Result<Vec<Option<ArticleText>>, StoreError> {
        let found = self.0.find_many(articles.to_vec()).await.map_err(article_error)?;
        Ok(found.into_iter().map(|article| article.map(text)).collect())
    }

    async fn newest(&self, board: BoardId, limit: usize) -> Result<Option<NewestArticles>, StoreError> {
        present(self.0.newest(board, limit).await)
    }

    async fn site_newest(&self, before: Option<ArticleId>, limit: usize) -> Result<Vec<ArticlePlace>, StoreError> {
        self.0.site_newest(before, limit).await.map_err(article_error)
    }

    async fn places(&self, articles: &[ArticleId]) -> Result<Vec<Option<ArticlePlace>>, StoreError> {
        self.0.places(articles.to_vec()).await.map_err(article_error)
    }

    async fn pins(&self, board: BoardId) -> Result<Arc<[Pin]>, StoreError> {
        self.0.pins(board).await
    }

    async fn page(
        &self,
        board: BoardId,
        page: PageNumber,
        size: PageSize,
    ) -> Result<Option<Page<ArticleHead>>, StoreError> {
        present(self.0.page(board, page, size).await)
    }

    async fn scroll(
        &self,
        board: BoardId,
        before: Option<ArticleId>,
        size: PageSize,
    ) -> Result<Option<Scroll<ArticleHead, ArticleId>>, StoreError> {
        present(self.0.scroll(board, before, size).await)
    }
}

#[async_trait]
impl CommentOwner for LocalComments {
    async fn comment_counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<Discussion>>, StoreError> {
        let counts = self.0.counts(articles.to_vec()).await.map_err(comment_error)?;
        let count = |found: madang_comment::Counted| Discussion {
            count: found.count.comment_count,
            locked: found.count.locked,
            last: found.last,
            version: found.count.version,
        };
        Ok(counts.into_iter().map(|found| found.map(count)).collect())
    }

    async fn active(
        &self,
        board: Option<BoardId>,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<ActiveArticle>, StoreError> {
        let active = self.0.active(board, until, limit).await?;
        let told =
            |madang_comment::Active { article_id, last_at, version }| ActiveArticle { article_id, last_at, version };
        Ok(active.into_iter().map(told).collect())
    }
}

#[async_trait]
impl LikeOwner for LocalLikes {
    async fn like_counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<Count>>, StoreError> {
        let counts = self.0.counts(articles.to_vec()).await.map_err(like_error)?;
        let count = |count: madang_like::LikeCount| Count { count: count.like_count, version: count.version };
        Ok(counts.into_iter().map(|found| found.map(count)).collect())
    }
}

#[async_trait]
impl ViewOwner for LocalViews {
    fn views_in_memory(&self, article: ArticleId) -> Option<u64> {
        self.0.live_count(article)
    }

    async fn remember(&self, stored: &[(ArticleId, u64)]) -> Result<(), StoreError> {
        self.0.remember(stored).await
    }

    async fn view_counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<u64>>, StoreError> {
        self.0.counts(articles).await
    }
}

fn text(article: Article) -> ArticleText {
    let Article { article_id, board_id, title, content, content_html, writer, created_at, modified_at, version } =
        article;
    let head = ArticleHead { article_id, board_id, title, writer, created_at, modified_at, version };
    ArticleText { head, content, content_html }
}

/// `None` when there is no such board.
fn present<T>(answer: Result<T, ArticleError>) -> Result<Option<T>, StoreError> {
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(ArticleError::NotFound(_)) => Ok(None),
        Err(error) => Err(article_error(error)),
    }
}

/// What is no failure of the store is a question that the query model must not ask.
pub(crate) fn article_error(error: ArticleError) -> StoreError {
    match error {
        ArticleError::Store(error) => error,
        other => StoreError::broken("articles", other),
    }
}

pub(crate) fn comment_error(error: CommentError) -> StoreError {
    match error {
        CommentError::Store(error) => error,
        other => StoreError::broken("comments", other),
    }
}

fn like_error(error: LikeError) -> StoreError {
    match error {
        LikeError::Store(error) => error,
        other => StoreError::broken("likes", other),
    }
}
