//! Relays: for each database with an outbox one that publishes committed events to the log, and a coordinator that tells
//! for which shards this process polls what was not published at once.

use std::convert::Infallible;
use std::sync::Arc;

use madang_http::{HttpPeers, OutboxOf, Outboxes, PeerOutbox};
use madang_messaging::{Assignment, Coordinator, CoordinatorConfig, OnError, Relay, RelayConfig, Stop, UnsentMessages};
use madang_mysql::{Mysql, MysqlOutbox, Service};
use tokio::sync::watch;

use super::backing::Cluster;
use super::commits::ClusterCommits;
use super::servers::Servers;
use crate::composition::site::{Site, Stages};

/// The first shard of a process's relay, by service.
const SHARDS_FROM: &str = "madang_relay_shards_from";
/// The shard after its last; the same as the first where it has none.
const SHARDS_TO: &str = "madang_relay_shards_to";

/// Services whose changes are events; what members do stays with them, and hot articles only listen.
pub(super) const WITH_OUTBOX: [Service; 4] = [Service::Article, Service::Comment, Service::Like, Service::View];

/// Whether the changes of a service are events.
pub(super) fn has_outbox(service: Service) -> bool {
    WITH_OUTBOX.contains(&service)
}

/// The outbox of a service: in a database of this process, or at a peer.
pub(super) fn outbox(service: Service, servers: &Servers, peers: &Arc<HttpPeers>) -> Arc<dyn UnsentMessages> {
    match servers.database(service) {
        Some(database) => Arc::new(MysqlOutbox::new(&database)),
        None => Arc::new(PeerOutbox::new(peers.clone(), named(service))),
    }
}

/// The outboxes that this process can look into, for its peers.
pub(super) fn outboxes(servers: &Servers) -> Outboxes {
    let with_outbox = servers.databases.iter().filter(|(service, _)| has_outbox(*service));
    let outbox = |database: &Mysql| Arc::new(MysqlOutbox::new(database)) as Arc<dyn UnsentMessages>;
    with_outbox.map(|(service, database)| (named(*service), outbox(database))).collect()
}

fn named(service: Service) -> OutboxOf {
    match service {
        Service::Comment => OutboxOf::Comment,
        Service::Like => OutboxOf::Like,
        Service::View => OutboxOf::View,
        _ => OutboxOf::Article,
    }
}

/// Starts relay and coordinator of a database, and what follows its commits.
pub(super) fn start((service, database): &(Service, Mysql), cluster: &Cluster, site: &Site, stages: &Stages<'_>) {
    let (clock, name) = (site.clock.clone(), service.name());
    let config = CoordinatorConfig::default();
    let coordinator =
        Coordinator::new(name, cluster.instance.clone(), config, cluster.membership.clone(), clock.clone());
    let outbox = Arc::new(MysqlOutbox::new(database));
    let shards = coordinator.assignment();
    let (relay, hand_over) = Relay::new(RelayConfig::default(), outbox, site.log.clone(), shards, clock);
    database.hand_over_to(hand_over);
    let commits = ClusterCommits {
        model: cluster.model.clone(),
        live: site.live.clone(),
        broadcast: cluster.broadcast.clone(),
        read: site.services.read.clone(),
        near: cluster.near.clone(),
        invalidations: cluster.invalidations.clone(),
    };
    database.after_commit(Arc::new(commits));
    let shown = coordinator.assignment();
    stages.background.spawn("shards", OnError::Restart, move |stop| show(name, shown.clone(), stop));
    stages.coordinators.spawn(name, OnError::Restart, move |stop| coordinator.clone().run(stop));
    stages.relays.spawn(name, OnError::Restart, move |stop| relay.clone().run(stop));
}

/// Shows which shards are this process's, so that operators see one without an owner.
async fn show(service: &'static str, mut shards: watch::Receiver<Assignment>, stop: Stop) -> Result<(), Infallible> {
    loop {
        let numbers: Vec<u8> = shards.borrow_and_update().shards().map(|shard| shard.number()).collect();
        let (from, to) = (numbers.first().copied().unwrap_or(0), numbers.last().map_or(0, |last| last + 1));
        metrics::gauge!(SHARDS_FROM, "service" => service).set(f64::from(from));
        metrics::gauge!(SHARDS_TO, "service" => service).set(f64::from(to));
        let changed = tokio::select! {
            () = stop.cancelled() => return Ok(()),
            changed = shards.changed() => changed,
        };
        if changed.is_err() {
            return Ok(());
        }
    }
}
