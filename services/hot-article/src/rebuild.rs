//! A rebuild: the scores of today from the owners' counters, deleted articles off every day, and each score from its counts.
//!
//! Counters go on after a day has ended, and its scores do not: so only the present day can be told by the owners, and of
//! the days before only what is gone.

use madang_board::{ArticleId, BoardId};
use madang_kernel::{Id as _, StoreError};

use crate::{Counts, Day, HotOwners, HotService, Reading, Replacement, Tally};

/// Articles whose scores are computed anew in one transaction.
pub const REBUILD_SLICE_ROWS: usize = 500;
/// How often articles are looked at again that an event changed while their owners were asked. Past that events flow, and
/// put right by themselves what they speak of.
const ROUNDS_MAX: usize = 5;

/// What a rebuild did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rebuilt {
    /// Articles whose owners were asked.
    pub asked: u64,
    /// Of those, articles that were counted otherwise than their owners do.
    pub mended: u64,
    /// Rows compared with their counts.
    pub looked_at: u64,
    /// Rows whose score was wrong.
    pub corrected: u64,
}

impl HotService {
    /// Makes the ranking anew, slice by slice beside other work: what was missed or forged is as its owners have it.
    pub async fn rebuild(&self, owners: &dyn HotOwners) -> Result<Rebuilt, StoreError> {
        let mut rebuilt = Rebuilt::default();
        for board in owners.boards().await? {
            self.mend_board(owners, board, &mut rebuilt).await?;
        }
        for day in self.days.kept(self.clock.now()) {
            self.mend_day(owners, day, &mut rebuilt).await?;
        }
        self.compute_scores(&mut rebuilt).await?;
        Ok(rebuilt)
    }

    /// The articles that a board got today: one that no event spoke of is found here alone.
    async fn mend_board(
        &self,
        owners: &dyn HotOwners,
        board: BoardId,
        rebuilt: &mut Rebuilt,
    ) -> Result<(), StoreError> {
        let today = self.today();
        let mut before = None;
        loop {
            let articles = owners.articles_before(board, before).await?;
            let is_new = |article: &&ArticleId| self.days.day_of(article.issued_at()) >= today;
            let new: Vec<ArticleId> = articles.iter().take_while(is_new).copied().collect();
            let is_last = new.is_empty() || new.len() < articles.len();
            before = new.last().copied();
            let of_today = |article: &ArticleId| self.days.day_of(article.issued_at()) == today;
            self.mend(owners, today, new.into_iter().filter(of_today).collect(), rebuilt).await?;
            if is_last {
                return Ok(());
            }
        }
    }

    /// The articles that are scored on a day: one that is gone without a word is found here alone.
    async fn mend_day(&self, owners: &dyn HotOwners, day: Day, rebuilt: &mut Rebuilt) -> Result<(), StoreError> {
        let mut after = None;
        loop {
            let Some(held) = self.store.tallies_after(day, after, REBUILD_SLICE_ROWS).await? else { return Ok(()) };
            let Some((last, _)) = held.last().copied() else { return Ok(()) };
            after = Some(last);
            self.mend(owners, day, held.into_iter().map(|(article, _)| article).collect(), rebuilt).await?;
        }
    }

    /// Asks the owners of articles and puts their answer in the place of what is held. What an event changed since is looked
    /// at again: its owners were asked before.
    async fn mend(
        &self,
        owners: &dyn HotOwners,
        day: Day,
        mut articles: Vec<ArticleId>,
        rebuilt: &mut Rebuilt,
    ) -> Result<(), StoreError> {
        rebuilt.asked += articles.len() as u64;
        for _ in 0..ROUNDS_MAX {
            let Some(held) = self.store.tallies(day, articles.clone()).await? else { return Ok(()) };
            let owned = owners.counts(&articles).await?;
            // Asked afterwards: had the day ended meanwhile, the counters might tell of the next.
            let is_today = self.today() == day;
            let differing = articles.iter().zip(held.into_iter().zip(owned)).filter_map(|(article, (held, owned))| {
                let owned = mended(held, owned, is_today);
                (owned != held).then_some(Replacement { article_id: *article, held, owned })
            });
            let differing: Vec<Replacement> = differing.collect();
            if differing.is_empty() {
                return Ok(());
            }
            let count = differing.len();
            articles = self.store.replace(day, differing).await?;
            rebuilt.mended += (count - articles.len()) as u64;
        }
        Ok(())
    }

    async fn compute_scores(&self, rebuilt: &mut Rebuilt) -> Result<(), StoreError> {
        let mut after = None;
        loop {
            let slice = self.store.rebuild_ranking(after, REBUILD_SLICE_ROWS).await?;
            rebuilt.looked_at += slice.looked_at;
            rebuilt.corrected += slice.corrected;
            after = slice.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    pub(crate) fn today(&self) -> Day {
        self.days.day_of(self.clock.now())
    }
}

/// What is to be held of an article. Of one that is gone nothing needs to be held that is not; of a day that is over the
/// counters tell nothing any more. One that is not there may be restored: it is hidden, and its counts are kept.
fn mended(held: Tally, owned: Option<Counts>, is_today: bool) -> Tally {
    let (counts, hidden) = match held {
        Tally::Live(counts) => (counts, counts.hidden),
        Tally::Gone => (Counts::default(), Reading::default()),
    };
    // It is there: whatever hid it was taken back since.
    let shown = if hidden.count() > 0 { Reading::new(0, hidden.version() + 1) } else { hidden };
    match owned {
        None if held == Tally::default() || held.is_off() => held,
        None => Tally::Live(Counts { hidden: Reading::new(1, hidden.version()), ..counts }),
        Some(owned) if is_today => Tally::Live(Counts { hidden: shown, ..owned }),
        Some(_) if held == Tally::Gone => held,
        Some(_) => Tally::Live(Counts { hidden: shown, ..counts }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn liked(count: u64, version: u64) -> Counts {
        Counts { likes: Reading::new(count, version), ..Counts::default() }
    }

    #[test]
    fn what_the_owners_say_of_today_is_held_whatever_was() {
        let forged = Tally::Live(liked(9, u64::MAX));
        for held in [forged, Tally::Gone, Tally::default()] {
            assert_eq!(mended(held, Some(liked(2, 2)), true), Tally::Live(liked(2, 2)));
        }
        let off = mended(forged, None, true);
        assert_eq!((off.score(), off.is_off()), (0, true));
        assert_eq!(mended(off, None, true), off, "it may be restored");
        assert_eq!(mended(off, Some(liked(2, 2)), true).score(), 6);
        assert_eq!(mended(Tally::Gone, None, true), Tally::Gone);
        assert_eq!(mended(Tally::default(), None, true), Tally::default());
    }

    #[test]
    fn of_a_day_that_is_over_only_what_is_gone_is_told() {
        let held = Tally::Live(liked(2, 2));
        assert_eq!(mended(held, Some(liked(7, 8)), false), held);
        assert!(mended(held, None, false).is_off());
        let restored = mended(mended(held, None, false), Some(liked(7, 8)), false);
        assert_eq!(restored.score(), held.score(), "as it was counted on its day");
    }
}
