//! The asking end: peers by role, behind the ports that services know.

mod address;
mod breaker;
mod facts_cache;
mod failure;
mod group;
mod instance;
mod moderation;
mod options;
mod outboxes;
mod owners;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use madang_board::{ArticleId, BoardId};
use madang_kernel::Clock;

use breaker::Breaker;
use facts_cache::FactsCache;
use group::Group;
use instance::{Instance, Transport};

pub use address::{PeerAddress, PeerAddressError};
pub use facts_cache::FACTS_TTL_MS;
pub use moderation::PeerActs;
pub use options::PeerOptions;
pub use outboxes::PeerOutbox;

/// The other processes of the site. Implements every port whose owner may be elsewhere; a role without peers answers
/// `Unavailable`.
pub struct HttpPeers {
    facts: FactsCache<ArticleId>,
    pins: FactsCache<BoardId>,
    articles: Arc<Group>,
    comments: Arc<Group>,
    likes: Group,
    views: Group,
    members: Group,
}

/// How one instance stands, for whoever asks about the health of this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerState {
    /// Where it listens.
    pub address: PeerAddress,
    /// What it is asked for.
    pub roles: Vec<&'static str>,
    /// Whether its circuit is open: it did not answer and is left alone for a while.
    pub is_open: bool,
    /// Calls that failed since its last answer.
    pub failures: u32,
}

impl HttpPeers {
    /// Peers as the options name them; no connection is made before the first call.
    pub fn new(options: &PeerOptions, clock: Arc<dyn Clock>) -> Self {
        let mut instances = Instances::new(options, Arc::clone(&clock));
        let call_timeout = Duration::from_millis(options.call_timeout_ms);
        let mut group = |role, addresses: &[PeerAddress]| {
            let instances = addresses.iter().map(|address| instances.at(address)).collect();
            Group::new(role, instances, options.retries, call_timeout)
        };
        let articles = Arc::new(group("articles", &options.articles));
        Self {
            facts: FactsCache::new(Arc::clone(&articles), Arc::clone(&clock)),
            pins: FactsCache::new(Arc::clone(&articles), clock),
            articles,
            comments: Arc::new(group("comments", &options.comments)),
            likes: group("likes", &options.likes),
            views: group("views", &options.views),
            members: group("members", &options.members),
        }
    }

    /// Every instance, with the state of its circuit as the last calls left it.
    pub fn states(&self) -> Vec<PeerState> {
        let mut states: Vec<PeerState> = Vec::new();
        for group in [&*self.articles, &*self.comments, &self.likes, &self.views, &self.members] {
            for instance in group.instances() {
                match states.iter_mut().find(|state| state.address == *instance.address()) {
                    Some(state) => state.roles.push(group.role()),
                    None => {
                        let (is_open, failures) = instance.circuit();
                        let (address, roles) = (instance.address().clone(), vec![group.role()]);
                        states.push(PeerState { address, roles, is_open, failures });
                    }
                }
            }
        }
        states
    }
}

/// Makes instances, one for each address: a process with two roles has one circuit.
struct Instances<'a> {
    options: &'a PeerOptions,
    transport: Arc<Transport>,
    made: HashMap<PeerAddress, Arc<Instance>>,
}

impl<'a> Instances<'a> {
    fn new(options: &'a PeerOptions, clock: Arc<dyn Clock>) -> Self {
        let connect_timeout = Duration::from_millis(options.connect_timeout_ms);
        let transport = Arc::new(Transport {
            connections: instance::connections(connect_timeout, options.in_flight_max),
            authorization: options.secret.header(),
            answer_timeout: Duration::from_millis(options.answer_timeout_ms),
            clock,
        });
        Self { options, transport, made: HashMap::new() }
    }

    fn at(&mut self, address: &PeerAddress) -> Arc<Instance> {
        let (options, transport) = (self.options, &self.transport);
        let made = self.made.entry(address.clone()).or_insert_with(|| {
            let breaker = Breaker::new(options.circuit_failures, Duration::from_millis(options.circuit_open_ms));
            Arc::new(Instance::new(address.clone(), Arc::clone(transport), options.in_flight_max, breaker))
        });
        Arc::clone(made)
    }
}
