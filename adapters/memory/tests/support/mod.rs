//! A site to read from: owners that hold the truth, the model in memory, the service over both.
#![allow(dead_code, unused_imports, reason = "each test file takes what it needs")]

mod owners;
mod truth;

use std::sync::Arc;
use std::time::Duration;

use madang_article_read::{Owners, ReadArticle, ReadConsumer, ReadService};
use madang_board::ArticleId;
use madang_event::Envelope;
use madang_kernel::{Clock, Id, ManualClock, PageNumber, PageSize, ShardId, StoreError, Timestamp};
use madang_memory::MemoryReadModel;
use madang_messaging::{Delivery, Handled, Handler, Message, OnError, Position, Supervisor};

pub(crate) use owners::World;
pub(crate) use truth::{BOARD, Truth};

pub(crate) struct Site {
    pub(crate) world: Arc<World>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) model: Arc<MemoryReadModel>,
    pub(crate) service: Arc<ReadService>,
    pub(crate) consumer: ReadConsumer,
    _supervisor: Supervisor,
}

impl Site {
    /// A site whose model has this much room.
    pub(crate) fn open(budget_bytes: u64) -> Self {
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_750_000_000_000)));
        let world = Arc::new(World::new());
        let model = Arc::new(MemoryReadModel::new(budget_bytes, Arc::clone(&clock) as Arc<dyn Clock>));
        let owners = Owners {
            articles: world.clone(),
            comments: world.clone(),
            likes: world.clone(),
            views: world.clone(),
            joined: None,
        };
        let service = ReadService::new(Arc::clone(&model) as _, owners, Arc::clone(&clock) as _);
        let (service, supervisor) = (Arc::new(service), Supervisor::new("test"));
        let loads = Arc::clone(&service);
        supervisor.spawn("read-loads", OnError::Restart, move |stop| {
            let loads = Arc::clone(&loads);
            async move { loads.run(stop).await }
        });
        let consumer = ReadConsumer::new(Arc::clone(&model) as _);
        Self { world, clock, model, service, consumer, _supervisor: supervisor }
    }

    /// Hands events to the consumer as the log does.
    pub(crate) async fn deliver(&self, events: &[Envelope]) {
        let deliveries: Vec<_> = events.iter().map(delivery).collect();
        let answers = self.consumer.handle(&deliveries).await;
        assert_eq!(answers, vec![Ok(Handled::Done); events.len()]);
    }

    pub(crate) async fn article(&self, article: ArticleId) -> Result<Option<ReadArticle>, StoreError> {
        self.service.article(article).await
    }

    pub(crate) fn pass(&self, ms: i64) {
        self.clock.advance(Duration::from_millis(ms as u64));
    }

    /// Lets every task come as far as it can: on paused time this returns when all of them wait.
    pub(crate) async fn settle(&self) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

pub(crate) fn delivery(event: &Envelope) -> Delivery {
    let topic = event.event.topic().name().to_owned();
    Delivery {
        position: Position { topic: topic.clone(), partition: 0, offset: event.event_id.raw() },
        message: Message {
            event_id: event.event_id,
            topic,
            key: event.key.to_string(),
            shard: ShardId::HOME,
            occurred_at: event.occurred_at,
            headers: vec![],
            payload: event.encode(),
        },
    }
}

pub(crate) fn page(number: i64) -> PageNumber {
    PageNumber::new("page", number).unwrap()
}

pub(crate) fn size(size: i64) -> PageSize {
    PageSize::new("size", size).unwrap()
}

/// Letters in which nothing repeats, so that no packing makes them fewer.
pub(crate) fn noise(seed: u64, length: usize) -> String {
    let mut bits = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let letter = |_| {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        char::from(b'0' + (bits >> 32) as u8 % 75)
    };
    (0..length).map(letter).collect()
}
