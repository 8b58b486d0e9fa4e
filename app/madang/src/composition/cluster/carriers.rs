//! What carries committed events to the log: for each database with an outbox a relay, and a coordinator that tells which
//! shards' leftovers are this process's to find.

use std::sync::Arc;

use madang_messaging::{Coordinator, CoordinatorConfig, InstanceId, Membership, OnError, Relay, RelayConfig};
use madang_mysql::{Mysql, MysqlOutbox, Service};
use madang_redis::RedisReadModel;

use super::commits::Followed;
use crate::site::{Site, Stages};

/// Services whose changes are events; what members do stays with them, and hot articles only listen.
const WITH_OUTBOX: [Service; 4] = [Service::Article, Service::Comment, Service::Like, Service::View];

/// Whether the changes of a service are events.
pub(super) fn has_outbox(service: Service) -> bool {
    WITH_OUTBOX.contains(&service)
}

/// Starts relay and coordinator of a database, and has its commits followed.
pub(super) fn start(
    (service, database): &(Service, Mysql),
    instance: &InstanceId,
    membership: &Arc<dyn Membership>,
    model: &Arc<RedisReadModel>,
    site: &Site,
    stages: &Stages<'_>,
) {
    let (clock, name) = (site.clock.clone(), service.name());
    let config = CoordinatorConfig::default();
    let coordinator = Coordinator::new(name, instance.clone(), config, membership.clone(), clock.clone());
    let outbox = Arc::new(MysqlOutbox::new(database.clone()));
    let shards = coordinator.assignment();
    let (relay, hand_over) = Relay::new(RelayConfig::default(), outbox, site.log.clone(), shards, clock);
    let followed =
        Followed { relay: hand_over, model: model.clone(), live: site.live.clone(), read: site.services.read.clone() };
    database.after_commit(Arc::new(followed));
    stages.coordinators.spawn(name, OnError::Restart, move |stop| coordinator.clone().run(stop));
    stages.relays.spawn(name, OnError::Restart, move |stop| relay.clone().run(stop));
}
