//! Comparing an index with the owners of the texts, in both directions, by samples: the newest and some of every age.

use std::fmt;

use madang_board::{ArticleId, CommentId};
use madang_kernel::{Id, StoreError};

use crate::service::{Parts, SearchError, SearchService};
use crate::{FoundComment, Kind, OWNERS_MANY_MAX};

/// Documents of an index that are looked at, from the newest on and below each of some places.
const HELD_SLICE: usize = OWNERS_MANY_MAX;
/// Places below which documents are looked at.
const PLACES: i64 = 8;
/// Articles whose comments are looked up in the index.
const COMMENTED_MAX: usize = 64;

/// What differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchDifference {
    kind: Kind,
    id: i64,
    /// The version of what can be read; `None` when nothing can.
    owned: Option<u64>,
    /// The version of what can be found.
    held: Option<u64>,
}

impl fmt::Display for SearchDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, id, .. } = self;
        let kind = kind.name();
        match (self.owned, self.held) {
            (Some(owned), Some(held)) => {
                write!(f, "{kind} {id} is at version {owned} and found at version {held} in the search index")
            }
            (Some(_), None) => write!(f, "{kind} {id} is missing in the search index"),
            (None, _) => write!(f, "{kind} {id} cannot be read and is in the search index"),
        }
    }
}

/// What a comparison found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchCompared {
    /// Documents of the index that were compared with their owners.
    pub held: u64,
    /// Texts of owners that were looked up in the index.
    pub owned: u64,
    /// What differs, which may be on its way.
    pub differences: Vec<SearchDifference>,
}

impl SearchService {
    /// Compares samples in both directions.
    pub async fn compare(&self) -> Result<SearchCompared, SearchError> {
        let parts = self.parts()?;
        let mut compared = SearchCompared::default();
        let newest = parts.index.held_below(i64::MAX, 1).await?.first().map_or(0, |newest| newest.id);
        for place in 0..=PLACES {
            let below = if place == 0 { i64::MAX } else { newest / PLACES * (PLACES - place) + 1 };
            let held = parts.index.held_below(below, HELD_SLICE).await?;
            compared.held += held.len() as u64;
            let keys: Vec<_> = held.iter().map(|held| (held.kind, held.id)).collect();
            compared.differences.extend(parts.differing(&keys).await?);
        }
        let owned = parts.owned().await?;
        for slice in owned.chunks(OWNERS_MANY_MAX) {
            compared.owned += slice.len() as u64;
            compared.differences.extend(parts.differing(slice).await?);
        }
        Ok(compared)
    }

    /// Those that differ still.
    pub async fn still_differing(&self, found: &[SearchDifference]) -> Result<Vec<SearchDifference>, SearchError> {
        let keys: Vec<_> = found.iter().map(|difference| (difference.kind, difference.id)).collect();
        let mut differing = Vec::new();
        for slice in keys.chunks(OWNERS_MANY_MAX) {
            differing.extend(self.parts()?.differing(slice).await?);
        }
        Ok(differing)
    }
}

impl Parts {
    /// The newest articles of each board, and comments of some articles.
    async fn owned(&self) -> Result<Vec<(Kind, i64)>, StoreError> {
        let mut owned = Vec::new();
        for board in self.source.0.boards().await? {
            let articles = self.source.0.articles_before(board, None).await?;
            owned.extend(articles.into_iter().map(|article| (Kind::Article, article.raw())));
        }
        for article in self.source.0.commented_after(None).await?.into_iter().take(COMMENTED_MAX) {
            let (comments, _) = self.source.0.comments_of(article, None).await?;
            owned.extend(comments.into_iter().map(|comment| (Kind::Comment, comment.comment_id.raw())));
        }
        Ok(owned)
    }

    /// Those of at most [`OWNERS_MANY_MAX`] whose version in the index is not that of their owner.
    async fn differing(&self, keys: &[(Kind, i64)]) -> Result<Vec<SearchDifference>, StoreError> {
        let of = |wanted: Kind| keys.iter().filter(move |(kind, _)| *kind == wanted).map(|(_, id)| *id);
        let articles: Vec<ArticleId> = of(Kind::Article).map(ArticleId::from_raw).collect();
        let comments: Vec<CommentId> = of(Kind::Comment).map(CommentId::from_raw).collect();
        let mut owned: Vec<(Kind, i64, Option<u64>)> = Vec::with_capacity(keys.len());
        let found = self.source.0.articles(&articles).await?;
        owned.extend(
            articles.iter().zip(found).map(|(id, found)| (Kind::Article, id.raw(), found.map(|found| found.version))),
        );
        let found = self.source.0.comments(&comments).await?;
        let on: Vec<ArticleId> = found.iter().filter_map(article_of).collect();
        let readable: std::collections::BTreeSet<ArticleId> =
            self.source.0.articles(&on).await?.into_iter().flatten().map(|article| article.article_id).collect();
        owned.extend(comments.iter().zip(found).map(|(id, found)| {
            let version = match found {
                FoundComment::Readable(comment) if readable.contains(&comment.article_id) => Some(comment.version),
                _ => None,
            };
            (Kind::Comment, id.raw(), version)
        }));
        let held = self.index.versions(owned.iter().map(|(_, id, _)| *id).collect()).await?;
        let compared = owned.into_iter().zip(held);
        let differing = compared.filter(|((.., owned), held)| owned != held);
        Ok(differing.map(|((kind, id, owned), held)| SearchDifference { kind, id, owned, held }).collect())
    }
}

fn article_of(found: &FoundComment) -> Option<ArticleId> {
    if let FoundComment::Readable(comment) = found { Some(comment.article_id) } else { None }
}
