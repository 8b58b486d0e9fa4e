//! Events in: which texts changed. The texts themselves are asked for, many at once, as their owners have them now; so what is
//! deleted by then is never indexed, and an event that comes twice or late finds what is there already.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use madang_board::{ArticleId, CommentId};
use madang_event::{Envelope, Event, type_name};
use madang_kernel::StoreError;
use madang_messaging::{Delivery, GroupId, Handled, Handler, HandlerError, Outage, Position};

use crate::source::{Source, in_portions};
use crate::{Change, Offsets, SearchIndex, SearchOwners};

/// Keeps an index.
pub struct SearchConsumer {
    index: Arc<dyn SearchIndex>,
    source: Source,
    group: GroupId,
}

/// What a batch of events speaks of.
#[derive(Default)]
struct Spoken {
    /// The greatest version of each article.
    articles: BTreeMap<ArticleId, u64>,
    /// Articles that are back, and with them their comments.
    restored: BTreeSet<ArticleId>,
    /// Comments, with their articles.
    comments: BTreeMap<CommentId, ArticleId>,
}

impl Spoken {
    fn add(&mut self, envelope: &Envelope) {
        match &envelope.event {
            Event::ArticleCreated(_) | Event::ArticleEdited(_) | Event::ArticleDeleted(_) => {}
            Event::ArticleRestored(_) => {
                self.restored.insert(envelope.key);
            }
            Event::CommentCreated(change) | Event::CommentEdited(change) | Event::CommentDeleted(change) => {
                self.comments.insert(change.comment_id, change.article_id);
                return;
            }
            Event::ArticleLockChanged(_) | Event::ArticleLikesChanged(_) | Event::ArticleViewed(_) => return,
        }
        let version = self.articles.entry(envelope.key).or_default();
        *version = (*version).max(envelope.version);
    }
}

impl SearchConsumer {
    /// A consumer of articles and comments for `group`.
    pub fn new(index: Arc<dyn SearchIndex>, owners: Arc<dyn SearchOwners>, group: GroupId) -> Self {
        Self { index, source: Source(owners), group }
    }

    /// Applies all of them; the last portion stores how far the group has come.
    async fn apply(&self, read: &[Read<'_>]) -> Result<Handled, StoreError> {
        let mut spoken = Spoken::default();
        read.iter().filter_map(|read| read.envelope.as_ref()).for_each(|envelope| spoken.add(envelope));
        let articles: Vec<_> = spoken.articles.into_iter().collect();
        for slice in articles.chunks(crate::source::SLICE) {
            self.put(self.source.articles(slice).await?).await?;
        }
        let comments: Vec<_> = spoken.comments.into_iter().collect();
        for slice in comments.chunks(crate::source::SLICE) {
            self.put(self.source.comments(slice).await?).await?;
        }
        for article in spoken.restored {
            let mut after = None;
            loop {
                let (changes, next) = self.source.comments_of(article, after).await?;
                self.put(changes).await?;
                let Some(next) = next else { break };
                after = Some(next);
            }
        }
        let positions = last_positions(read.iter().map(|read| read.position));
        let done = Offsets { group: self.group.clone(), positions };
        let applied = self.index.apply(Vec::new(), Some(done)).await?;
        Ok(if applied.offsets_stored { Handled::DoneWithOffset } else { Handled::Done })
    }

    async fn put(&self, changes: Vec<Change>) -> Result<(), StoreError> {
        for portion in in_portions(changes) {
            self.index.apply(portion, None).await?;
        }
        Ok(())
    }

    /// Applies the longest part from the front that can be. A defect that one message causes is found by halving, so that it
    /// is answered for that message alone.
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
impl Handler for SearchConsumer {
    /// Answers up to the first message that cannot be read: offsets are stored with the work, and must not pass it.
    async fn handle(&self, deliveries: &[Delivery]) -> Vec<Result<Handled, HandlerError>> {
        let mut readable = Vec::with_capacity(deliveries.len());
        let mut unreadable = None;
        for delivery in deliveries {
            match read(delivery) {
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

    /// Begins a rebuild, which is then made beside the events that come.
    async fn rebuild(&self) -> Result<(), Outage> {
        match self.index.begin_rebuild().await {
            Ok(_) => Ok(()),
            Err(StoreError::Unavailable { what, reason, .. }) => Err(Outage::new(what, reason)),
            Err(StoreError::Broken { what, source }) => Err(Outage::new(what, source.to_string())),
        }
    }
}

/// A delivery that was understood; one that changes no text is not looked into.
struct Read<'a> {
    position: &'a Position,
    envelope: Option<Envelope>,
}

fn read(delivery: &Delivery) -> Result<Read<'_>, HandlerError> {
    let (position, payload) = (&delivery.position, &delivery.message.payload);
    if Envelope::peek(payload).is_some_and(|front| front.type_name == type_name::ARTICLE_LOCK_CHANGED) {
        return Ok(Read { position, envelope: None });
    }
    let envelope = Envelope::decode(payload).map_err(|error| HandlerError::Undecodable(error.to_string()))?;
    Ok(Read { position, envelope: Some(envelope) })
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
