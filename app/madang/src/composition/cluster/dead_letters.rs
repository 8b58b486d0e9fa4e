//! The dead letters of a cluster as one list: those that consumers gave up are on Kafka, those that a relay could not
//! publish are in the database of their service.

use async_trait::async_trait;
use madang_messaging::{DeadLetter, DeadLetterId, DeadLetters, Outage};
use madang_mysql::MysqlDeadLetters;

use super::relays;
use super::servers::Servers;

/// Separates where a letter is from what it is called there.
const SEPARATOR: char = ':';

/// Several places of dead letters, each under a name that its ids start with. Listed in the order of the names.
pub(super) struct AllDeadLetters {
    places: Vec<(&'static str, Box<dyn DeadLetters>)>,
}

impl AllDeadLetters {
    /// The letters of consumers and of every relay.
    pub(super) fn of(servers: &Servers) -> Self {
        let with_outbox = servers.databases.iter().filter(|(service, _)| relays::has_outbox(*service));
        let of_relays = with_outbox.map(|(service, database)| {
            let letters: Box<dyn DeadLetters> = Box::new(MysqlDeadLetters::new(database));
            (service.name(), letters)
        });
        let of_consumers: Box<dyn DeadLetters> = Box::new(servers.log.dead_letters());
        Self::new(of_relays.chain([("consumer", of_consumers)]).collect())
    }

    fn new(mut places: Vec<(&'static str, Box<dyn DeadLetters>)>) -> Self {
        places.sort_by_key(|(name, _)| *name);
        Self { places }
    }

    /// The place of a letter, and its id there.
    fn at<'a>(&'a self, id: &'a DeadLetterId) -> Option<(&'a dyn DeadLetters, DeadLetterId)> {
        let (name, inner) = id.0.split_once(SEPARATOR)?;
        let (_, letters) = self.places.iter().find(|(place, _)| *place == name)?;
        Some((letters.as_ref(), DeadLetterId(inner.to_owned())))
    }
}

fn named(place: &str, mut letter: DeadLetter) -> DeadLetter {
    letter.id = DeadLetterId(format!("{place}{SEPARATOR}{}", letter.id));
    letter
}

#[async_trait]
impl DeadLetters for AllDeadLetters {
    async fn list(&self, after: Option<&DeadLetterId>, limit: usize) -> Result<Vec<DeadLetter>, Outage> {
        let (from, inner) = match after.and_then(|id| id.0.split_once(SEPARATOR)) {
            Some((name, inner)) => (name, Some(DeadLetterId(inner.to_owned()))),
            None => ("", None),
        };
        let mut letters = Vec::new();
        for (place, listed) in self.places.iter().filter(|(place, _)| *place >= from) {
            if letters.len() >= limit {
                break;
            }
            let after = inner.as_ref().filter(|_| *place == from);
            let found = listed.list(after, limit - letters.len()).await?;
            letters.extend(found.into_iter().map(|letter| named(place, letter)));
        }
        Ok(letters)
    }

    async fn find(&self, id: &DeadLetterId) -> Result<Option<DeadLetter>, Outage> {
        let Some((letters, inner)) = self.at(id) else { return Ok(None) };
        Ok(letters.find(&inner).await?.map(|letter| DeadLetter { id: id.clone(), ..letter }))
    }

    async fn remove(&self, id: &DeadLetterId) -> Result<bool, Outage> {
        let Some((letters, inner)) = self.at(id) else { return Ok(false) };
        letters.remove(&inner).await
    }

    async fn count(&self) -> Result<u64, Outage> {
        let mut count = 0;
        for (_, letters) in &self.places {
            count += letters.count().await?;
        }
        Ok(count)
    }
}
