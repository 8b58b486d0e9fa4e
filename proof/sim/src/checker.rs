//! What must hold when everything is at rest, whatever went wrong before.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use madang_kernel::{EventId, Id};
use madang_messaging::GroupId;
use madang_messaging::consumer::ladder::dlq_topic;

use crate::content::{GROUPS, Nature, PROJECTING, TOPIC};
use crate::store::Committed;
use crate::world::World;

/// What was broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Committed, never applied, and not in the dead letters either.
    Lost,
    /// Applied more than once by one group.
    Twice,
    /// Applied or published although it was never committed.
    Phantom,
    /// In the dead letters although it could have been applied.
    WronglyDead,
    /// Applied too late: somebody else's failure held it up.
    HeldUp,
    /// The projection shows an older state than it was given.
    Backwards,
    /// The cache shows another state than the projection, and nothing would ever change that.
    Stale,
    /// Something never came to rest.
    Restless,
    /// A machine panicked.
    Panicked,
}

/// One broken promise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// What was broken.
    pub kind: Kind,
    /// For which consumer group, if for one.
    pub group: Option<&'static str>,
    /// For which event, if for one.
    pub event: Option<i64>,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: event {:?}, group {:?}", self.kind, self.event, self.group)
    }
}

/// Events that are healthy and share no key with one that is refused, and that a group has still not applied.
pub(crate) fn overdue(world: &World) -> BTreeSet<(usize, i64)> {
    let committed = &world.store.committed;
    let refused_keys: BTreeSet<&str> = committed
        .values()
        .filter(|committed| committed.nature.refuses_for_a_while())
        .map(|committed| committed.message.key.as_str())
        .collect();
    let mut late = BTreeSet::new();
    for (id, Committed { message, nature, .. }) in committed {
        for group in 0..GROUPS.len() {
            let healthy = *nature == Nature::Fine && !refused_keys.contains(message.key.as_str());
            if healthy && !world.store.effects.contains_key(&(group, *id)) {
                late.insert((group, id.raw()));
            }
        }
    }
    late
}

/// Every broken promise.
pub(crate) fn check(world: &World) -> Vec<Violation> {
    let mut found = Vec::new();
    let store = &world.store;
    for (group, name) in GROUPS.iter().enumerate() {
        let mut note = |kind, id: EventId| found.push(Violation { kind, group: Some(name), event: Some(id.raw()) });
        let dlq = dlq_topic(TOPIC, &GroupId::new(*name));
        let dead: BTreeSet<EventId> = world.log.messages(&dlq).map(|message| message.event_id).collect();
        for (id, Committed { nature, .. }) in &store.committed {
            let applied = store.effects.get(&(group, *id)).copied().unwrap_or(0);
            let given_up = dead.contains(id) || store.buried.contains(id);
            let hopeless = matches!(nature, Nature::RefusedForEver | Nature::FailsForEver | Nature::Undecodable);
            match (applied, given_up) {
                (0, false) => note(Kind::Lost, *id),
                (0 | 1, true) if !hopeless => note(Kind::WronglyDead, *id),
                (0, true) => {}
                (1, _) => {
                    if world.overdue.contains(&(group, id.raw())) {
                        note(Kind::HeldUp, *id);
                    }
                }
                _ => note(Kind::Twice, *id),
            }
        }
        let applied = store.effects.keys().filter(|(of, _)| *of == group).map(|(_, id)| *id);
        let phantoms = applied.chain(dead.iter().copied()).filter(|id| !store.committed.contains_key(id));
        phantoms.for_each(|id| note(Kind::Phantom, id));
    }
    for message in world.log.messages(TOPIC).filter(|message| !store.committed.contains_key(&message.event_id)) {
        found.push(Violation { kind: Kind::Phantom, group: None, event: Some(message.event_id.raw()) });
    }
    found.extend(check_projection(world));
    let in_projection = |key: &str| store.projection.get(key).copied().unwrap_or(0);
    let stale = world.cache.cached().filter(|(key, cached)| in_projection(key) != *cached);
    found.extend(stale.map(|_| Violation { kind: Kind::Stale, group: Some(GROUPS[PROJECTING]), event: None }));
    if !world.at_rest {
        found.push(Violation { kind: Kind::Restless, group: None, event: None });
    }
    found
}

/// Whether the projection shows, of each key, the newest of what was applied.
fn check_projection(world: &World) -> Vec<Violation> {
    let store = &world.store;
    let mut newest: BTreeMap<&str, (u32, EventId)> = BTreeMap::new();
    for (id, committed) in store.committed.iter().filter(|(id, _)| store.effects.contains_key(&(PROJECTING, **id))) {
        let known = newest.entry(&committed.message.key).or_insert((committed.version, *id));
        *known = (*known).max((committed.version, *id));
    }
    let backwards = newest.into_iter().filter(|(key, (version, _))| store.projection.get(*key) != Some(version));
    let note = |(_, (_, id)): (&str, (u32, EventId))| Violation {
        kind: Kind::Backwards,
        group: Some(GROUPS[PROJECTING]),
        event: Some(id.raw()),
    };
    backwards.map(note).collect()
}
