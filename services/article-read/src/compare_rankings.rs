//! Rankings against their owners, for a check beside people at work: only what is still wrong at a second look is wrong.

use std::fmt;

use madang_board::ArticleId;
use madang_kernel::StoreError;

use crate::ranking::{Rank, RankingKey};
use crate::ranking_source::ask;
use crate::rankings::{Looked, RankingTtl};
use crate::service::ReadService;

/// Places that are compared: what people see first.
const COMPARED: usize = 100;
/// What is held is compared whether it is in its time or not.
const ANY_AGE: RankingTtl = RankingTtl { fresh_ms: i64::MAX, ttl_ms: i64::MAX };

/// A ranking that a process has otherwise than its owners.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankingDifference {
    /// The ranking.
    pub key: RankingKey,
    /// The article that should stand at the first place that differs; `None` when there should be none.
    pub expected: Option<ArticleId>,
    /// The one that stands there.
    pub held: Option<ArticleId>,
}

impl ReadService {
    /// Compares the rankings that are held with their owners; loads nothing into them. How many are held, and what differs.
    pub async fn compare_rankings(&self) -> Result<(u64, Vec<RankingDifference>), StoreError> {
        let held = self.rankings.held();
        let mut differences = Vec::new();
        for key in &held {
            let Some(owned) = ask(&self.owners, *key).await? else { continue };
            let Looked::Found { step, .. } = self.rankings.look(*key, None, COMPARED, ANY_AGE, self.clock.now()) else {
                continue;
            };
            let places = |step: Vec<(Rank, u64)>| step.into_iter().map(|(rank, _)| rank).collect::<Vec<_>>();
            let owned = places(owned.look(None, COMPARED).places);
            // Candidates that are gone leave when they are met.
            let mut there = places(step.places);
            let ids: Vec<ArticleId> = there.iter().map(|rank| rank.article_id).collect();
            let mut exist = self.owners.articles.places(&ids).await?.into_iter();
            there.retain(|_| exist.next().flatten().is_some());
            let compared = owned.len().min(there.len());
            let differs = (0..compared).find(|place| owned[*place] != there[*place]);
            let is_short = there.is_empty() && !owned.is_empty();
            if let Some(place) = differs.or(is_short.then_some(0)) {
                let at = |ranks: &[Rank]| ranks.get(place).map(|rank| rank.article_id);
                differences.push(RankingDifference { key: *key, expected: at(&owned), held: at(&there) });
            }
        }
        Ok((held.len() as u64, differences))
    }

    /// Of differences that were found a moment ago, those that are still there.
    pub async fn rankings_still_differing(
        &self,
        found: &[RankingDifference],
    ) -> Result<Vec<RankingDifference>, StoreError> {
        let (_, now) = self.compare_rankings().await?;
        Ok(now.into_iter().filter(|now| found.contains(now)).collect())
    }
}

impl fmt::Display for RankingDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.key {
            RankingKey::SiteNewest => "newest articles of the site".to_owned(),
            RankingKey::SiteActive => "active articles of the site".to_owned(),
            RankingKey::BoardActive(board) => format!("active articles of board {board}"),
        };
        let article = |id: Option<ArticleId>| id.map_or_else(|| "none".to_owned(), |id| id.to_string());
        write!(f, "{name}: the list has article {} where {} stands", article(self.held), article(self.expected))
    }
}
