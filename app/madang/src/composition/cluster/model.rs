//! The query model while Redis is away: nothing is known, so everything is asked of its owners, once for all who wait. Only
//! readers are helped this way; consumers are told of the outage, and wait.

use std::sync::Arc;

use async_trait::async_trait;
use madang_article_read::{
    BoardList, Change, Entry, Filled, FilledList, ListLook, Look, ModelSize, Newest, ReadModel, Ticket, Window,
};
use madang_board::{ArticleId, BoardId};
use madang_kernel::{ShardId, StoreError};

/// Names placeholders that could not be placed. The model itself never gives it out.
const NOT_PLACED: Ticket = Ticket(u64::MAX);

/// A model that readers can do without.
pub(super) struct Dispensable(pub(super) Arc<dyn ReadModel>);

/// `instead` when the model is away; any other answer as it is.
fn or<T>(answer: Result<T, StoreError>, instead: impl FnOnce() -> T) -> Result<T, StoreError> {
    match answer {
        Err(StoreError::Unavailable { .. }) => {
            metrics::counter!("madang_query_model_away_total").increment(1);
            Ok(instead())
        }
        answer => answer,
    }
}

fn as_told(told: Vec<(ArticleId, Option<Entry>)>) -> Vec<Filled<Entry>> {
    told.into_iter().map(|(_, entry)| Filled::Kept(entry)).collect()
}

fn list_as_told(told: Option<Newest>) -> FilledList {
    Filled::Kept(told.map(|newest| Arc::new(BoardList::of(newest))))
}

#[async_trait]
impl ReadModel for Dispensable {
    async fn find(&self, articles: &[ArticleId]) -> Result<Vec<Look>, StoreError> {
        or(self.0.find(articles).await, || vec![Look::Miss; articles.len()])
    }

    async fn expect(&self, articles: &[ArticleId]) -> Result<Ticket, StoreError> {
        or(self.0.expect(articles).await, || NOT_PLACED)
    }

    async fn fill(
        &self,
        ticket: Ticket,
        told: Vec<(ArticleId, Option<Entry>)>,
    ) -> Result<Vec<Filled<Entry>>, StoreError> {
        if ticket == NOT_PLACED {
            return Ok(as_told(told));
        }
        or(self.0.fill(ticket, told.clone()).await, || as_told(told))
    }

    async fn abandon(&self, ticket: Ticket, articles: &[ArticleId]) -> Result<(), StoreError> {
        if ticket == NOT_PLACED {
            return Ok(());
        }
        or(self.0.abandon(ticket, articles).await, || ())
    }

    async fn merge(&self, changes: Vec<Change>) -> Result<(), StoreError> {
        self.0.merge(changes).await
    }

    async fn settled(&self, articles: &[(ArticleId, u64)]) -> Result<Vec<bool>, StoreError> {
        self.0.settled(articles).await
    }

    async fn list(&self, board: BoardId, window: Window) -> Result<ListLook, StoreError> {
        or(self.0.list(board, window).await, || ListLook::Miss)
    }

    async fn expect_list(&self, board: BoardId) -> Result<Ticket, StoreError> {
        or(self.0.expect_list(board).await, || NOT_PLACED)
    }

    async fn fill_list(&self, ticket: Ticket, board: BoardId, told: Option<Newest>) -> Result<FilledList, StoreError> {
        if ticket == NOT_PLACED {
            return Ok(list_as_told(told));
        }
        or(self.0.fill_list(ticket, board, told.clone()).await, || list_as_told(told))
    }

    async fn abandon_list(&self, ticket: Ticket, board: BoardId) -> Result<(), StoreError> {
        if ticket == NOT_PLACED {
            return Ok(());
        }
        or(self.0.abandon_list(ticket, board).await, || ())
    }

    async fn drop_candidates(&self, board: BoardId, gone: &[ArticleId]) -> Result<(), StoreError> {
        or(self.0.drop_candidates(board, gone).await, || ())
    }

    async fn held(&self, shard: ShardId) -> Result<Vec<(ArticleId, Entry)>, StoreError> {
        self.0.held(shard).await
    }

    fn generation(&self) -> Option<u64> {
        self.0.generation()
    }

    async fn clear(&self) -> Result<(), StoreError> {
        self.0.clear().await
    }

    async fn size(&self) -> Result<ModelSize, StoreError> {
        self.0.size().await
    }
}
