//! Events in: a whole batch folded into one transaction that also stores how far the group has come.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use madang_event::{Envelope, type_name};
use madang_kernel::{Clock, StoreError};
use madang_messaging::{Delivery, GroupId, Handled, Handler, HandlerError, Outage, Position};

use crate::{HotChange, HotStore, Offsets, SiteDays, fold};

/// Applies the events of all four topics to the scores.
///
/// It asks no owner for anything, also not when the group fell behind what the log keeps. Counts are absolute, so each
/// article's next event of the day puts its counts right; what no event speaks of again stays as it was heard of last, until
/// a rebuild asks the owners.
pub struct HotConsumer {
    store: Arc<dyn HotStore>,
    clock: Arc<dyn Clock>,
    days: SiteDays,
    group: GroupId,
}

impl HotConsumer {
    /// A consumer of every [`Topic`](madang_event::Topic) for `group`.
    pub fn new(store: Arc<dyn HotStore>, clock: Arc<dyn Clock>, days: SiteDays, group: GroupId) -> Self {
        Self { store, clock, days, group }
    }

    /// Applies all of them in one transaction.
    async fn apply(&self, read: &[Read<'_>]) -> Result<Handled, StoreError> {
        let oldest_kept = self.days.oldest_kept(self.clock.now());
        // What is older is shown nowhere, and would only be written to be forgotten.
        let changes = read.iter().filter_map(|read| read.change).filter(|change| change.day >= oldest_kept);
        let positions = last_positions(read.iter().map(|read| read.position));
        let done = Offsets { group: self.group.clone(), positions };
        let applied = self.store.apply(fold(changes), done).await?;
        Ok(if applied.offsets_stored { Handled::DoneWithOffset } else { Handled::Done })
    }

    /// Applies the longest part from the front that the store takes. A defect that one message causes is found by
    /// halving, so that it is answered for that message alone.
    async fn apply_front(&self, mut read: &[Read<'_>]) -> (usize, Result<Handled, HandlerError>) {
        loop {
            match self.apply(read).await {
                Ok(handled) => return (read.len(), Ok(handled)),
                Err(StoreError::Unavailable { what, reason, .. }) => return (1, Err(Outage::new(what, reason).into())),
                Err(StoreError::Broken { .. }) if read.len() > 1 => read = &read[..read.len() / 2],
                Err(StoreError::Broken { what, source }) => {
                    return (1, Err(HandlerError::Failed(format!("{what}: {source}"))));
                }
            }
        }
    }
}

#[async_trait]
impl Handler for HotConsumer {
    /// Answers up to the first message that cannot be read: offsets are stored with the work, and must not pass it.
    async fn handle(&self, deliveries: &[Delivery]) -> Vec<Result<Handled, HandlerError>> {
        let mut readable = Vec::with_capacity(deliveries.len());
        let mut unreadable = None;
        for delivery in deliveries {
            match read(delivery, &self.days) {
                Ok(read) => readable.push(read),
                Err(error) => {
                    unreadable = Some(error);
                    break;
                }
            }
        }
        let mut answers = Vec::with_capacity(deliveries.len());
        if !readable.is_empty() {
            let (answered, answer) = self.apply_front(&readable).await;
            answers.extend(std::iter::repeat_n(answer, answered));
        }
        if answers.len() == readable.len() && answers.iter().all(Result::is_ok) {
            answers.extend(unreadable.map(Err));
        }
        answers
    }
}

/// The texts of articles: kilobytes in which nothing scores, so they are left unread.
const TEXTS: [&str; 2] = [type_name::ARTICLE_CREATED, type_name::ARTICLE_EDITED];

/// A delivery that was understood.
struct Read<'a> {
    position: &'a Position,
    change: Option<HotChange>,
}

fn read<'a>(delivery: &'a Delivery, days: &SiteDays) -> Result<Read<'a>, HandlerError> {
    let (position, payload) = (&delivery.position, &delivery.message.payload);
    if Envelope::peek(payload).is_some_and(|front| TEXTS.contains(&front.type_name)) {
        return Ok(Read { position, change: None });
    }
    let envelope = Envelope::decode(payload).map_err(|error| HandlerError::Undecodable(error.to_string()))?;
    Ok(Read { position, change: HotChange::of(&envelope, days) })
}

/// The last position of each topic and partition.
fn last_positions<'a>(positions: impl Iterator<Item = &'a Position>) -> Vec<Position> {
    let mut last: BTreeMap<(&str, u32), &Position> = BTreeMap::new();
    for position in positions {
        let known = last.entry((&position.topic, position.partition)).or_insert(position);
        if known.offset < position.offset {
            *known = position;
        }
    }
    last.into_values().cloned().collect()
}
