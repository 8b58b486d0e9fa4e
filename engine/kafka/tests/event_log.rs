//! The log and the dead letters on Kafka keep the ports' promises.

#![allow(clippy::unwrap_used, reason = "the helpers of a test fail the test")]

mod support;

use std::sync::Arc;

use madang_conformance::dead_letters::DeadLettersHarness;
use madang_conformance::event_log::EventLogHarness;
use madang_engine_kafka::{KafkaDeadLetters, KafkaLog, KafkaOptions};
use madang_messaging::{DeadLetters, EventLog};

struct Harness {
    log: KafkaLog,
    options: KafkaOptions,
    letters: KafkaDeadLetters,
}

impl Harness {
    async fn new() -> Self {
        let (log, options) = support::fresh().await;
        let letters = log.dead_letters();
        Self { log, options, letters }
    }
}

#[async_trait::async_trait]
impl EventLogHarness for Harness {
    async fn fresh() -> Self {
        Self::new().await
    }

    async fn restarted(self) -> Self {
        assert!(self.log.close(support::PATIENCE).await, "left its groups in time");
        let log = KafkaLog::connect(self.options.clone()).await.unwrap();
        let letters = log.dead_letters();
        Self { log, letters, options: self.options }
    }

    fn log(&self) -> Arc<dyn EventLog> {
        Arc::new(self.log.clone())
    }

    fn dead_letters(&self) -> &dyn DeadLetters {
        &self.letters
    }
}

#[async_trait::async_trait]
impl DeadLettersHarness for Harness {
    async fn fresh() -> Self {
        Self::new().await
    }

    fn dead_letters(&self) -> &dyn DeadLetters {
        &self.letters
    }

    fn log(&self) -> Arc<dyn EventLog> {
        Arc::new(self.log.clone())
    }
}

madang_conformance::event_log_suite!(Harness);
madang_conformance::dead_letters_suite!(Harness);
