//! The owners of what the query model is made of, asked in this process.

use std::ops::Deref;
use std::sync::Arc;

use async_trait::async_trait;
use madang_article::{Article, ArticleError, ArticleService, ArticleSummary};
use madang_article_read::{
    ArticleHead, ArticleOwner, ArticleText, CommentOwner, Count, Entry, LikeOwner, Newest, Owners, ReadJoined,
    ViewOwner, ask_each,
};
use madang_board::{ArticleId, BoardId};
use madang_comment::{CommentError, CommentService};
use madang_kernel::{Page, PageNumber, PageSize, Scroll, StoreError};
use madang_like::{LikeError, LikeService};
use madang_view::ViewService;

/// Asks the services of this process, where it has all of them.
pub struct LocalOwners {
    /// Boards and articles.
    pub articles: Arc<ArticleService>,
    /// Comments.
    pub comments: Arc<CommentService>,
    /// Likes.
    pub likes: Arc<LikeService>,
    /// Views.
    pub views: Arc<ViewService>,
    /// Reads what all of them have by one step, where their stores are one.
    pub together: Option<Arc<dyn ReadJoined>>,
}

/// The owner of articles, in this process. Generic over how the service is held, as its siblings are, so that
/// [`LocalOwners`] lends its own.
pub struct LocalArticles<S = Arc<ArticleService>>(pub S);

/// The owner of comments, in this process.
pub struct LocalComments<S = Arc<CommentService>>(pub S);

/// The owner of likes, in this process.
pub struct LocalLikes<S = Arc<LikeService>>(pub S);

/// The owner of views, in this process.
pub struct LocalViews<S = Arc<ViewService>>(pub S);

#[async_trait]
impl<S: Deref<Target = ArticleService> + Send + Sync> ArticleOwner for LocalArticles<S> {
    async fn articles(&self, articles: &[ArticleId]) -> Result<Vec<Option<ArticleText>>, StoreError> {
        let found = self.0.find_many(articles.to_vec()).await.map_err(article_error)?;
        Ok(found.into_iter().map(|article| article.map(text)).collect())
    }

    async fn newest(&self, board: BoardId, limit: usize) -> Result<Option<Newest>, StoreError> {
        let newest = present(self.0.newest(board, limit).await)?;
        Ok(newest.map(|newest| Newest { ids: newest.ids, is_all: newest.is_all, count: newest.count }))
    }

    async fn page(
        &self,
        board: BoardId,
        page: PageNumber,
        size: PageSize,
    ) -> Result<Option<Page<ArticleHead>>, StoreError> {
        let page = present(self.0.page(board, page, size).await)?;
        let heads = |page: Page<ArticleSummary>| Page {
            items: page.items.into_iter().map(head).collect(),
            known_count: page.known_count,
        };
        Ok(page.map(heads))
    }

    async fn scroll(
        &self,
        board: BoardId,
        before: Option<ArticleId>,
        size: PageSize,
    ) -> Result<Option<Scroll<ArticleHead, ArticleId>>, StoreError> {
        let step = present(self.0.scroll(board, before, size).await)?;
        let heads = |step: Scroll<ArticleSummary, ArticleId>| Scroll {
            items: step.items.into_iter().map(head).collect(),
            next: step.next,
        };
        Ok(step.map(heads))
    }
}

#[async_trait]
impl<S: Deref<Target = CommentService> + Send + Sync> CommentOwner for LocalComments<S> {
    async fn comment_counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<Count>>, StoreError> {
        let counts = self.0.counts(articles.to_vec()).await.map_err(comment_error)?;
        let count = |count: madang_comment::CommentCount| Count { count: count.comment_count, version: count.version };
        Ok(counts.into_iter().map(|found| found.map(count)).collect())
    }
}

#[async_trait]
impl<S: Deref<Target = LikeService> + Send + Sync> LikeOwner for LocalLikes<S> {
    async fn like_counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<Count>>, StoreError> {
        let counts = self.0.counts(articles.to_vec()).await.map_err(like_error)?;
        let count = |count: madang_like::LikeCount| Count { count: count.like_count, version: count.version };
        Ok(counts.into_iter().map(|found| found.map(count)).collect())
    }
}

#[async_trait]
impl<S: Deref<Target = ViewService> + Send + Sync> ViewOwner for LocalViews<S> {
    fn views_in_memory(&self, article: ArticleId) -> Option<u64> {
        self.0.live_count(article)
    }

    async fn view_counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<u64>>, StoreError> {
        self.0.counts(articles).await
    }
}

#[async_trait]
impl Owners for LocalOwners {
    async fn articles(&self, articles: &[ArticleId]) -> Result<Vec<Option<ArticleText>>, StoreError> {
        LocalArticles(&*self.articles).articles(articles).await
    }

    async fn comment_counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<Count>>, StoreError> {
        LocalComments(&*self.comments).comment_counts(articles).await
    }

    async fn like_counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<Count>>, StoreError> {
        LocalLikes(&*self.likes).like_counts(articles).await
    }

    async fn entries(&self, articles: &[ArticleId]) -> Result<Vec<Option<Entry>>, StoreError> {
        let Some(together) = &self.together else { return ask_each(self, articles).await };
        let read = together.read_joined(articles).await?;
        // Whoever reads an article asks for its views next.
        let seen = articles.iter().zip(&read).filter(|(_, read)| read.entry.is_some());
        self.views.remember(&seen.map(|(article, read)| (*article, read.views)).collect::<Vec<_>>()).await?;
        Ok(read.into_iter().map(|read| read.entry).collect())
    }

    fn views_in_memory(&self, article: ArticleId) -> Option<u64> {
        LocalViews(&*self.views).views_in_memory(article)
    }

    async fn view_counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<u64>>, StoreError> {
        LocalViews(&*self.views).view_counts(articles).await
    }

    async fn newest(&self, board: BoardId, limit: usize) -> Result<Option<Newest>, StoreError> {
        LocalArticles(&*self.articles).newest(board, limit).await
    }

    async fn page(
        &self,
        board: BoardId,
        page: PageNumber,
        size: PageSize,
    ) -> Result<Option<Page<ArticleHead>>, StoreError> {
        LocalArticles(&*self.articles).page(board, page, size).await
    }

    async fn scroll(
        &self,
        board: BoardId,
        before: Option<ArticleId>,
        size: PageSize,
    ) -> Result<Option<Scroll<ArticleHead, ArticleId>>, StoreError> {
        LocalArticles(&*self.articles).scroll(board, before, size).await
    }
}

fn text(article: Article) -> ArticleText {
    let Article { article_id, board_id, title, content, content_html, writer, created_at, modified_at, version } =
        article;
    let head = ArticleHead { article_id, board_id, title, writer, created_at, modified_at, version };
    ArticleText { head, content, content_html }
}

fn head(summary: ArticleSummary) -> ArticleHead {
    let ArticleSummary { article_id, board_id, title, writer, created_at, modified_at, version } = summary;
    ArticleHead { article_id, board_id, title, writer, created_at, modified_at, version }
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
fn article_error(error: ArticleError) -> StoreError {
    match error {
        ArticleError::Store(error) => error,
        other => StoreError::broken("articles", other),
    }
}

fn comment_error(error: CommentError) -> StoreError {
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
