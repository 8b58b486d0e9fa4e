//! What the owner of articles tells other services at once: whether an article or a board exists, how comments are
//! arranged, and whether the board is archived.

use async_trait::async_trait;
use madang_board::{ArticleFacts, ArticleId, ArticleLookup, BoardId, BoardLookup};
use madang_kernel::StoreError;

use crate::ArticleService;
use crate::article_cache::CachedArticle;
use crate::board_cache::BoardFacts;

/// Articles that are asked after at once.
const EXIST_SLICE: usize = 256;

#[async_trait]
impl ArticleLookup for ArticleService {
    async fn facts(&self, article: ArticleId) -> Result<Option<ArticleFacts>, StoreError> {
        let now = self.clock.now();
        let board_id = match self.article_cache.find(article, now) {
            CachedArticle::Deleted => return Ok(None),
            CachedArticle::On(board) => board,
            CachedArticle::Miss => {
                let Some(found) = self.store.find(article).await? else {
                    self.article_cache.note_absent(article);
                    return Ok(None);
                };
                self.article_cache.note_existing(article, found.board_id, now);
                // It may have been deleted while it was looked up.
                if self.article_cache.find(article, now) == CachedArticle::Deleted {
                    return Ok(None);
                }
                found.board_id
            }
        };
        let facts = self.board_facts(board_id).await?;
        Ok(facts.map(|BoardFacts { comment_mode, archived }| ArticleFacts { board_id, comment_mode, archived }))
    }

    async fn exist(&self, articles: &[ArticleId]) -> Result<Vec<bool>, StoreError> {
        let mut exist = Vec::with_capacity(articles.len());
        for slice in articles.chunks(EXIST_SLICE) {
            exist.extend(self.store.holds(slice.to_vec()).await?);
        }
        Ok(exist)
    }
}

#[async_trait]
impl BoardLookup for ArticleService {
    async fn has_board(&self, board: BoardId) -> Result<bool, StoreError> {
        Ok(self.board_facts(board).await?.is_some())
    }
}
