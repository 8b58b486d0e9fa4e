//! Events in: an article that was deleted takes its views along.

use std::sync::Arc;

use async_trait::async_trait;
use madang_event::type_name::ARTICLE_DELETED;
use madang_event::{Envelope, Event};
use madang_kernel::StoreError;
use madang_messaging::{Delivery, Handled, Handler, HandlerError, Message, Outage};

use crate::ViewService;

/// Applies the events of articles to their views. Applying one again changes nothing, so offsets are stored after it.
pub struct ViewConsumer {
    views: Arc<ViewService>,
}

impl ViewConsumer {
    /// A consumer of [`Topic::Article`](madang_event::Topic::Article).
    pub fn new(views: Arc<ViewService>) -> Self {
        Self { views }
    }

    async fn apply(&self, message: &Message) -> Result<Handled, HandlerError> {
        // Most events are of no interest here. One that is damaged behind its front passes with them: nothing is lost
        // by ignoring what would have been ignored.
        if Envelope::peek(&message.payload).is_some_and(|front| front.type_name != ARTICLE_DELETED) {
            return Ok(Handled::Done);
        }
        let envelope =
            Envelope::decode(&message.payload).map_err(|error| HandlerError::Undecodable(error.to_string()))?;
        match envelope.event {
            Event::ArticleDeleted(deleted) => self.views.article_deleted(deleted.article_id).await.map_err(failure)?,
            Event::ArticleCreated(_)
            | Event::ArticleEdited(_)
            | Event::CommentCreated(_)
            | Event::CommentDeleted(_)
            | Event::ArticleLikesChanged(_)
            | Event::ArticleViewed(_) => {}
        }
        Ok(Handled::Done)
    }
}

#[async_trait]
impl Handler for ViewConsumer {
    async fn handle(&self, deliveries: &[Delivery]) -> Vec<Result<Handled, HandlerError>> {
        let mut answers = Vec::with_capacity(deliveries.len());
        for delivery in deliveries {
            answers.push(self.apply(&delivery.message).await);
        }
        answers
    }

    async fn rebuild(&self) -> Result<(), Outage> {
        self.views.find_missed_deletions().await.map_err(|error| Outage::new(PART, error.to_string()))
    }
}

const PART: &str = "view store";

/// A store that is away pauses the consumer; a defect is the message's to retry.
fn failure(error: StoreError) -> HandlerError {
    match error {
        StoreError::Unavailable { what, reason, .. } => Outage::new(what, reason).into(),
        StoreError::Broken { what, source } => HandlerError::Failed(format!("{what}: {source}")),
    }
}
