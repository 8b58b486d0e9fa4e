//! What the end of an article means to its likes: they are marked as gone at once and removed slice by slice.

use std::sync::Arc;

use async_trait::async_trait;
use madang_board::{ArticleId, ArticleLookup};
use madang_event::type_name::ARTICLE_DELETED;
use madang_event::{Envelope, Event};
use madang_kernel::{PageSize, StoreError};
use madang_messaging::{Delivery, Handled, Handler, HandlerError, Outage};

use crate::LikeStore;

/// Likes removed by one transaction, so that nobody waits long behind it.
pub const CLEAN_UP_SLICE_ROWS: usize = 500;

/// Follows the articles' events. Everything it does may be done again.
pub struct LikeConsumer {
    store: Arc<dyn LikeStore>,
    articles: Arc<dyn ArticleLookup>,
}

impl LikeConsumer {
    /// A consumer that cleans up in `store`, and asks `articles` what exists when it must rebuild.
    pub fn new(store: Arc<dyn LikeStore>, articles: Arc<dyn ArticleLookup>) -> Self {
        Self { store, articles }
    }

    /// Marks an article as gone and removes its likes.
    async fn forget(&self, article: ArticleId) -> Result<(), StoreError> {
        self.store.mark_article_gone(article).await?;
        while !self.store.clean_up(article, CLEAN_UP_SLICE_ROWS).await?.done {}
        Ok(())
    }

    /// Looks through all articles that have likes, and forgets those whose deletion was missed.
    async fn forget_what_is_missing(&self) -> Result<(), StoreError> {
        let mut after = None;
        loop {
            let articles = self.store.counted_articles(after, PageSize::DEFAULT).await?;
            let Some(last) = articles.last().copied() else { return Ok(()) };
            for article in articles {
                if self.articles.facts(article).await?.is_none() {
                    self.forget(article).await?;
                }
            }
            after = Some(last);
        }
    }
}

#[async_trait]
impl Handler for LikeConsumer {
    async fn handle(&self, deliveries: &[Delivery]) -> Vec<Result<Handled, HandlerError>> {
        let deleted: Vec<_> = deliveries.iter().map(deleted_article).collect();
        // All marks come first: removing the likes of one must not keep another in sight. What fails here fails again
        // below, where it is answered for.
        for article in deleted.iter().flatten().flatten() {
            if self.store.mark_article_gone(*article).await.is_err() {
                break;
            }
        }
        let mut answers = Vec::with_capacity(deleted.len());
        for article in deleted {
            answers.push(match article {
                Ok(Some(article)) => self.forget(article).await.map(|()| Handled::Done).map_err(handler_error),
                Ok(None) => Ok(Handled::Done),
                Err(undecodable) => Err(undecodable),
            });
        }
        answers
    }

    async fn rebuild(&self) -> Result<(), Outage> {
        self.forget_what_is_missing().await.map_err(|error| outage(&error))
    }
}

/// The article that a delivery reports as deleted, if it does.
fn deleted_article(delivery: &Delivery) -> Result<Option<ArticleId>, HandlerError> {
    // Most events are of no interest here. One that is damaged behind its front passes with them: nothing is lost by
    // ignoring what would have been ignored.
    if Envelope::peek(&delivery.message.payload).is_some_and(|front| front.type_name != ARTICLE_DELETED) {
        return Ok(None);
    }
    match Envelope::decode(&delivery.message.payload) {
        Ok(Envelope { event: Event::ArticleDeleted(deleted), .. }) => Ok(Some(deleted.article_id)),
        Ok(_) => Ok(None),
        Err(error) => Err(HandlerError::Undecodable(error.to_string())),
    }
}

/// A store that is away pauses the work; a defect is the message's own failure, and ends with the dead letters.
#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err takes")]
fn handler_error(error: StoreError) -> HandlerError {
    match &error {
        StoreError::Unavailable { .. } => outage(&error).into(),
        StoreError::Broken { source, .. } => HandlerError::Failed(format!("{error}: {source}")),
    }
}

fn outage(error: &StoreError) -> Outage {
    Outage::new("likes", error.to_string())
}
