//! The owners of what is searched, asked in this process.

use std::sync::Arc;

use async_trait::async_trait;
use madang_article::{Article, ArticleService};
use madang_board::{ArticleId, BoardId, CommentId};
use madang_comment::{Comment, CommentError, CommentService};
use madang_kernel::{PageSize, StoreError};
use madang_search::{FoundComment, SearchOwners, SourceArticle, SourceComment};

use crate::owners::{article_error, comment_error};

/// The services of this process as the owners of texts.
pub struct LocalSearchOwners {
    articles: Arc<ArticleService>,
    comments: Arc<CommentService>,
}

impl LocalSearchOwners {
    /// Over the owners themselves, not over a cache of what they have.
    pub fn new(articles: Arc<ArticleService>, comments: Arc<CommentService>) -> Self {
        Self { articles, comments }
    }
}

/// As many as a step of a list has.
fn slice() -> PageSize {
    PageSize::new("limit", PageSize::MAX.into()).unwrap_or(PageSize::DEFAULT)
}

#[async_trait]
impl SearchOwners for LocalSearchOwners {
    async fn articles(&self, articles: &[ArticleId]) -> Result<Vec<Option<SourceArticle>>, StoreError> {
        if articles.is_empty() {
            return Ok(Vec::new());
        }
        let found = self.articles.find_many(articles.to_vec()).await.map_err(article_error)?;
        Ok(found.into_iter().map(|found| found.map(source)).collect())
    }

    async fn comments(&self, comments: &[CommentId]) -> Result<Vec<FoundComment>, StoreError> {
        if comments.is_empty() {
            return Ok(Vec::new());
        }
        let found = self.comments.find_many(comments.to_vec()).await.map_err(comment_error)?;
        let found = found.into_iter().map(|found| match found {
            None => FoundComment::Absent,
            Some(comment) => {
                let version = comment.version;
                readable(comment).map_or(FoundComment::Marked(version), FoundComment::Readable)
            }
        });
        Ok(found.collect())
    }

    async fn boards(&self) -> Result<Vec<BoardId>, StoreError> {
        let boards = self.articles.boards().await.map_err(article_error)?;
        Ok(boards.into_iter().map(|known| known.board.board_id).collect())
    }

    async fn articles_before(&self, board: BoardId, before: Option<ArticleId>) -> Result<Vec<ArticleId>, StoreError> {
        match self.articles.scroll(board, before, slice()).await {
            Ok(step) => Ok(step.items.iter().map(|article| article.article_id).collect()),
            // Deleted since it was listed.
            Err(madang_article::ArticleError::NotFound(_)) => Ok(Vec::new()),
            Err(error) => Err(article_error(error)),
        }
    }

    async fn commented_after(&self, after: Option<ArticleId>) -> Result<Vec<ArticleId>, StoreError> {
        self.comments.commented_articles(after, slice()).await.map_err(comment_error)
    }

    async fn comments_of(
        &self,
        article: ArticleId,
        after: Option<String>,
    ) -> Result<(Vec<SourceComment>, Option<String>), StoreError> {
        match self.comments.scroll(article, after.as_deref(), slice()).await {
            Ok(step) => {
                let next = step.next.map(|cursor| cursor.to_string());
                Ok((step.items.into_iter().filter_map(readable).collect(), next))
            }
            // One that is there is one that was restored a moment ago, which not everybody knows yet: worth asking again.
            Err(CommentError::NotFound(_)) => match self.articles(&[article]).await?.pop().flatten() {
                Some(_) => Err(StoreError::unavailable("comments", "the article was restored a moment ago")),
                None => Ok((Vec::new(), None)),
            },
            Err(error) => Err(comment_error(error)),
        }
    }
}

fn source(article: Article) -> SourceArticle {
    let Article { article_id, board_id, title, content_html, writer, created_at, version, .. } = article;
    SourceArticle { article_id, board_id, title, content_html, writer, created_at, version }
}

/// The comment, unless only its mark is left.
fn readable(comment: Comment) -> Option<SourceComment> {
    let Comment { comment_id, article_id, content_html, writer, created_at, version, .. } = comment;
    Some(SourceComment { comment_id, article_id, content_html: content_html?, writer: writer?, created_at, version })
}
