//! The brute-force recount: reads everything that was delivered from the beginning, each time, with none of our code.

use std::collections::{HashMap, HashSet};

use super::traffic::{DAYS, Fact, Kind, MIDNIGHTS_MS, Week};

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

/// What a recount found.
pub(super) struct Counted {
    /// Everything with a score, for each day, by what was delivered before it became final.
    pub(super) rankings: Vec<Vec<Line>>,
    /// What people should see, in its full length of 20.
    pub(super) lists: Vec<Vec<Line>>,
}

impl Recount {
    pub(super) fn deliver(&mut self, fact: usize) {
        self.delivered.push(fact);
    }

    pub(super) fn finalise(&mut self, day: usize, week: &Week) {
        let list = self.count(week).lists.swap_remove(day);
        self.finals.insert(day, (list, self.delivered.len()));
    }

    pub(super) fn is_final(&self, day: usize) -> bool {
        self.finals.contains_key(&day)
    }

    /// Counts everything from the beginning.
    pub(super) fn count(&self, week: &Week) -> Counted {
        let mut newest: Vec<HashMap<i64, [(u64, u64); 3]>> = vec![HashMap::new(); DAYS.len()];
        let mut deleted = HashSet::new();
        for (place, fact) in self.delivered.iter().map(|fact| &week.facts[*fact]).enumerate() {
            if fact.kind == Kind::Deletion {
                deleted.insert(fact.article);
            }
            let counts = matches!(fact.kind, Kind::Likes | Kind::Comments | Kind::Views);
            let Some(day) = day_of(fact.occurred_ms).filter(|day| counts && day_of(fact.created_ms) == Some(*day))
            else {
                continue;
            };
            let late = self.finals.get(&day).is_some_and(|(_, deliveries)| place >= *deliveries);
            if !late {
                take_newer(&mut newest[day].entry(fact.article).or_default()[fact.kind as usize], fact);
            }
        }
        let live = |article: &i64| !deleted.contains(article);
        let ranking = |articles: HashMap<i64, [(u64, u64); 3]>| {
            let articles = articles.into_iter().filter(|(article, _)| live(article));
            sorted(articles.map(|(article, groups)| (article, groups.map(|(_, count)| count))))
        };
        let rankings: Vec<_> = newest.into_iter().map(ranking).collect();
        let list = |(day, ranking): (usize, &Vec<Line>)| match self.finals.get(&day) {
            Some((list, _)) => list.iter().filter(|line| live(&line.0)).copied().collect(),
            None => ranking.iter().take(20).copied().collect(),
        };
        let lists = rankings.iter().enumerate().map(list).collect();
        Counted { rankings, lists }
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
