//! What others ask: a search, a rebuild, a comparison. Hits are ids; what is shown of them comes from their owners, as they have
//! it at this moment, so that nothing is shown that cannot be read any more.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use madang_board::{ArticleId, BoardId, CommentId};
use madang_event::Writer;
use madang_kernel::{Id, StoreError, Timestamp};
use tokio::sync::Mutex;

use crate::excerpt::{excerpt, marked, plain};
use crate::rebuild::{Rebuilder, Rebuilt};
use crate::source::Source;
use crate::{
    Cursor, FoundComment, Hit, IndexSize, Kind, NEWEST_MAX, Order, Query, RELEVANT_MAX, SearchIndex, SearchOwners,
    SearchRequest, SourceArticle, SourceComment,
};

/// How often the index is asked again for one answer, when hits could not be read any more.
const ROUNDS_MAX: usize = 4;
/// Marks of what is gone are kept for so long: far longer than anything is on its way.
const TOMBSTONES_KEPT_MS: i64 = 24 * 3_600 * 1_000;

/// Why a search was not answered.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// This site has no search engine.
    #[error("no search engine is configured")]
    NotConfigured,
    /// The index or an owner could not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A hit as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchItem {
    /// What it is.
    pub kind: Kind,
    /// Its article, which may be itself.
    pub article_id: ArticleId,
    /// The comment, if it is one.
    pub comment_id: Option<CommentId>,
    /// The board of the article.
    pub board_id: BoardId,
    /// The title of the article.
    pub title: String,
    /// The same with what was asked for in `<mark>`.
    pub title_html: String,
    /// The text around what was asked for, which is in `<mark>`.
    pub excerpt_html: String,
    /// Who wrote it.
    pub writer: Writer,
    /// When.
    pub created_at: Timestamp,
}

/// A step of a list of hits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchPage {
    /// In the order asked.
    pub items: Vec<SearchItem>,
    /// Where the next step begins; `None` at the end.
    pub next: Option<Cursor>,
    /// Whether some may be missing: the index is being made.
    pub partial: bool,
}

/// Searching what people wrote.
pub struct SearchService {
    pub(crate) parts: Option<Parts>,
}

/// An index and the owners of what is in it.
pub(crate) struct Parts {
    pub(crate) index: Arc<dyn SearchIndex>,
    pub(crate) source: Source,
    /// Held by whoever makes a rebuild: one at a time.
    rebuilding: Mutex<()>,
}

impl SearchService {
    /// A service over an index.
    pub fn new(index: Arc<dyn SearchIndex>, owners: Arc<dyn SearchOwners>) -> Self {
        Self { parts: Some(Parts { index, source: Source(owners), rebuilding: Mutex::default() }) }
    }

    /// The service of a site without a search engine: every call says so.
    pub fn not_configured() -> Self {
        Self { parts: None }
    }

    /// Whether there is an engine.
    pub fn is_configured(&self) -> bool {
        self.parts.is_some()
    }

    pub(crate) fn parts(&self) -> Result<&Parts, SearchError> {
        self.parts.as_ref().ok_or(SearchError::NotConfigured)
    }

    /// What matches, as it can be read now.
    pub async fn search(&self, request: SearchRequest) -> Result<SearchPage, SearchError> {
        let parts = self.parts()?;
        let mut page = SearchPage { items: Vec::new(), next: None, partial: false };
        if request.query.is_empty() {
            return Ok(page);
        }
        let mut after = request.after;
        for _ in 0..ROUNDS_MAX {
            let limit = request.limit - page.items.len();
            let found = parts.index.search(SearchRequest { after, limit, ..request.clone() }).await?;
            page.partial |= found.partial;
            page.items.extend(parts.read(&request.query, &found.hits).await?);
            after = found.hits.last().map(|hit| hit.cursor).or(after);
            page.next = after.filter(|last| !found.is_all && last.depth() < depth_max(last.order()));
            if page.next.is_none() || page.items.len() >= request.limit {
                break;
            }
        }
        Ok(page)
    }

    /// Begins a rebuild from nothing and makes it.
    pub async fn rebuild(&self) -> Result<Rebuilt, SearchError> {
        let parts = self.parts()?;
        // Whoever makes another one notices, and lets go.
        let rebuild = parts.index.begin_rebuild().await?;
        let _alone = parts.rebuilding.lock().await;
        Ok(Rebuilder::new(parts.index.as_ref(), &parts.source, rebuild.number).run(&rebuild).await?)
    }

    /// Goes on with a rebuild that is under way; `None` when none is.
    pub async fn continue_rebuild(&self) -> Result<Option<Rebuilt>, SearchError> {
        let parts = self.parts()?;
        let _alone = parts.rebuilding.lock().await;
        let Some(rebuild) = parts.index.rebuild().await? else { return Ok(None) };
        Ok(Some(Rebuilder::new(parts.index.as_ref(), &parts.source, rebuild.number).run(&rebuild).await?))
    }

    /// Whether the index is being made.
    pub async fn is_partial(&self) -> Result<bool, SearchError> {
        Ok(self.parts()?.index.rebuild().await?.is_some())
    }

    /// How large the index is.
    pub async fn size(&self) -> Result<IndexSize, SearchError> {
        Ok(self.parts()?.index.size().await?)
    }

    /// Forgets marks of what has been gone for long.
    pub async fn forget_tombstones(&self, now: Timestamp) -> Result<u64, SearchError> {
        let before = Timestamp::from_millis(now.as_millis() - TOMBSTONES_KEPT_MS);
        Ok(self.parts()?.index.forget_tombstones(before).await?)
    }
}

fn depth_max(order: Order) -> usize {
    match order {
        Order::Relevance => RELEVANT_MAX,
        Order::Newest => NEWEST_MAX,
    }
}

impl Parts {
    /// What can be read of hits, in their order: one question to each owner.
    async fn read(&self, query: &Query, hits: &[Hit]) -> Result<Vec<SearchItem>, StoreError> {
        let comments: Vec<CommentId> =
            hits.iter().filter(|hit| hit.kind == Kind::Comment).map(|hit| CommentId::from_raw(hit.id)).collect();
        let articles: BTreeSet<ArticleId> = hits.iter().map(|hit| hit.article_id).collect();
        let articles: Vec<ArticleId> = articles.into_iter().collect();
        if articles.is_empty() {
            return Ok(Vec::new());
        }
        let found = if comments.is_empty() { Vec::new() } else { self.source.0.comments(&comments).await? };
        // The articles last: one that goes takes its comments with it.
        let articles = self.source.0.articles(&articles).await?;
        let articles: HashMap<_, _> = articles.into_iter().flatten().map(|one| (one.article_id.raw(), one)).collect();
        let comments: HashMap<_, _> = found
            .into_iter()
            .filter_map(|found| match found {
                FoundComment::Readable(comment) => Some((comment.comment_id.raw(), comment)),
                FoundComment::Marked(_) | FoundComment::Absent => None,
            })
            .collect();
        let (query, hits) = (query.clone(), hits.to_vec());
        let shown = move || {
            let items = hits.iter().filter_map(|hit| {
                let article = articles.get(&hit.article_id.raw())?;
                match hit.kind {
                    Kind::Article => Some(shown_article(&query, article)),
                    Kind::Comment => Some(shown_comment(&query, article, comments.get(&hit.id)?)),
                }
            });
            items.collect()
        };
        // Analysing up to 50 texts again is too much for an async worker.
        let shown = tokio::task::spawn_blocking(shown).await;
        shown.map_err(|error| StoreError::broken("search excerpts", error))
    }
}

fn shown_article(query: &Query, article: &SourceArticle) -> SearchItem {
    SearchItem {
        kind: Kind::Article,
        article_id: article.article_id,
        comment_id: None,
        board_id: article.board_id,
        title: article.title.clone(),
        title_html: marked(query, &article.title),
        excerpt_html: excerpt(query, &plain(&article.content_html)),
        writer: article.writer.clone(),
        created_at: article.created_at,
    }
}

fn shown_comment(query: &Query, article: &SourceArticle, comment: &SourceComment) -> SearchItem {
    SearchItem {
        kind: Kind::Comment,
        comment_id: Some(comment.comment_id),
        excerpt_html: excerpt(query, &plain(&comment.content_html)),
        writer: comment.writer.clone(),
        created_at: comment.created_at,
        ..shown_article(query, article)
    }
}
