//! The ports to the owners of what the model is made of: what a rebuild asks. Each owner is a port of its own, because it
//! may be in this process or in another.

use std::sync::Arc;

use async_trait::async_trait;
use madang_board::{ArticleId, BoardId};
use madang_event::BoardCount;
use madang_kernel::{Page, PageNumber, PageSize, Scroll, StoreError};

use crate::{ArticleGroup, ArticleHead, ArticleText, Count, Entry};

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

/// The newest articles of a board, with its count, of one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Newest {
    /// Newest first.
    pub ids: Vec<ArticleId>,
    /// Whether the board holds no others.
    pub is_all: bool,
    /// How many articles the board holds.
    pub count: BoardCount,
}

impl Entry {
    /// What the owners answered of an article; `None` for one that is not there, or is known to be deleted by one of them: an
    /// owner of counts that knows of the deletion read later than the owner of the text.
    pub fn from_owners(text: Option<ArticleText>, comments: Option<Count>, likes: Option<Count>) -> Option<Self> {
        let article = Some(ArticleGroup::Live(Arc::new(text?)));
        Some(Self { article, comments: Some(comments?), likes: Some(likes?) })
    }
}

/// Asks the owners. Answers for many come in the order asked, one each, and hold everything committed before the call.
#[async_trait]
pub trait Owners: Send + Sync {
    /// The texts of articles; `None` for one that does not exist.
    async fn articles(&self, articles: &[ArticleId]) -> Result<Vec<Option<ArticleText>>, StoreError>;
    /// Their visible comments; `None` for one that is known to be deleted.
    async fn comment_counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<Count>>, StoreError>;
    /// Their likes; `None` for one that is known to be deleted.
    async fn like_counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<Count>>, StoreError>;
    /// Texts and counts together; `None` for an article that is not there, or is known to be deleted by one of its owners.
    /// Where one store holds all of them, this is one read.
    async fn entries(&self, articles: &[ArticleId]) -> Result<Vec<Option<Entry>>, StoreError> {
        ask_each(self, articles).await
    }
    /// The views of an article, if its owner has them in memory; then nobody need wait for a load.
    fn views_in_memory(&self, _article: ArticleId) -> Option<u64> {
        None
    }
    /// Their views; `None` for one that is known to be deleted.
    async fn view_counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<u64>>, StoreError>;

    /// The newest articles of a board; `None` when there is no such board.
    async fn newest(&self, board: BoardId, limit: usize) -> Result<Option<Newest>, StoreError>;
    /// A numbered page of a board; `None` when there is no such board.
    async fn page(
        &self,
        board: BoardId,
        page: PageNumber,
        size: PageSize,
    ) -> Result<Option<Page<ArticleHead>>, StoreError>;
    /// The articles of a board before a cursor, or its newest; `None` when there is no such board.
    async fn scroll(
        &self,
        board: BoardId,
        before: Option<ArticleId>,
        size: PageSize,
    ) -> Result<Option<Scroll<ArticleHead, ArticleId>>, StoreError>;
}

/// Asks the owners of texts and counts one by one, side by side.
pub async fn ask_each<O: Owners + ?Sized>(
    owners: &O,
    articles: &[ArticleId],
) -> Result<Vec<Option<Entry>>, StoreError> {
    let (texts, comments, likes) =
        tokio::try_join!(owners.articles(articles), owners.comment_counts(articles), owners.like_counts(articles))?;
    if [texts.len(), comments.len(), likes.len()] != [articles.len(); 3] {
        return Err(StoreError::broken("owners", "an owner answered for more or fewer articles than asked"));
    }
    let told = texts.into_iter().zip(comments.into_iter().zip(likes));
    Ok(told.map(|(text, (comments, likes))| Entry::from_owners(text, comments, likes)).collect())
}

/// Asks the owner of articles, as [`Owners`] does.
#[async_trait]
pub trait ArticleOwner: Send + Sync {
    /// The texts of articles; `None` for one that does not exist.
    async fn articles(&self, articles: &[ArticleId]) -> Result<Vec<Option<ArticleText>>, StoreError>;
    /// The newest articles of a board; `None` when there is no such board.
    async fn newest(&self, board: BoardId, limit: usize) -> Result<Option<Newest>, StoreError>;
    /// A numbered page of a board; `None` when there is no such board.
    async fn page(
        &self,
        board: BoardId,
        page: PageNumber,
        size: PageSize,
    ) -> Result<Option<Page<ArticleHead>>, StoreError>;
    /// The articles of a board before a cursor, or its newest; `None` when there is no such board.
    async fn scroll(
        &self,
        board: BoardId,
        before: Option<ArticleId>,
        size: PageSize,
    ) -> Result<Option<Scroll<ArticleHead, ArticleId>>, StoreError>;
}

/// Asks the owner of comments, as [`Owners`] does.
#[async_trait]
pub trait CommentOwner: Send + Sync {
    /// Visible comments of articles; `None` for one that is known to be deleted.
    async fn comment_counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<Count>>, StoreError>;
}

/// Asks the owner of likes, as [`Owners`] does.
#[async_trait]
pub trait LikeOwner: Send + Sync {
    /// Likes of articles; `None` for one that is known to be deleted.
    async fn like_counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<Count>>, StoreError>;
}

/// Asks the owner of views, as [`Owners`] does.
#[async_trait]
pub trait ViewOwner: Send + Sync {
    /// The views of an article, if its owner has them in memory; then nobody need wait for a load.
    fn views_in_memory(&self, _article: ArticleId) -> Option<u64> {
        None
    }
    /// Views of articles; `None` for one that is known to be deleted.
    async fn view_counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<u64>>, StoreError>;
}

/// Owners of which each may be somewhere else.
pub struct MixedOwners {
    /// Boards and articles.
    pub articles: Arc<dyn ArticleOwner>,
    /// Comments.
    pub comments: Arc<dyn CommentOwner>,
    /// Likes.
    pub likes: Arc<dyn LikeOwner>,
    /// Views.
    pub views: Arc<dyn ViewOwner>,
}

#[async_trait]
impl Owners for MixedOwners {
    async fn articles(&self, articles: &[ArticleId]) -> Result<Vec<Option<ArticleText>>, StoreError> {
        self.articles.articles(articles).await
    }

    async fn comment_counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<Count>>, StoreError> {
        self.comments.comment_counts(articles).await
    }

    async fn like_counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<Count>>, StoreError> {
        self.likes.like_counts(articles).await
    }

    fn views_in_memory(&self, article: ArticleId) -> Option<u64> {
        self.views.views_in_memory(article)
    }

    async fn view_counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<u64>>, StoreError> {
        self.views.view_counts(articles).await
    }

    async fn newest(&self, board: BoardId, limit: usize) -> Result<Option<Newest>, StoreError> {
        self.articles.newest(board, limit).await
    }

    async fn page(
        &self,
        board: BoardId,
        page: PageNumber,
        size: PageSize,
    ) -> Result<Option<Page<ArticleHead>>, StoreError> {
        self.articles.page(board, page, size).await
    }

    async fn scroll(
        &self,
        board: BoardId,
        before: Option<ArticleId>,
        size: PageSize,
    ) -> Result<Option<Scroll<ArticleHead, ArticleId>>, StoreError> {
        self.articles.scroll(board, before, size).await
    }
}
