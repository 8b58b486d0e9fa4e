//! Articles in the order of their activity or of their creation, over a board or the whole site, as candidates: which of
//! them still exist, and how active they are, is decided by their entries. Pure, and bounded.

use std::collections::{BTreeSet, HashMap};

use madang_board::{ArticleId, BoardId};
use madang_kernel::{Id, Timestamp};

use crate::Activity;

/// Articles that a ranking keeps. What is less active is in no list of what is active.
pub const RANKING_MAX: usize = 1_000;
/// A ranking that has lost candidates below this, and that does not reach the end, is worth a refresh.
const THIN: usize = RANKING_MAX / 2;

/// Names a ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RankingKey {
    /// The whole site, newest first.
    SiteNewest,
    /// The whole site, the last active first.
    SiteActive,
    /// One board, the last active first.
    BoardActive(BoardId),
}

/// A place in a ranking, the greatest first. By creation the moment says nothing: ids are in that order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rank {
    /// The last activity.
    pub at: Timestamp,
    /// The article, which orders what is of one moment.
    pub article_id: ArticleId,
}

/// What is known of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Candidate {
    /// The version of its count of comments.
    pub version: u64,
    /// When its newest visible comment was written.
    pub last_at: Option<Timestamp>,
    /// When it was created; `None` of one that was created below the floor.
    pub created_at: Option<Timestamp>,
}

/// Candidates in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ranking {
    key: RankingKey,
    order: BTreeSet<Rank>,
    candidates: HashMap<ArticleId, Candidate>,
    /// The ranking holds every article from this place on; `None` when it holds all there are.
    floor: Option<Rank>,
}

/// What a ranking says of a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankedStep {
    /// The candidates with their places, first to last.
    pub places: Vec<(Rank, u64)>,
    /// Whether there are others in the ranking.
    pub has_more: bool,
    /// Whether nothing lies below the ranking.
    pub is_all: bool,
}

impl RankingKey {
    /// Whether what happens on a board concerns it.
    pub fn is_of(self, board: BoardId) -> bool {
        match self {
            Self::SiteNewest | Self::SiteActive => true,
            Self::BoardActive(own) => own == board,
        }
    }

    /// The place of an article.
    pub fn rank(self, article_id: ArticleId, candidate: Candidate) -> Option<Rank> {
        let at = match self {
            Self::SiteNewest => Some(Timestamp::from_millis(0)),
            Self::SiteActive | Self::BoardActive(_) => candidate.last_at.or(candidate.created_at),
        };
        Some(Rank { at: at?, article_id })
    }
}

impl Ranking {
    /// The ranking that the owners answered, which hold nothing else at or above `floor`.
    pub fn of(key: RankingKey, told: impl IntoIterator<Item = (ArticleId, Candidate)>, floor: Option<Rank>) -> Self {
        let mut ranking = Self { key, order: BTreeSet::new(), candidates: HashMap::new(), floor };
        for (article, candidate) in told {
            ranking.set(article, candidate);
        }
        ranking
    }

    /// Applies what an event says.
    pub fn apply(&mut self, article: ArticleId, activity: Activity) {
        let known = self.candidates.get(&article).copied();
        match activity {
            Activity::Created { created_at, .. } => {
                self.set(article, Candidate { created_at: Some(created_at), ..known.unwrap_or_default() });
            }
            // The order of creation does not depend on comments, and an older version tells nothing.
            Activity::Discussed { .. } if self.key == RankingKey::SiteNewest => {}
            Activity::Discussed { version, .. } if known.is_some_and(|known| known.version >= version) => {}
            Activity::Discussed { last_at_ms, version, .. } => {
                let last_at = last_at_ms.map(Timestamp::from_millis);
                self.set(article, Candidate { version, last_at, ..known.unwrap_or_default() });
            }
            Activity::Restored { .. } => {}
        }
    }

    /// A candidate's entry tells another place, of a later version.
    pub fn correct(&mut self, article: ArticleId, candidate: Candidate) {
        if self.candidates.get(&article).is_some_and(|known| known.version < candidate.version) {
            self.set(article, candidate);
        }
    }

    /// A candidate turned out to be gone.
    pub fn remove(&mut self, article: ArticleId) {
        if let Some(rank) = self.candidates.remove(&article).and_then(|known| self.key.rank(article, known)) {
            self.order.remove(&rank);
        }
    }

    /// The candidates below `before`, or the first, with the versions that their places come of.
    pub fn look(&self, before: Option<Rank>, size: usize) -> RankedStep {
        let version = |rank: &Rank| self.candidates.get(&rank.article_id).map_or(0, |known| known.version);
        let mut places: Vec<_> = match before {
            Some(before) => {
                self.order.range(..before).rev().take(size + 1).map(|rank| (*rank, version(rank))).collect()
            }
            None => self.order.iter().rev().take(size + 1).map(|rank| (*rank, version(rank))).collect(),
        };
        let has_more = places.len() > size;
        places.truncate(size);
        RankedStep { places, has_more, is_all: self.floor.is_none() }
    }

    /// Whether so little is left that the owners should be asked for more.
    pub fn is_thin(&self) -> bool {
        self.floor.is_some() && self.order.len() < THIN
    }

    /// How many candidates there are.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Puts a candidate at its place, if that is in the ranking.
    fn set(&mut self, article: ArticleId, candidate: Candidate) {
        self.remove(article);
        // One without comments whose creation is not known was created below the floor: it is no longer here.
        let Some(rank) = self.key.rank(article, candidate) else { return };
        if self.floor.is_some_and(|floor| rank < floor) {
            return;
        }
        self.order.insert(rank);
        self.candidates.insert(article, candidate);
        if self.order.len() > RANKING_MAX
            && let Some(last) = self.order.pop_first()
        {
            self.candidates.remove(&last.article_id);
            self.floor = self.order.first().copied();
        }
    }
}

/// The least place of a moment: everything at that moment or later is at or above it.
pub(crate) fn first_at(at: Timestamp) -> Rank {
    Rank { at, article_id: ArticleId::from_raw(0) }
}

#[cfg(test)]
mod tests;
