//! The scores against the counters they come from, for a check beside people at work: whoever calls looks a second time before
//! it believes a difference. Only the present day can be compared whole; of the days before, what is gone.

use std::time::Duration;

use madang_board::check::{ArticlePart, FINDINGS_MAX, HotFinding};
use madang_board::{ArticleId, BoardId};
use madang_kernel::{Id as _, StoreError};

use crate::rebuild::REBUILD_SLICE_ROWS;
use crate::{Counts, Day, HotOwners, HotService, Reading, Tally};

/// How far an id may lie ahead of the clock: one made just before midnight may name the next day, and what happened to its
/// article before midnight counts on neither.
const ID_AHEAD_MAX: Duration = Duration::from_secs(10);

/// What was compared.
#[derive(Debug, Default)]
pub struct Compared {
    /// Counters of articles of today, three each.
    pub counters: u64,
    /// What differs, cut off at [`FINDINGS_MAX`].
    pub findings: Vec<HotFinding>,
}

impl HotService {
    /// Compares every article of today with its score, and every score with its article.
    pub async fn compare(&self, owners: &dyn HotOwners) -> Result<Compared, StoreError> {
        let mut compared = Compared::default();
        for board in owners.boards().await? {
            self.compare_board(owners, board, &mut compared).await?;
        }
        for day in self.days.kept(self.clock.now()) {
            self.compare_day(owners, day, &mut compared).await?;
        }
        compared.findings.truncate(FINDINGS_MAX);
        Ok(compared)
    }

    async fn compare_board(
        &self,
        owners: &dyn HotOwners,
        board: BoardId,
        compared: &mut Compared,
    ) -> Result<(), StoreError> {
        let (today, mut before) = (self.today(), None);
        let first = self.days.start_of(today).plus(ID_AHEAD_MAX);
        while compared.findings.len() < FINDINGS_MAX {
            let articles = owners.articles_before(board, before).await?;
            let of_today: Vec<ArticleId> =
                articles.iter().take_while(|article| article.issued_at() >= first).copied().collect();
            compared.counters += 3 * of_today.len() as u64;
            compared.findings.extend(self.differences(owners, today, &of_today).await?);
            before = of_today.last().copied();
            if of_today.is_empty() || of_today.len() < articles.len() {
                break;
            }
        }
        Ok(())
    }

    /// What is scored and is no article of any board.
    async fn compare_day(&self, owners: &dyn HotOwners, day: Day, compared: &mut Compared) -> Result<(), StoreError> {
        let mut after = None;
        while compared.findings.len() < FINDINGS_MAX {
            let Some(held) = self.store.tallies_after(day, after, REBUILD_SLICE_ROWS).await? else { break };
            let Some((last, _)) = held.last().copied() else { break };
            after = Some(last);
            let alive = held.into_iter().filter(|(_, tally)| !tally.is_off());
            let alive: Vec<ArticleId> = alive.map(|(article, _)| article).collect();
            let gone = alive.iter().zip(owners.counts(&alive).await?).filter(|(_, owned)| owned.is_none());
            compared
                .findings
                .extend(gone.map(|(article, _)| HotFinding::Presence { article_id: *article, is_there: false }));
        }
        Ok(())
    }

    async fn differences(
        &self,
        owners: &dyn HotOwners,
        day: Day,
        articles: &[ArticleId],
    ) -> Result<Vec<HotFinding>, StoreError> {
        let Some(held) = self.store.tallies(day, articles.to_vec()).await? else { return Ok(Vec::new()) };
        let owned = owners.counts(articles).await?;
        let differing =
            articles.iter().zip(held.into_iter().zip(owned)).flat_map(|(article, (held, owned))| match owned {
                Some(owned) => differing(*article, held, &owned),
                // It went between two looks, or is found by its score.
                None => Vec::new(),
            });
        Ok(differing.collect())
    }
}

/// What differs of an article that is there.
fn differing(article_id: ArticleId, held: Tally, owned: &Counts) -> Vec<HotFinding> {
    let held = match held {
        Tally::Live(held) if !held.is_hidden() => held,
        Tally::Live(_) | Tally::Gone => return vec![HotFinding::Presence { article_id, is_there: true }],
    };
    let parts = [
        (ArticlePart::Likes, held.likes, owned.likes),
        (ArticlePart::Comments, held.comments, owned.comments),
        (ArticlePart::Views, held.views, owned.views),
    ];
    let differing = parts.into_iter().filter(|(_, held, owned)| held != owned);
    let finding =
        |(part, held, owned)| HotFinding::Source { article_id, part, scored: told(held), counted: told(owned) };
    differing.map(finding).collect()
}

/// Count and version; `None` where there is nothing yet.
fn told(reading: Reading) -> Option<(i64, i64)> {
    (reading != Reading::default()).then(|| (reading.count().cast_signed(), reading.version().cast_signed()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_that_no_event_can_pass_is_a_difference() {
        let article = ArticleId::from_raw(7);
        let counts = |version| Counts { likes: Reading::new(3, version), ..Counts::default() };
        assert_eq!(differing(article, Tally::Live(counts(3)), &counts(3)), []);
        let [found] = &differing(article, Tally::Live(counts(1 << 40)), &counts(3))[..] else { panic!("one finding") };
        let said = "article 7 has 3 likes (version 3) and is scored with 3 (version 1099511627776)";
        assert_eq!(found.to_string(), said);
        let gone = differing(article, Tally::Gone, &counts(3));
        assert_eq!(gone, [HotFinding::Presence { article_id: article, is_there: true }]);
    }
}
