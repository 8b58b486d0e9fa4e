//! The brute-force recount: reads everything that was delivered from the beginning, each time, with none of our code.

use std::collections::{HashMap, HashSet};

use super::traffic::{Fact, Kind, MIDNIGHTS_MS, Week};

/// A line of a list: article, score, and counts of likes, comments and views.
pub(super) type Line = (i64, u64, [u64; 3]);

/// Which day of the table a moment belongs to.
fn day_of(moment_ms: i64) -> Option<usize> {
    MIDNIGHTS_MS.windows(2).position(|day| day[0] <= moment_ms && moment_ms < day[1])
}

fn score([likes, comments, views]: [u64; 3]) -> u64 {
    3 * likes + 2 * comments + views
}

fn sorted(lines: impl Iterator<Item = (i64, [u64; 3])>) -> Vec<Line> {
    let scored = lines.map(|(article, counts)| (article, score(counts), counts));
    let mut lines: Vec<_> = scored.filter(|(_, score, _)| *score > 0).collect();
    lines.sort_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(&other.0)));
    lines
}

/// Remembers what was delivered, and what was on a list when it became final.
#[derive(Default)]
pub(super) struct Recount {
    delivered: Vec<usize>,
    /// For each day that is final: its list, and how many deliveries had come by then.
    finals: HashMap<usize, (Vec<Line>, usize)>,
}

impl Recount {
    pub(super) fn deliver(&mut self, fact: usize) {
        self.delivered.push(fact);
    }

    pub(super) fn finalise(&mut self, day: usize, week: &Week) {
        let mut list = self.ranking(day, week);
        list.truncate(20);
        self.finals.insert(day, (list, self.delivered.len()));
    }

    pub(super) fn is_final(&self, day: usize) -> bool {
        self.finals.contains_key(&day)
    }

    /// The list that people should see, in its full length of 20.
    pub(super) fn list(&self, day: usize, week: &Week) -> Vec<Line> {
        let Some((list, _)) = self.finals.get(&day) else {
            let mut ranking = self.ranking(day, week);
            ranking.truncate(20);
            return ranking;
        };
        let deleted = self.deleted(week);
        list.iter().filter(|(article, ..)| !deleted.contains(article)).copied().collect()
    }

    /// Everything with a score on a day, by what was delivered before it became final.
    pub(super) fn ranking(&self, day: usize, week: &Week) -> Vec<Line> {
        let counted = self.finals.get(&day).map_or(self.delivered.len(), |(_, deliveries)| *deliveries);
        let mut newest: HashMap<i64, [(u64, u64); 3]> = HashMap::new();
        for fact in self.delivered[..counted].iter().map(|fact| &week.facts[*fact]) {
            let counts = matches!(fact.kind, Kind::Likes | Kind::Comments | Kind::Views);
            if counts && day_of(fact.created_ms) == Some(day) && day_of(fact.occurred_ms) == Some(day) {
                take_newer(&mut newest.entry(fact.article).or_default()[fact.kind as usize], fact);
            }
        }
        let deleted = self.deleted(week);
        let live = newest.into_iter().filter(|(article, _)| !deleted.contains(article));
        sorted(live.map(|(article, groups)| (article, groups.map(|(_, count)| count))))
    }

    fn deleted(&self, week: &Week) -> HashSet<i64> {
        let facts = self.delivered.iter().map(|fact| &week.facts[*fact]);
        facts.filter(|fact| fact.kind == Kind::Deletion).map(|fact| fact.article).collect()
    }
}

fn take_newer(known: &mut (u64, u64), fact: &Fact) {
    if fact.version > known.0 {
        *known = (fact.version, fact.count);
    }
}

/// What people really did on a day: no events, no versions.
pub(super) fn truth(day: usize, week: &Week) -> Vec<Line> {
    let mine = week.standings.iter().filter(|standing| day_of(standing.created_ms) == Some(day) && !standing.deleted);
    sorted(mine.map(|standing| (standing.article, standing.counts)))
}
