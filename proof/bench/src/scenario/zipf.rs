//! Popularity as it is on real sites: the n-th most read article is read 1/n^0.99 times as often as the first.

use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};
use rand_distr::Distribution as _;

/// How steep the popularity falls.
const SKEW: f64 = 0.99;

/// Ranks by their popularity, the most popular first.
pub(super) struct Zipf {
    ranks: usize,
    distribution: rand_distr::Zipf<f64>,
}

impl Zipf {
    /// Ranks from 0 to below `ranks`, which is at least 1.
    pub(super) fn new(ranks: usize) -> Self {
        let distribution =
            rand_distr::Zipf::new(ranks as f64, SKEW).expect("there is a rank, and the skew is positive");
        Self { ranks, distribution }
    }

    /// The rank of a draw; the same number draws the same rank in every run.
    pub(super) fn rank(&self, number: u64) -> usize {
        let drawn = self.distribution.sample(&mut SmallRng::seed_from_u64(number)) as usize;
        drawn.clamp(1, self.ranks) - 1
    }
}

/// Numbers that look random and are the same in every run.
pub(super) fn scatter(number: u64) -> u64 {
    SmallRng::seed_from_u64(number).random()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_drawn_as_often_as_their_weight_says() {
        const RANKS: usize = 1_000;
        const DRAWS: u64 = 400_000;
        let zipf = Zipf::new(RANKS);
        let mut drawn = vec![0_u64; RANKS];
        for number in 0..DRAWS {
            drawn[zipf.rank(number)] += 1;
        }
        let zeta: f64 = (1..=RANKS).map(|rank| (rank as f64).powf(-SKEW)).sum();
        let share = |ranks: std::ops::Range<usize>| drawn[ranks].iter().sum::<u64>() as f64 / DRAWS as f64;
        let expected =
            |ranks: std::ops::Range<usize>| ranks.map(|rank| (rank as f64 + 1.0).powf(-SKEW)).sum::<f64>() / zeta;
        for ranks in [0..1, 1..2, 0..10, 10..100, 500..1_000] {
            let (found, wanted) = (share(ranks.clone()), expected(ranks.clone()));
            assert!((found / wanted - 1.0).abs() < 0.1, "{ranks:?}: {found} instead of {wanted}");
        }
    }
}
