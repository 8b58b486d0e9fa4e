//! What the end of an article means to whoever owns parts of it (comments, likes, views): they are gone at once and for ever,
//! and their rows go slice by slice. Nothing of that can be undone, so the owner of articles is asked first: an event that
//! is wrong or forged removes nothing. What a moderator removed may come back: while its owner keeps it, its parts stay as
//! they are, and nobody reaches them because nobody is told that the article exists.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use madang_board::{ArticleId, ArticleLookup};
use madang_kernel::StoreError;
use madang_messaging::{Delivery, Handled, Handler, HandlerError, Outage};
use tracing::warn;

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
    /// Some articles above `after` that are marked as gone, in the order of their ids; none when there are no more.
    async fn marked_articles(&self, after: Option<ArticleId>) -> Result<Vec<ArticleId>, StoreError>;
    /// Takes the mark from an article that is there after all; what is left of its parts counts again.
    async fn restore(&self, article: ArticleId) -> Result<(), StoreError>;
}

/// Articles whose parts are removed between two looks at what is left.
const ORPHANS_SLICE: usize = 1_000;

/// What may be wrong with parts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wrong {
    /// There are some of an article that is not there.
    Orphan,
    /// They are marked as gone and the article is there.
    Mark,
}

/// Consumes the events of articles for an owner of parts.
pub struct ArticleDeletions<P> {
    parts: P,
    articles: Arc<dyn ArticleLookup>,
}

impl<P: ArticleParts> ArticleDeletions<P> {
    /// A consumer that removes `parts`, and asks `articles` what exists.
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
        self.find(Wrong::Orphan, limit).await
    }

    /// Articles that are marked as gone and are there, as their owner says: whatever marked them was wrong. At most `limit` of
    /// them.
    pub async fn wrongly_marked(&self, limit: usize) -> Result<Vec<ArticleId>, StoreError> {
        self.find(Wrong::Mark, limit).await
    }

    async fn find(&self, wrong: Wrong, limit: usize) -> Result<Vec<ArticleId>, StoreError> {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let articles = match wrong {
                Wrong::Orphan => self.parts.articles_with_parts(after).await?,
                Wrong::Mark => self.parts.marked_articles(after).await?,
            };
            let Some(last) = articles.last().copied() else { return Ok(found) };
            let exist = self.articles.exist(&articles).await?;
            let is_wrong = |(_, exists): &(ArticleId, bool)| *exists == (wrong == Wrong::Mark);
            found.extend(articles.into_iter().zip(exist).filter(is_wrong).map(|(article, _)| article));
            if found.len() >= limit {
                found.truncate(limit);
                return Ok(found);
            }
            after = Some(last);
        }
    }

    /// Takes the mark from every article that is there; tells from how many.
    pub async fn restore_wrongly_marked(&self) -> Result<u64, StoreError> {
        let mut restored = 0;
        loop {
            let wrong = self.wrongly_marked(ORPHANS_SLICE).await?;
            for article in &wrong {
                self.parts.restore(*article).await?;
                restored += 1;
            }
            if wrong.len() < ORPHANS_SLICE {
                return Ok(restored);
            }
        }
    }

    /// The deletions that their owner confirms, one answer each.
    async fn confirmed(&self, deleted: &[ArticleId]) -> Result<Vec<bool>, StoreError> {
        if deleted.is_empty() {
            return Ok(Vec::new());
        }
        let exist = self.articles.exist(deleted).await?;
        for (article, exists) in deleted.iter().zip(&exist) {
            if *exists {
                warn!(
                    %article,
                    "an event says that an article is deleted, and its owner has it: its {} stay; whoever wrote the event is wrong or no part of this site",
                    self.parts.name()
                );
            }
        }
        Ok(exist.into_iter().map(|exists| !exists).collect())
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
        let named: Vec<ArticleId> = deleted.iter().flatten().flatten().copied().collect();
        let confirmed: Result<HashMap<ArticleId, bool>, StoreError> =
            self.confirmed(&named).await.map(|confirmed| named.iter().copied().zip(confirmed).collect());
        let is_gone = |article: &ArticleId| confirmed.as_ref().map(|confirmed| confirmed.get(article) == Some(&true));
        // All marks come first: removing the parts of one must not keep another in sight. What fails here fails again
        // below, where it is answered for.
        for article in &named {
            if matches!(is_gone(article), Ok(true)) && self.parts.mark_article_gone(*article).await.is_err() {
                break;
            }
        }
        let mut outcomes = Vec::with_capacity(deleted.len());
        for article in deleted {
            outcomes.push(match article {
                Ok(Some(article)) => match is_gone(&article) {
                    Ok(true) => self.remove(article).await.map_err(HandlerError::from),
                    Ok(false) => Ok(()),
                    Err(error) => Err(unconfirmed(error)),
                },
                Ok(None) => Ok(()),
                Err(undecodable) => Err(undecodable),
            });
        }
        outcomes.into_iter().map(|outcome| outcome.map(|()| Handled::Done)).collect()
    }

    async fn rebuild(&self) -> Result<(), Outage> {
        self.remove_orphans().await.map(drop).map_err(|error| Outage::new(self.parts.name(), error.to_string()))
    }
}

/// The owner of articles could not be asked: none of that is the message's fault, unless the answer is a defect.
fn unconfirmed(error: &StoreError) -> HandlerError {
    match error {
        StoreError::Unavailable { what, reason, .. } => Outage::new(what, reason.clone()).into(),
        StoreError::Broken { .. } => HandlerError::Failed(error.to_string()),
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
        Ok(Envelope { event: Event::ArticleDeleted(deleted), .. }) => {
            Ok((!deleted.restorable).then_some(deleted.article_id))
        }
        Ok(_) => Ok(None),
        Err(error) => Err(HandlerError::Undecodable(error.to_string())),
    }
}
