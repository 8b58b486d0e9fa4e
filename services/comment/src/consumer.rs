//! What a deleted article means here: its comments are gone at once and for ever, and their rows go slice by slice.

use std::sync::Arc;

use async_trait::async_trait;
use madang_board::{ArticleId, ArticleLookup};
use madang_event::type_name::ARTICLE_DELETED;
use madang_event::{Envelope, Event};
use madang_kernel::{PageSize, StoreError};
use madang_messaging::{Delivery, Handled, Handler, HandlerError, Outage};

use crate::CommentStore;

/// Comments removed in one transaction: people who write wait no longer than such a slice takes.
pub const CLEAN_UP_SLICE_ROWS: u32 = 200;

/// Handles the article topic for the owner of comments. Marking and cleaning up twice changes nothing, so it needs no
/// inbox.
pub struct CommentCleaner {
    store: Arc<dyn CommentStore>,
    articles: Arc<dyn ArticleLookup>,
}

impl CommentCleaner {
    /// A cleaner of this store, which asks `articles` what exists when it must rebuild.
    pub fn new(store: Arc<dyn CommentStore>, articles: Arc<dyn ArticleLookup>) -> Self {
        Self { store, articles }
    }

    async fn apply(&self, delivery: &Delivery) -> Result<Handled, HandlerError> {
        // Most events are of no interest here. One that is damaged behind its front passes with them: nothing is lost
        // by ignoring what would have been ignored.
        if Envelope::peek(&delivery.message.payload).is_some_and(|front| front.type_name != ARTICLE_DELETED) {
            return Ok(Handled::Done);
        }
        let envelope =
            Envelope::decode(&delivery.message.payload).map_err(|e| HandlerError::Undecodable(e.to_string()))?;
        if let Event::ArticleDeleted(gone) = envelope.event {
            self.remove_comments(gone.article_id).await.map_err(failure)?;
        }
        Ok(Handled::Done)
    }

    /// The mark comes first: after it no comment can be added, so what is cleaned up stays clean.
    async fn remove_comments(&self, article: ArticleId) -> Result<(), StoreError> {
        self.store.mark_article_gone(article).await?;
        while self.store.clean_up(article, CLEAN_UP_SLICE_ROWS).await? >= CLEAN_UP_SLICE_ROWS {}
        Ok(())
    }

    /// Asks after every article that has comments, and removes those of articles whose deletion was missed.
    async fn remove_what_is_missing(&self) -> Result<(), StoreError> {
        let mut after = None;
        loop {
            let articles = self.store.counted_articles(after, PageSize::DEFAULT).await?;
            let Some(last) = articles.last().copied() else { return Ok(()) };
            for article in articles {
                if self.articles.facts(article).await?.is_none() {
                    self.remove_comments(article).await?;
                }
            }
            after = Some(last);
        }
    }
}

#[async_trait]
impl Handler for CommentCleaner {
    async fn handle(&self, deliveries: &[Delivery]) -> Vec<Result<Handled, HandlerError>> {
        let mut answers = Vec::with_capacity(deliveries.len());
        for delivery in deliveries {
            answers.push(self.apply(delivery).await);
        }
        answers
    }

    async fn rebuild(&self) -> Result<(), Outage> {
        self.remove_what_is_missing().await.map_err(|error| Outage::new("comments", error.to_string()))
    }
}

/// A store that is away is no fault of the message; a defect is, and must not hold up the others for ever.
fn failure(error: StoreError) -> HandlerError {
    match error {
        StoreError::Unavailable { what, reason, .. } => Outage::new(what, reason).into(),
        StoreError::Broken { .. } => HandlerError::Failed(error.to_string()),
    }
}
