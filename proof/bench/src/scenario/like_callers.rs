//! Likes of one article by many members, so that every call changes something; and the same at the store, without HTTP.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Result, ensure};
use madang_board::{ArticleId, MemberId};
use madang_kernel::{Id, ShardId, StoreError};

use super::database::{Commits, Database};
use super::like_ways::{Change, CountedLikes, Counting};
use crate::load::{Side, Turn, call_until, run_callers};

const ARTICLE: i64 = 1 << 40;

/// Who calls next, and what for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    /// The member's number.
    pub(super) member: usize,
    /// False when the like is taken back.
    pub(super) likes: bool,
}

/// Members shared out among callers. Each caller lets all of its members like, then all of them take it back, and so on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Population {
    members_each: usize,
}

impl Population {
    /// So many members for so many callers.
    pub(super) fn new(members: usize, callers: usize) -> Result<Self> {
        ensure!(callers <= members, "{members} members are too few for {callers} callers");
        Ok(Self { members_each: members / callers })
    }

    /// What a caller does after `done` calls.
    pub(super) fn step(self, caller: usize, done: u64) -> Step {
        let each = self.members_each as u64;
        let member = caller * self.members_each + (done % each) as usize;
        Step { member, likes: done % (2 * each) < each }
    }

    /// How many members like the article after each caller has done so many calls.
    pub(super) fn likes_after(self, done: &[u64]) -> u64 {
        let each = self.members_each as u64;
        let of_caller = |done: &u64| match done % (2 * each) {
            rising if rising <= each => rising,
            falling => 2 * each - falling,
        };
        done.iter().map(of_caller).sum()
    }
}

/// Callers of the store, each waiting for its commit.
pub(super) struct LikeCallers {
    database: Database,
    store: CountedLikes,
    population: Population,
    done: Arc<[AtomicU64]>,
}

impl LikeCallers {
    /// Callers of a fresh store in `folder` that counts this way.
    pub(super) fn open(
        folder: &Path,
        commits: Commits,
        counting: Counting,
        population: Population,
        callers: usize,
    ) -> Result<Self> {
        let database = Database::open(folder, commits)?;
        let store = CountedLikes::new(database.db.clone(), counting);
        Ok(Self { database, store, population, done: (0..callers).map(|_| AtomicU64::new(0)).collect() })
    }

    /// The callers as one side of a comparison.
    pub(super) fn side<'a>(&'a self, name: &'a str) -> Side<'a> {
        Side::new(name, move |length| self.run(length))
    }

    async fn run(&self, length: Duration) -> Turn {
        run_callers(self.done.len(), length, |caller, until| {
            let (store, database, population, done) =
                (self.store.clone(), self.database.clone(), self.population, self.done.clone());
            call_until(until, move || {
                let (store, database) = (store.clone(), database.clone());
                let step = population.step(caller, done[caller].fetch_add(1, Ordering::Relaxed));
                async move { change(&store, &database, step).await.map_err(|error| format!("store: {error}")) }
            })
        })
        .await
    }

    /// Makes sure that nothing was lost, and closes the database.
    pub(super) async fn close(self) -> Result<()> {
        let done: Vec<_> = self.done.iter().map(|done| done.load(Ordering::Relaxed)).collect();
        let counted = self.store.count(ArticleId::from_raw(ARTICLE)).await?;
        let expected = self.population.likes_after(&done);
        ensure!(counted == expected, "{expected} likes were given, {counted} are counted");
        self.database.close().await;
        Ok(())
    }
}

/// One like or one taken back. Whoever is refused asks again.
async fn change(store: &CountedLikes, database: &Database, step: Step) -> Result<()> {
    let article_id = ArticleId::from_raw(ARTICLE);
    let member_id = MemberId::from_raw(step.member as i64 + 1);
    loop {
        let event_id = database.ids.next(ShardId::of_parts(article_id))?;
        let change = Change { article_id, member_id, likes: step.likes, event_id, now: database.clock.now() };
        match store.change(change).await {
            Ok(changed) => {
                ensure!(changed, "a call changed nothing");
                return Ok(());
            }
            Err(StoreError::Unavailable { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_changes_something_and_the_likes_are_known() {
        let population = Population::new(10, 3).unwrap();
        for caller in 0..3 {
            let mut likes = std::collections::BTreeSet::new();
            for done in 0..20 {
                assert_eq!(population.likes_after(&[done]), likes.len() as u64);
                let Step { member, likes: gives } = population.step(caller, done);
                assert!(if gives { likes.insert(member) } else { likes.remove(&member) });
                assert_eq!(member / 3, caller, "nobody else's member");
            }
        }
        assert!(Population::new(2, 3).is_err());
    }

    #[tokio::test]
    async fn every_way_of_counting_counts_what_was_called() {
        for counting in [Counting::UpdateInPlace, Counting::SelectForUpdate, Counting::Optimistic, Counting::Grouped] {
            for commits in [Commits::Grouped, Commits::OneEach] {
                let folder = tempfile::tempdir().unwrap();
                let callers =
                    LikeCallers::open(folder.path(), commits, counting, Population::new(16, 4).unwrap(), 4).unwrap();
                let turn = callers.run(Duration::from_millis(50)).await;
                assert!(turn.samples.errors().is_empty(), "{:?}", turn.samples.errors());
                assert!(turn.samples.count() > 0);
                callers.close().await.unwrap();
            }
        }
    }
}
