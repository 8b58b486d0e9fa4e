//! Publishing: every message gets its outcome, and what is not known is known to be unknown.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use madang_kernel::Id;
use madang_messaging::{Message, Outage, PublishOutcome};
use rdkafka::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::{DeliveryResult, OwnedHeaders};
use rdkafka::producer::{BaseRecord, Producer as _, ProducerContext, ThreadedProducer};
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::codec::Attributes;
use crate::errors::{away, blocking, is_refusal};
use crate::names::{Names, holds_dead_letters, is_topic};
use crate::options::{KafkaOptions, MESSAGE_MAX_BYTES};
use crate::{ConnectError, codec, connection};

/// Between two attempts to put a message into a full queue, in milliseconds.
const QUEUE_FULL_RETRY_MS: u64 = 5;

/// How many replicas must have a write: all but one, so that one may be away, as long as two have it.
pub(crate) fn in_sync_min(replication: u16) -> u16 {
    if replication >= 3 { replication - 1 } else { 1 }
}

type Acknowledge = oneshot::Sender<Result<(), KafkaError>>;
type Client = ThreadedProducer<Deliveries>;

/// Answers whoever waits for a message.
pub(crate) struct Deliveries;

impl ClientContext for Deliveries {
    fn log(&self, level: RDKafkaLogLevel, fac: &str, log_message: &str) {
        connection::pass_on(level, fac, log_message);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        connection::note(&error, reason);
    }
}

impl ProducerContext for Deliveries {
    type DeliveryOpaque = Box<Mutex<Option<Acknowledge>>>;

    fn delivery(&self, delivery_result: &DeliveryResult<'_>, answer: Self::DeliveryOpaque) {
        let outcome = match delivery_result {
            Ok(_) => Ok(()),
            Err((error, _)) => Err(error.clone()),
        };
        if let Some(answer) = answer.into_inner().unwrap_or_else(PoisonError::into_inner) {
            // Whoever asked may have stopped waiting; the message then counts as unsent, and a duplicate is absorbed.
            let _ = answer.send(outcome);
        }
    }
}

/// The one producer of the process.
pub(crate) struct Producer {
    options: KafkaOptions,
    names: Names,
    attributes: Attributes,
    client: Mutex<Arc<Client>>,
}

impl Producer {
    pub(crate) fn new(options: &KafkaOptions) -> Result<Self, ConnectError> {
        let client = client(options).map_err(|error| ConnectError::Options(error.to_string()))?;
        let (names, attributes) = (Names::new(options), options.attributes());
        Ok(Self { options: options.clone(), names, attributes, client: Mutex::new(Arc::new(client)) })
    }

    /// Publishes in the order given, each to its topic, which exists.
    pub(crate) async fn publish(&self, messages: &[Message]) -> Result<Vec<PublishOutcome>, Outage> {
        let client = self.working_client()?;
        let deadline = Instant::now() + Duration::from_millis(self.options.delivery_timeout_ms);
        let mut answers = Vec::with_capacity(messages.len());
        for message in messages {
            if message.payload.len() > MESSAGE_MAX_BYTES {
                answers.push(Err(PublishOutcome::Rejected(format!("larger than {MESSAGE_MAX_BYTES} bytes"))));
            } else if !is_topic(&self.names.topic(&message.topic)) {
                answers.push(Err(PublishOutcome::Rejected(format!("{:?} cannot be a topic", message.topic))));
            } else {
                answers.push(self.enqueue(&client, message, deadline).await?);
            }
        }
        let mut outcomes = Vec::with_capacity(messages.len());
        for answer in answers {
            outcomes.push(match answer {
                Ok(delivered) => outcome(delivered.await.map_err(away)?)?,
                Err(refused) => refused,
            });
        }
        Ok(outcomes)
    }

    /// Publishes the record that removes the dead letter of this key.
    pub(crate) async fn remove_letter(&self, topic: &str, key: &[u8]) -> Result<(), Outage> {
        let client = self.working_client()?;
        let record = Record { topic: self.names.topic(topic), key, payload: None, headers: codec::removal() };
        let (answer, delivered) = oneshot::channel();
        send(&client, &record, answer).map_err(away)?;
        delivered.await.map_err(away)?.map_err(away)
    }

    /// Waits until nothing is on its way any more.
    pub(crate) async fn flush(&self, timeout: Duration) -> Result<(), Outage> {
        let client = self.client.lock().unwrap_or_else(PoisonError::into_inner).clone();
        blocking(move || client.flush(timeout).map_err(away)).await
    }

    async fn enqueue(
        &self,
        client: &Client,
        message: &Message,
        deadline: Instant,
    ) -> Result<Result<oneshot::Receiver<Result<(), KafkaError>>, PublishOutcome>, Outage> {
        let apart = holds_dead_letters(&message.topic);
        // The same event may die twice; each letter has a name of its own.
        let letter = apart.then(|| format!("{}/{:016x}", message.event_id.raw(), rand::random::<u64>()));
        let record = Record {
            topic: self.names.topic(&message.topic),
            key: letter.as_deref().unwrap_or(&message.key).as_bytes(),
            payload: Some(&message.payload),
            headers: codec::headers(message, &self.attributes, apart),
        };
        loop {
            let (answer, delivered) = oneshot::channel();
            match send(client, &record, answer) {
                Ok(()) => return Ok(Ok(delivered)),
                Err(error) if is_full(&error) && Instant::now() < deadline => {
                    tokio::time::sleep(Duration::from_millis(QUEUE_FULL_RETRY_MS)).await;
                }
                Err(error) if is_refusal(&error) => return Ok(Err(PublishOutcome::Rejected(error.to_string()))),
                Err(error) => return Err(away(error)),
            }
        }
    }

    /// The producer; a new one when the old one has given up for good, as it does when a broker forgot its sequence.
    fn working_client(&self) -> Result<Arc<Client>, Outage> {
        let mut current = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((code, reason)) = current.client().fatal_error() {
            tracing::warn!(%code, "kafka: the producer failed and is replaced by a new one: {reason}");
            *current = Arc::new(client(&self.options).map_err(away)?);
        }
        Ok(current.clone())
    }
}

struct Record<'a> {
    topic: String,
    key: &'a [u8],
    payload: Option<&'a [u8]>,
    headers: OwnedHeaders,
}

fn client(options: &KafkaOptions) -> Result<Client, KafkaError> {
    options.producer().create_with_context(Deliveries)
}

fn send(client: &Client, record: &Record<'_>, answer: Acknowledge) -> Result<(), KafkaError> {
    let mut sent: BaseRecord<'_, [u8], [u8], _> =
        BaseRecord::with_opaque_to(&record.topic, Box::new(Mutex::new(Some(answer))))
            .key(record.key)
            .headers(record.headers.clone());
    if let Some(payload) = record.payload {
        sent = sent.payload(payload);
    }
    client.send(sent).map_err(|(error, _)| error)
}

fn outcome(delivered: Result<(), KafkaError>) -> Result<PublishOutcome, Outage> {
    match delivered {
        Ok(()) => Ok(PublishOutcome::Published),
        Err(error) if is_refusal(&error) => Ok(PublishOutcome::Rejected(error.to_string())),
        Err(error) => Err(away(error)),
    }
}

fn is_full(error: &KafkaError) -> bool {
    error.rdkafka_error_code() == Some(RDKafkaErrorCode::QueueFull)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_needs_all_replicas_but_one_as_long_as_two_are_left() {
        assert_eq!([1, 2, 3, 5].map(in_sync_min), [1, 1, 2, 4]);
    }
}
