//! What the end of an article means to whoever owns parts of it (comments, likes, views): they are gone at once and for ever,
//! and their rows go slice by slice.

use std::sync::Arc;

use async_trait::async_trait;
use madang_board::{ArticleId, ArticleLookup};
use madang_kernel::StoreError;
use madang_messaging::{Delivery, Handled, Handler, HandlerError, Outage};

use crate::type_name::ARTICLE_DELETED;
use crate::{Envelope, Event};

/// Parts of articles, as their owner removes them. Each step may be done again, to no effect.
#[async_trait]
pub trait ArticleParts: Send + Sync {
    /// What they are called in messages to people.
    fn name(&self) -> &'static str;
    /// Marks an article as gone, for ever: from now on nothing is added to it.
    async fn mark_article_gone(&self, article: ArticleId) -> Result<(), StoreError>;
    /// Removes some of an article's parts in a transaction of its own, few enough that nobody waits long behind it; true
    /// when none are left.
    async fn remove_slice(&self, article: ArticleId) -> Result<bool, StoreError>;
    /// Some articles with parts above `after`, in the order of their ids; none when there are no more.
    async fn articles_with_parts(&self, after: Option<ArticleId>) -> Result<Vec<ArticleId>, StoreError>;
}

/// Articles whose parts are removed between two looks at what is left.
const ORPHANS_SLICE: usize = 1_000;

/// Consumes the events of articles for an owner of parts.
pub struct ArticleDeletions<P> {
    parts: P,
    articles: Arc<dyn ArticleLookup>,
}

impl<P: ArticleParts> ArticleDeletions<P> {
    /// A consumer that removes `parts`, and asks `articles` what exists when it must rebuild.
    pub fn new(parts: P, articles: Arc<dyn ArticleLookup>) -> Self {
        Self { parts, articles }
    }

    /// The mark comes first: after it nothing can be added, so what is removed stays removed.
    async fn remove(&self, article: ArticleId) -> Result<(), StoreError> {
        self.parts.mark_article_gone(article).await?;
        while !self.parts.remove_slice(article).await? {}
        Ok(())
    }

    /// Articles that have parts and are not there, as their owner says: their deletion was missed, or is on its way. At most
    /// `limit` of them.
    pub async fn orphans(&self, limit: usize) -> Result<Vec<ArticleId>, StoreError> {
        let (mut orphans, mut after) = (Vec::new(), None);
        loop {
            let articles = self.parts.articles_with_parts(after).await?;
            let Some(last) = articles.last().copied() else { return Ok(orphans) };
            for article in articles {
                if self.articles.facts(article).await?.is_none() {
                    orphans.push(article);
                }
                if orphans.len() >= limit {
                    return Ok(orphans);
                }
            }
            after = Some(last);
        }
    }

    /// Asks after every article that has parts, and removes those of articles whose deletion was missed; tells of how many
    /// articles.
    pub async fn remove_orphans(&self) -> Result<u64, StoreError> {
        let mut removed = 0;
        loop {
            let orphans = self.orphans(ORPHANS_SLICE).await?;
            for article in &orphans {
                self.remove(*article).await?;
                removed += 1;
            }
            if orphans.len() < ORPHANS_SLICE {
                return Ok(removed);
            }
        }
    }
}

#[async_trait]
impl<P: ArticleParts> Handler for ArticleDeletions<P> {
    async fn handle(&self, deliveries: &[Delivery]) -> Vec<Result<Handled, HandlerError>> {
        let deleted: Vec<_> = deliveries.iter().map(deleted_article).collect();
        // All marks come first: removing the parts of one must not keep another in sight. What fails here fails again
        // below, where it is answered for.
        for article in deleted.iter().flatten().flatten() {
            if self.parts.mark_article_gone(*article).await.is_err() {
                break;
            }
        }
        let mut outcomes = Vec::with_capacity(deleted.len());
        for article in deleted {
            outcomes.push(match article {
                Ok(Some(article)) => self.remove(article).await.map(|()| Handled::Done).map_err(HandlerError::from),
                Ok(None) => Ok(Handled::Done),
                Err(undecodable) => Err(undecodable),
            });
        }
        outcomes
    }

    async fn rebuild(&self) -> Result<(), Outage> {
        self.remove_orphans().await.map(drop).map_err(|error| Outage::new(self.parts.name(), error.to_string()))
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
