//! What is derived from the stores and can be made again: the query model, and reading through it.

use std::sync::Arc;

use anyhow::Context as _;
use async_trait::async_trait;
use madang_article_read::{MixedOwners, ReadModel, ReadService};
use madang_event::Envelope;
use madang_kernel::{Clock, StoreError};
use madang_memory::{LocalArticles, LocalComments, LocalLikes, LocalViews, MemoryReadModel};
use madang_messaging::DeadLetters;
use madang_mysql::MysqlDeadLetters;

use super::carriers;
use super::commits::MergeCommitted;
use super::dead_letters::AllDeadLetters;
use super::model::Dispensable;
use super::servers::Servers;
use crate::config::Settings;
use crate::site::Services;

/// What was derived.
pub(super) struct Derived {
    /// The query model.
    pub(super) model: Arc<dyn ReadModel>,
    /// The same, told of commits.
    pub(super) committed: Arc<dyn MergeCommitted>,
    /// Reading through it.
    pub(super) read: Option<Arc<ReadService>>,
}

/// Puts reading on the services.
pub(super) fn compose(settings: &Settings, services: &Services, clock: &Arc<dyn Clock>) -> anyhow::Result<Derived> {
    let model = Arc::new(MemoryReadModel::new(settings.read_model_mb * 1_000_000, clock.clone()));
    let owners = MixedOwners {
        articles: Arc::new(LocalArticles(services.articles.clone().context("no peers yet")?)),
        comments: Arc::new(LocalComments(services.comments.clone().context("no peers yet")?)),
        likes: Arc::new(LocalLikes(services.likes.clone().context("no peers yet")?)),
        views: Arc::new(LocalViews(services.views.clone().context("no peers yet")?)),
    };
    let kept: Arc<dyn ReadModel> = Arc::new(Dispensable(model.clone()));
    let read = Arc::new(ReadService::new(kept.clone(), Arc::new(owners), clock.clone()));
    Ok(Derived { model: kept, committed: Arc::new(InMemory(model)), read: Some(read) })
}

struct InMemory(Arc<MemoryReadModel>);

#[async_trait]
impl MergeCommitted for InMemory {
    async fn merge_committed(&self, events: &[Envelope]) -> Result<(), StoreError> {
        self.0.merge_committed(events);
        Ok(())
    }
}

/// The dead letters of consumers and of every relay.
pub(super) fn dead_letters(servers: &Servers) -> AllDeadLetters {
    let with_outbox = servers.databases.iter().filter(|(service, _)| carriers::has_outbox(*service));
    let of_relays = with_outbox.map(|(service, database)| {
        let letters: Box<dyn DeadLetters> = Box::new(MysqlDeadLetters::new(database.clone()));
        (service.name(), letters)
    });
    let of_consumers: Box<dyn DeadLetters> = Box::new(servers.log.dead_letters());
    AllDeadLetters::new(of_relays.chain([("consumer", of_consumers)]).collect())
}
