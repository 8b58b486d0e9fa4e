//! The rankings of a process, in its memory: built from the owners, moved by what is committed here and heard of from other
//! processes, built again when their time is over. What is heard while one is built is applied to it afterwards.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use madang_board::{ArticleId, BoardId};
use madang_kernel::Timestamp;

use crate::ranking::{Candidate, Rank, RankedStep, Ranking, RankingKey};
use crate::{Activity, Invalidation};

/// Rankings that are kept; past it the one that was asked for longest ago leaves.
const RANKINGS_MAX: usize = 128;
/// Changes that may come while a ranking is built; past it, the building starts anew.
const CHANGES_MAX: usize = 10_000;

/// For how long a ranking is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankingTtl {
    /// So long it is answered without another look.
    pub fresh_ms: i64,
    /// So long it is answered while it is built again.
    pub ttl_ms: i64,
}

/// What is known of a window.
#[derive(Debug)]
pub(crate) enum Looked {
    /// Nothing.
    Miss,
    /// The window, in a ranking of this build.
    Found { step: RankedStep, build: u64, is_stale: bool },
}

#[derive(Default)]
pub(crate) struct Rankings {
    slots: Mutex<HashMap<RankingKey, Slot>>,
    /// Grows after each change.
    generation: AtomicU64,
    builds: AtomicU64,
}

#[derive(Default)]
struct Slot {
    built: Option<Built>,
    /// What came while it is being built; `None` when it is not.
    pending: Option<Pending>,
    /// The number of the last question.
    asked: u64,
}

struct Built {
    ranking: Ranking,
    build: u64,
    /// When the owners were asked.
    at: Timestamp,
}

#[derive(Default)]
struct Pending {
    changes: Vec<(ArticleId, Activity)>,
    /// What the owners are answering may be older than what happened.
    is_void: bool,
}

impl Rankings {
    /// Looks at a window.
    pub(crate) fn look(
        &self,
        key: RankingKey,
        before: Option<Rank>,
        size: usize,
        ttl: RankingTtl,
        now: Timestamp,
    ) -> Looked {
        let mut slots = self.slots();
        let Some(slot) = slots.get_mut(&key) else { return Looked::Miss };
        slot.asked = self.builds.fetch_add(1, Ordering::Relaxed);
        let Some(built) = &slot.built else { return Looked::Miss };
        // A clock that stepped back makes nothing last.
        let age_ms = now.as_millis().saturating_sub(built.at.as_millis());
        if age_ms < 0 || age_ms >= ttl.ttl_ms {
            return Looked::Miss;
        }
        let step = built.ranking.look(before, size);
        let is_stale = age_ms >= ttl.fresh_ms || built.ranking.is_thin();
        Looked::Found { step, build: built.build, is_stale }
    }

    /// Whether a ranking is here and in its time.
    pub(crate) fn is_fresh(&self, key: RankingKey, ttl: RankingTtl, now: Timestamp) -> bool {
        matches!(self.look(key, None, 1, ttl, now), Looked::Found { is_stale: false, .. })
    }

    /// Every ranking that is held.
    pub(crate) fn held(&self) -> Vec<RankingKey> {
        let slots = self.slots();
        let mut held: Vec<_> = slots.iter().filter(|(_, slot)| slot.built.is_some()).map(|(key, _)| *key).collect();
        held.sort_unstable();
        held
    }

    /// What comes from now on is applied to what [`Rankings::built`] brings.
    pub(crate) fn begin(&self, key: RankingKey) {
        let mut slots = self.slots();
        if slots.len() >= RANKINGS_MAX && !slots.contains_key(&key) {
            let idle = slots.iter().filter(|(_, slot)| slot.pending.is_none()).min_by_key(|(_, slot)| slot.asked);
            if let Some(idle) = idle.map(|(key, _)| *key) {
                slots.remove(&idle);
            }
        }
        let slot = slots.entry(key).or_default();
        slot.pending = Some(Pending::default());
        slot.asked = self.builds.fetch_add(1, Ordering::Relaxed);
    }

    /// The owners cannot be asked, or have no such board.
    pub(crate) fn abandon(&self, key: RankingKey, is_absent: bool) {
        let mut slots = self.slots();
        if let Some(slot) = slots.get_mut(&key) {
            slot.pending = None;
            if is_absent || slot.built.is_none() {
                slots.remove(&key);
            }
        }
    }

    /// Takes over what the owners answered; `false` when it is to be asked again.
    #[must_use]
    pub(crate) fn built(&self, key: RankingKey, mut ranking: Ranking, at: Timestamp) -> bool {
        {
            let mut slots = self.slots();
            let Some(slot) = slots.get_mut(&key) else { return false };
            let Some(pending) = slot.pending.take() else { return false };
            if pending.is_void {
                return false;
            }
            pending.changes.into_iter().for_each(|(article, activity)| ranking.apply(article, activity));
            let build = self.builds.fetch_add(1, Ordering::Relaxed);
            slot.built = Some(Built { ranking, build, at });
        }
        self.changed();
        true
    }

    /// Moves what was committed.
    pub(crate) fn hear(&self, heard: impl IntoIterator<Item = (ArticleId, Activity)>) {
        let mut heard = heard.into_iter().peekable();
        if heard.peek().is_none() {
            return;
        }
        {
            let mut slots = self.slots();
            for (article, activity) in heard {
                slots.iter_mut().for_each(|(key, slot)| slot.hear(*key, article, activity));
            }
        }
        self.changed();
    }

    /// A candidate of a build turned out to be gone.
    pub(crate) fn remove(&self, key: RankingKey, build: u64, gone: &[ArticleId]) {
        self.change(key, build, |ranking| gone.iter().for_each(|article| ranking.remove(*article)));
    }

    /// Candidates of a build turned out to stand elsewhere.
    pub(crate) fn correct(&self, key: RankingKey, build: u64, corrected: &[(ArticleId, Candidate)]) {
        self.change(key, build, |ranking| {
            corrected.iter().for_each(|(article, candidate)| ranking.correct(*article, *candidate));
        });
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        self.slots().retain(|_, slot| {
            slot.built = None;
            if let Some(pending) = &mut slot.pending {
                pending.is_void = true;
            }
            slot.pending.is_some()
        });
        self.changed();
    }

    /// How often something was changed, counted after it was done.
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    fn change(&self, key: RankingKey, build: u64, change: impl FnOnce(&mut Ranking)) {
        let mut slots = self.slots();
        let built = slots.get_mut(&key).and_then(|slot| slot.built.as_mut());
        // What was seen of an earlier build says nothing of what came after it.
        if let Some(built) = built.filter(|built| built.build == build) {
            change(&mut built.ranking);
        }
    }

    fn changed(&self) {
        self.generation.fetch_add(1, Ordering::AcqRel);
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<RankingKey, Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot {
    fn hear(&mut self, key: RankingKey, article: ArticleId, activity: Activity) {
        let board: Option<BoardId> = match activity {
            Activity::Created { board_id, .. } | Activity::Restored { board_id } => Some(board_id),
            Activity::Discussed { board_id, .. } => board_id,
        };
        // Of an article whose board is not told, only those who have it already can say anything.
        let is_ours = board.is_none_or(|board| key.is_of(board));
        if !is_ours {
            return;
        }
        let is_of_board_unknown = board.is_none() && matches!(key, RankingKey::BoardActive(_));
        if matches!(activity, Activity::Restored { .. }) {
            self.built = None;
        } else if let Some(built) = self.built.as_mut()
            && !is_of_board_unknown
        {
            built.ranking.apply(article, activity);
        }
        if let Some(pending) = &mut self.pending {
            let is_full = pending.changes.len() >= CHANGES_MAX;
            pending.is_void |= is_full || matches!(activity, Activity::Restored { .. });
            if !pending.is_void && !is_of_board_unknown {
                pending.changes.push((article, activity));
            }
        }
    }
}

/// What processes tell one another of rankings.
pub(crate) fn activities(heard: &[Invalidation]) -> impl Iterator<Item = (ArticleId, Activity)> {
    heard.iter().filter_map(|heard| Some((heard.article_id, heard.activity?)))
}
