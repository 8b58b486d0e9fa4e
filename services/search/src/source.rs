//! From what the owners have to changes of an index. Analysing texts takes time, so it happens off the async workers, and in
//! portions that hold up no other writer of the index for long.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use madang_board::{ArticleId, BoardId, CommentId};
use madang_kernel::StoreError;

use crate::{Change, Document, FoundComment, GONE_FOR_EVER, SearchOwners, SourceArticle, SourceComment};

/// Texts that are asked for at once.
pub(crate) const SLICE: usize = 64;
/// Tokens that one call hands to an index: a few milliseconds of work.
const PORTION_BYTES: usize = 16 * 1_024;

/// The owners, asked for changes.
#[derive(Clone)]
pub(crate) struct Source(pub(crate) Arc<dyn SearchOwners>);

impl Source {
    /// The changes of articles, each with the version of the event that spoke of it: what cannot be read is gone at that.
    pub(crate) async fn articles(&self, spoken: &[(ArticleId, u64)]) -> Result<Vec<Change>, StoreError> {
        let ids: Vec<ArticleId> = spoken.iter().map(|(article, _)| *article).collect();
        let found = self.0.articles(&ids).await?;
        let spoken = spoken.to_vec();
        analysed(move || {
            let changes = spoken.into_iter().zip(found).map(|((article_id, version), found)| match found {
                Some(article) => Change::Put(Box::new(Document::of_article(&article))),
                None => Change::ArticleGone { article_id, version },
            });
            changes.collect()
        })
        .await
    }

    /// The documents of articles that can be read.
    pub(crate) async fn readable(&self, articles: &[ArticleId]) -> Result<Vec<Document>, StoreError> {
        let found = self.0.articles(articles).await?;
        analysed(move || found.iter().flatten().map(Document::of_article).collect()).await
    }

    /// The changes of comments. Of an article that cannot be read nothing is indexed: should it come back, all its comments are.
    pub(crate) async fn comments(&self, spoken: &[(CommentId, ArticleId)]) -> Result<Vec<Change>, StoreError> {
        let articles: BTreeSet<ArticleId> = spoken.iter().map(|(_, article)| *article).collect();
        let articles: Vec<ArticleId> = articles.into_iter().collect();
        let ids: Vec<CommentId> = spoken.iter().map(|(comment, _)| *comment).collect();
        // The comments last: what is known of them is no older than what is known of their articles.
        let boards = boards(&self.0.articles(&articles).await?);
        let found = self.0.comments(&ids).await?;
        let spoken = spoken.to_vec();
        analysed(move || {
            let changes = spoken.into_iter().zip(found).filter_map(|((comment_id, article_id), found)| match found {
                FoundComment::Readable(comment) => Some(put(&comment, *boards.get(&comment.article_id)?)),
                FoundComment::Marked(version) => Some(Change::CommentGone { comment_id, article_id, version }),
                FoundComment::Absent => Some(Change::CommentGone { comment_id, article_id, version: GONE_FOR_EVER }),
            });
            changes.collect()
        })
        .await
    }

    /// A step through the comments of an article, and where the next begins.
    pub(crate) async fn comments_of(
        &self,
        article: ArticleId,
        after: Option<String>,
    ) -> Result<(Vec<Change>, Option<String>), StoreError> {
        let board = boards(&self.0.articles(&[article]).await?).get(&article).copied();
        let Some(board) = board else { return Ok((Vec::new(), None)) };
        let (comments, next) = self.0.comments_of(article, after).await?;
        let changes = analysed(move || comments.iter().map(|comment| put(comment, board)).collect()).await?;
        Ok((changes, next))
    }
}

fn boards(articles: &[Option<SourceArticle>]) -> HashMap<ArticleId, BoardId> {
    articles.iter().flatten().map(|article| (article.article_id, article.board_id)).collect()
}

fn put(comment: &SourceComment, board: BoardId) -> Change {
    Change::Put(Box::new(Document::of_comment(comment, board)))
}

async fn analysed<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, StoreError> {
    tokio::task::spawn_blocking(work).await.map_err(|error| StoreError::broken("search analysis", error))
}

/// Changes in the same order, as many at once as an index takes quickly.
pub(crate) fn in_portions(changes: Vec<Change>) -> Vec<Vec<Change>> {
    let bytes = |change: &Change| if let Change::Put(document) = change { document.bytes() } else { 0 };
    portions(changes, bytes)
}

/// The same of documents.
pub(crate) fn documents_in_portions(documents: Vec<Document>) -> Vec<Vec<Document>> {
    portions(documents, Document::bytes)
}

fn portions<T>(all: Vec<T>, bytes: impl Fn(&T) -> usize) -> Vec<Vec<T>> {
    let (mut portions, mut portion, mut size) = (Vec::new(), Vec::new(), 0);
    for one in all {
        // What is small costs something too.
        let cost = bytes(&one) + 256;
        if size + cost > PORTION_BYTES && !portion.is_empty() {
            portions.push(std::mem::take(&mut portion));
            size = 0;
        }
        size += cost;
        portion.push(one);
    }
    if !portion.is_empty() {
        portions.push(portion);
    }
    portions
}
