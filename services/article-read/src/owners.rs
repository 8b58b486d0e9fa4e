//! The ports to the owners of what the model is made of: what a rebuild asks. Each owner is a port of its own, because it
//! may be in this process or in another.

use std::sync::Arc;

use async_trait::async_trait;
use madang_board::{ArticleId, BoardId, Pin};
use madang_event::{ArticleHead, ArticlePlace, NewestArticles};
use madang_kernel::{Page, PageNumber, PageSize, Scroll, StoreError, Timestamp, millis};
use serde::{Deserialize, Serialize};

use crate::{ArticleGroup, ArticleText, Count, Discussion, Entry};

/// What one read of one store tells of an article.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JoinedArticle {
    /// What the model keeps; `None` when the article does not exist, or no longer.
    pub entry: Option<Entry>,
    /// Its views as they are stored.
    pub views: u64,
}

/// Reads what several owners have of an article at once: for a composition where one store holds all of it, because asking
/// each by itself costs more than the reads.
#[async_trait]
pub trait ReadJoined: Send + Sync {
    /// One answer each, in the order asked.
    async fn read_joined(&self, articles: &[ArticleId]) -> Result<Vec<JoinedArticle>, StoreError>;
}

impl Entry {
    /// What the owners answered of an article; `None` for one that is not there, or is known to be deleted by one of them: an
    /// owner of counts that knows of the deletion read later than the owner of the text.
    pub fn from_owners(text: Option<ArticleText>, comments: Option<Discussion>, likes: Option<Count>) -> Option<Self> {
        let article = Some(ArticleGroup::Live(Arc::new(text?)));
        Some(Self { article, comments: Some(comments?), likes: Some(likes?) })
    }
}

/// Asks the owner of articles. Answers of owners for many come in the order asked, one each, and hold everything committed
/// before the call.
#[async_trait]
pub trait ArticleOwner: Send + Sync {
    /// The texts of articles; `None` for one that does not exist.
    async fn articles(&self, articles: &[ArticleId]) -> Result<Vec<Option<ArticleText>>, StoreError>;
    /// The newest articles of a board; `None` when there is no such board.
    async fn newest(&self, board: BoardId, limit: usize) -> Result<Option<NewestArticles>, StoreError>;
    /// The newest `limit` articles of all boards before `before`, newest first.
    async fn site_newest(&self, before: Option<ArticleId>, limit: usize) -> Result<Vec<ArticlePlace>, StoreError>;
    /// Where articles stand; `None` for one that does not exist.
    async fn places(&self, articles: &[ArticleId]) -> Result<Vec<Option<ArticlePlace>>, StoreError>;
    /// A numbered page of a board; `None` when there is no such board.
    async fn page(
        &self,
        board: BoardId,
        page: PageNumber,
        size: PageSize,
    ) -> Result<Option<Page<ArticleHead>>, StoreError>;
    /// The pins of a board, in any order, those that are over included; none where there is no such board. Asked for with
    /// every list and every article: an owner answers from memory, as it was up to a second ago.
    async fn pins(&self, board: BoardId) -> Result<Arc<[Pin]>, StoreError>;
    /// The articles of a board before a cursor, or its newest; `None` when there is no such board.
    async fn scroll(
        &self,
        board: BoardId,
        before: Option<ArticleId>,
        size: PageSize,
    ) -> Result<Option<Scroll<ArticleHead, ArticleId>>, StoreError>;
}

/// An article at its place among those that were commented on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActiveArticle {
    /// The article.
    pub article_id: ArticleId,
    /// When its newest visible comment was written.
    #[serde(rename = "last_at_ms", with = "millis")]
    pub last_at: Timestamp,
    /// The version of its count of comments.
    pub version: u64,
}

/// Asks the owner of comments.
#[async_trait]
pub trait CommentOwner: Send + Sync {
    /// Articles with visible comments, of one board or of all, whose newest comment is at or before `until`, the last commented
    /// first. Those that moderators removed are among them.
    async fn active(
        &self,
        board: Option<BoardId>,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<ActiveArticle>, StoreError>;
    /// The comments of articles; `None` for one that is known to be deleted.
    async fn comment_counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<Discussion>>, StoreError>;
}

/// Asks the owner of likes.
#[async_trait]
pub trait LikeOwner: Send + Sync {
    /// Likes of articles; `None` for one that is known to be deleted.
    async fn like_counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<Count>>, StoreError>;
}

/// Asks the owner of views.
#[async_trait]
pub trait ViewOwner: Send + Sync {
    /// The views of an article, if its owner has them in memory; then nobody need wait for a load.
    fn views_in_memory(&self, _article: ArticleId) -> Option<u64> {
        None
    }
    /// Takes over counts that somebody else has just read from the store, where that spares the owner a read.
    async fn remember(&self, _stored: &[(ArticleId, u64)]) -> Result<(), StoreError> {
        Ok(())
    }
    /// Views of articles; `None` for one that is known to be deleted.
    async fn view_counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<u64>>, StoreError>;
}

/// The owners, each of which may be somewhere else.
#[derive(Clone)]
pub struct Owners {
    /// Boards and articles.
    pub articles: Arc<dyn ArticleOwner>,
    /// Comments.
    pub comments: Arc<dyn CommentOwner>,
    /// Likes.
    pub likes: Arc<dyn LikeOwner>,
    /// Views.
    pub views: Arc<dyn ViewOwner>,
    /// Reads what all of them have by one step, where their stores are one.
    pub joined: Option<Arc<dyn ReadJoined>>,
}

impl Owners {
    /// Texts and counts together; `None` for an article that is not there, or is known to be deleted by one of its owners.
    pub(crate) async fn entries(&self, articles: &[ArticleId]) -> Result<Vec<Option<Entry>>, StoreError> {
        let Some(joined) = &self.joined else { return self.entries_of_each(articles).await };
        let read = joined.read_joined(articles).await?;
        // Whoever reads an article asks for its views next.
        let seen = articles.iter().zip(&read).filter(|(_, read)| read.entry.is_some());
        self.views.remember(&seen.map(|(article, read)| (*article, read.views)).collect::<Vec<_>>()).await?;
        Ok(read.into_iter().map(|read| read.entry).collect())
    }

    /// Asks the owners of texts and counts side by side.
    async fn entries_of_each(&self, articles: &[ArticleId]) -> Result<Vec<Option<Entry>>, StoreError> {
        let (texts, comments, likes) = tokio::try_join!(
            self.articles.articles(articles),
            self.comments.comment_counts(articles),
            self.likes.like_counts(articles)
        )?;
        if [texts.len(), comments.len(), likes.len()] != [articles.len(); 3] {
            return Err(StoreError::broken("owners", "an owner answered for more or fewer articles than asked"));
        }
        let told = texts.into_iter().zip(comments.into_iter().zip(likes));
        Ok(told.map(|(text, (comments, likes))| Entry::from_owners(text, comments, likes)).collect())
    }
}
