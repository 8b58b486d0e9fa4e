//! Loads of the near cache from the model behind it: one for any number of readers, many keys together.

use std::sync::Arc;

use async_trait::async_trait;
use madang_article_read::{Lookup, ReadModel, Source};
use madang_board::{ArticleId, BoardId};
use madang_kernel::{Id as _, ShardId, StoreError};

use super::From;
use super::cache::NearCache;
use super::lists::NearList;

/// Loads articles.
pub(super) struct ArticleLoads {
    pub(super) cache: Arc<NearCache>,
    pub(super) far: Arc<dyn ReadModel>,
}

#[async_trait]
impl Source<ArticleId, Lookup> for ArticleLoads {
    async fn load(&self, articles: &[ArticleId]) -> Result<Vec<Lookup>, StoreError> {
        let begun = self.cache.begin();
        let found = self.far.find(articles).await?;
        if found.len() != articles.len() {
            return Err(StoreError::broken("query model", "it answered for more or fewer articles than asked"));
        }
        let mut is_seen = false;
        let kept = articles.iter().zip(found).map(|(article, found)| {
            let (lookup, is_other) = self.cache.articles(*article).keep(*article, found, From::Model, begun);
            is_seen |= is_other;
            lookup
        });
        let kept = kept.collect();
        if is_seen {
            self.cache.changed();
        }
        Ok(kept)
    }

    fn failure_domain(&self, article: &ArticleId) -> u32 {
        ShardId::of_parts(*article).number().into()
    }
}

/// Loads lists.
pub(super) struct ListLoads {
    pub(super) cache: Arc<NearCache>,
    pub(super) far: Arc<dyn ReadModel>,
}

#[async_trait]
impl Source<BoardId, NearList> for ListLoads {
    async fn load(&self, boards: &[BoardId]) -> Result<Vec<NearList>, StoreError> {
        let mut lists = Vec::with_capacity(boards.len());
        for board in boards {
            let begun = self.cache.begin();
            let found = self.far.whole_list(*board).await?;
            let (list, is_other) = self.cache.lists(*board).keep(*board, found, From::Model, begun);
            if is_other {
                self.cache.changed();
            }
            lists.push(list);
        }
        Ok(lists)
    }

    fn failure_domain(&self, board: &BoardId) -> u32 {
        board.shard().number().into()
    }
}
