//! A ranking against a plain model: whatever order events come in, how often, and where in between it was built, its window is
//! that of all articles sorted by their activity.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

const BOARD: i64 = 7;

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millis(ms)
}

fn id(raw: i64) -> ArticleId {
    ArticleId::from_raw(raw)
}

/// Articles as their owners have them.
#[derive(Debug, Clone, Default)]
struct Owned {
    /// Created, comments by their moment, version.
    articles: BTreeMap<i64, (i64, Vec<i64>, u64)>,
    now: i64,
}

#[derive(Debug, Clone)]
enum Act {
    Create,
    Comment(usize),
    /// The newest comment goes, or an older one.
    Uncomment(usize, usize),
}

impl Owned {
    fn act(&mut self, act: &Act) -> Option<(ArticleId, Activity)> {
        self.now += 1;
        let now = self.now;
        let pick = |at: usize| self.articles.keys().nth(at % self.articles.len().max(1)).copied();
        match *act {
            Act::Create => {
                let raw = self.articles.len() as i64 + 1;
                self.articles.insert(raw, (now, Vec::new(), 0));
                let board_id = BoardId::from_raw(BOARD);
                Some((id(raw), Activity::Created { board_id, created_at: at(now) }))
            }
            Act::Comment(which) => {
                let raw = pick(which)?;
                let (_, comments, version) = self.articles.get_mut(&raw)?;
                comments.push(now);
                *version += 1;
                Some((id(raw), discussed(comments, *version)))
            }
            Act::Uncomment(which, comment) => {
                let raw = pick(which)?;
                let (_, comments, version) = self.articles.get_mut(&raw)?;
                if comments.is_empty() {
                    return None;
                }
                comments.remove(comment % comments.len());
                *version += 1;
                Some((id(raw), discussed(comments, *version)))
            }
        }
    }

    fn candidates(&self) -> Vec<(ArticleId, Candidate)> {
        let candidate = |(raw, (created, comments, version)): (&i64, &(i64, Vec<i64>, u64))| {
            let last_at = comments.last().copied().map(at);
            (id(*raw), Candidate { version: *version, last_at, created_at: Some(at(*created)) })
        };
        self.articles.iter().map(candidate).collect()
    }

    /// The ranking that a rebuild makes now, which keeps `most` of all.
    fn ranking(&self, key: RankingKey, most: usize) -> Ranking {
        let ranks = self.ranks(key);
        let floor = ranks.get(most).map(|_| ranks[most - 1]);
        Ranking::of(key, self.candidates(), floor)
    }

    fn ranks(&self, key: RankingKey) -> Vec<Rank> {
        let mut ranks: Vec<Rank> =
            self.candidates().into_iter().filter_map(|(id, candidate)| key.rank(id, candidate)).collect();
        ranks.sort_unstable_by(|a, b| b.cmp(a));
        ranks
    }
}

fn discussed(comments: &[i64], version: u64) -> Activity {
    let board_id = Some(BoardId::from_raw(BOARD));
    Activity::Discussed { board_id, last_at_ms: comments.last().copied(), version }
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        2 => Just(Act::Create),
        4 => any::<usize>().prop_map(Act::Comment),
        3 => (any::<usize>(), any::<usize>()).prop_map(|(which, comment)| Act::Uncomment(which, comment)),
    ]
}

/// What a reader gets: candidates are corrected by what their entries say, until none has to be.
fn read(ranking: &mut Ranking, owned: &Owned, size: usize) -> Vec<Rank> {
    loop {
        let step = ranking.look(None, size);
        let truth: HashMap<ArticleId, Candidate> = owned.candidates().into_iter().collect();
        let mut corrected = false;
        for (rank, version) in &step.places {
            let candidate = truth[&rank.article_id];
            if candidate.version > *version {
                ranking.correct(rank.article_id, candidate);
                corrected = true;
            }
        }
        if !corrected {
            return step.places.into_iter().map(|(rank, _)| rank).collect();
        }
    }
}

proptest! {
    #[test]
    fn any_order_and_repetition_of_events_gives_the_order_of_a_plain_model(
        before in prop::collection::vec(act(), 0..30),
        after in prop::collection::vec(act(), 0..40),
        late in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..30),
        most in 1..12_usize,
        newest in any::<bool>(),
    ) {
        let key = if newest { RankingKey::SiteNewest } else { RankingKey::SiteActive };
        let mut owned = Owned::default();
        let mut told: Vec<_> = before.iter().filter_map(|act| owned.act(act)).collect();
        let mut ranking = owned.ranking(key, most);
        let since = told.len();
        told.extend(after.iter().filter_map(|act| owned.act(act)));
        // Everything since comes once, in any order, and anything comes again at any time.
        let mut events: Vec<_> = told[since..].to_vec();
        for (which, place) in &late {
            if !told.is_empty() {
                let event = told[which.index(told.len())];
                events.insert(place.index(events.len() + 1), event);
            }
        }
        if let Some((which, place)) = late.first().filter(|_| !events.is_empty()) {
            let (one, other) = (which.index(events.len()), place.index(events.len()));
            events.swap(one, other);
        }
        for (article, activity) in events {
            ranking.apply(article, activity);
        }
        let held = ranking.len();
        let expected = owned.ranks(key);
        for size in [1, 3, held.max(1)] {
            let read = read(&mut ranking, &owned, size);
            prop_assert_eq!(&read[..], &expected[..read.len()], "{:?}", ranking);
            // Nothing is missing but what lies below the floor.
            let left = ranking.look(None, usize::MAX - 1).places.len();
            prop_assert!(read.len() == size.min(left));
            let above = expected.iter().filter(|rank| ranking.floor.is_none_or(|floor| **rank >= floor)).count();
            prop_assert!(left >= above, "{left} of {above}");
        }
    }
}

#[test]
fn a_ranking_is_bounded_and_knows_where_it_ends() {
    let told = (1..=RANKING_MAX as i64 + 5)
        .map(|raw| (id(raw), Candidate { version: 0, last_at: None, created_at: Some(at(raw)) }));
    let mut ranking = Ranking::of(RankingKey::SiteActive, told, None);
    assert_eq!(ranking.len(), RANKING_MAX);
    let step = ranking.look(Some(Rank { at: at(8), article_id: id(8) }), 30);
    let ids: Vec<_> = step.places.iter().map(|(rank, _)| rank.article_id.raw()).collect();
    assert_eq!((ids, step.has_more, step.is_all), (vec![7, 6], false, false));
    // What was taken back below the floor is not here any more, and an old event does not bring it up.
    ranking.apply(id(2), discussed(&[9_999], 1));
    assert_eq!(ranking.look(None, 1).places[0].0.article_id, id(2));
    ranking.apply(id(2), discussed(&[], 2));
    assert_ne!(ranking.look(None, 1).places[0].0.article_id, id(2));
}

#[test]
fn a_window_starts_below_its_cursor() {
    let told = [(1, 10), (2, 10), (3, 5)]
        .map(|(raw, ms)| (id(raw), Candidate { version: 1, last_at: Some(at(ms)), created_at: None }));
    let ranking = Ranking::of(RankingKey::SiteActive, told, None);
    let ids = |step: RankedStep| step.places.iter().map(|(rank, _)| rank.article_id.raw()).collect::<Vec<_>>();
    assert_eq!(ids(ranking.look(None, 9)), [2, 1, 3]);
    assert_eq!(ids(ranking.look(Some(Rank { at: at(10), article_id: id(2) }), 1)), [1]);
    assert_eq!(ids(ranking.look(Some(first_at(at(10))), 9)), [3]);
}
