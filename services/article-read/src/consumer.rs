//! Events in: merged into whatever the model holds. What it does not hold needs no event: it is rebuilt from the owners.

use std::sync::Arc;

use async_trait::async_trait;
use madang_event::{Envelope, Topic, type_name};
use madang_kernel::StoreError;
use madang_messaging::{Delivery, Handled, Handler, HandlerError, Outage};

use crate::{Change, ReadModel};

const PART: &str = "query model";

/// Follows the events of articles, comments and likes. Merging one again changes nothing, so offsets are stored after it.
/// Its group starts at the head of the log, with a model that is empty.
pub struct ReadConsumer {
    model: Arc<dyn ReadModel>,
}

/// What is to be done with a delivery.
enum Decoded {
    Ignored,
    Changes(Change),
    Undecodable(String),
}

impl ReadConsumer {
    /// A consumer of [`Topic::Article`], [`Topic::Comment`] and [`Topic::Like`].
    pub fn new(model: Arc<dyn ReadModel>) -> Self {
        Self { model }
    }

    /// The topics it subscribes to.
    pub fn topics() -> [Topic; 3] {
        [Topic::Article, Topic::Comment, Topic::Like]
    }

    /// Which deliveries report what the model has, or does not want. One whose bytes are damaged behind the front
    /// passes as such: nothing of it would have been used.
    async fn settled(&self, deliveries: &[Delivery]) -> Result<Vec<bool>, StoreError> {
        let mut settled = vec![false; deliveries.len()];
        let (mut places, mut texts) = (Vec::new(), Vec::new());
        for (place, delivery) in deliveries.iter().enumerate() {
            let Some(front) = Envelope::peek(&delivery.message.payload) else { continue };
            match front.type_name {
                type_name::ARTICLE_CREATED | type_name::ARTICLE_EDITED => {
                    places.push(place);
                    texts.push((front.key, front.version));
                }
                type_name::ARTICLE_VIEWED => settled[place] = true,
                _ => {}
            }
        }
        if !texts.is_empty() {
            let known = self.model.settled(&texts).await?;
            places.into_iter().zip(known).for_each(|(place, known)| settled[place] = known);
        }
        Ok(settled)
    }

    async fn apply(&self, deliveries: &[Delivery]) -> Result<Vec<Result<Handled, HandlerError>>, StoreError> {
        let settled = self.settled(deliveries).await?;
        let mut changes = Vec::new();
        let mut answers = Vec::with_capacity(deliveries.len());
        for (delivery, settled) in deliveries.iter().zip(settled) {
            let decoded = if settled { Decoded::Ignored } else { decode(delivery) };
            answers.push(match decoded {
                Decoded::Ignored => Ok(Handled::Done),
                Decoded::Changes(change) => {
                    changes.push(change);
                    Ok(Handled::Done)
                }
                Decoded::Undecodable(reason) => Err(HandlerError::Undecodable(reason)),
            });
        }
        if !changes.is_empty() {
            self.model.merge(changes).await?;
        }
        Ok(answers)
    }
}

fn decode(delivery: &Delivery) -> Decoded {
    match Envelope::decode(&delivery.message.payload) {
        Ok(envelope) => Change::of(envelope).map_or(Decoded::Ignored, Decoded::Changes),
        Err(error) => Decoded::Undecodable(error.to_string()),
    }
}

#[async_trait]
impl Handler for ReadConsumer {
    async fn handle(&self, deliveries: &[Delivery]) -> Vec<Result<Handled, HandlerError>> {
        match self.apply(deliveries).await {
            Ok(answers) => answers,
            // Nothing is known to be merged, so all are handed in again; the first answer pauses the rest.
            Err(error) => vec![Err(error.into())],
        }
    }

    async fn rebuild(&self) -> Result<(), Outage> {
        self.model.clear().await.map_err(|error| Outage::new(PART, error.to_string()))
    }
}
