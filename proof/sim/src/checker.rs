//! What must hold when everything is at rest, whatever went wrong before.

use std::collections::BTreeSet;
use std::fmt;

use madang_kernel::{EventId, Id};
use madang_messaging::GroupId;
use madang_messaging::consumer::ladder::dlq_topic;

use crate::content::{GROUPS, Nature, TOPIC};
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
    /// Something never came to rest.
    Restless,
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
        .filter(|(_, nature)| nature.refuses_for_a_while())
        .map(|(message, _)| message.key.as_str())
        .collect();
    let mut late = BTreeSet::new();
    for (id, (message, nature)) in committed {
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
        for (id, (_, nature)) in &store.committed {
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
    if !world.at_rest {
        found.push(Violation { kind: Kind::Restless, group: None, event: None });
    }
    found
}
