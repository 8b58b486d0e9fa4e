//! Popularity as it is on real sites: the n-th most read article is read 1/n^0.99 times as often as the first.

/// How steep the popularity falls.
const SKEW: f64 = 0.99;

/// Draws ranks from 0 on, by the method of Gray et al. ("Quickly generating billion-record synthetic databases").
pub(super) struct Zipf {
    count: f64,
    zeta: f64,
    eta: f64,
}

impl Zipf {
    /// Ranks below `count`, which is at least 2.
    pub(super) fn new(count: usize) -> Self {
        let weight = |rank: usize| (rank as f64).powf(-SKEW);
        let zeta: f64 = (1..=count).map(weight).sum();
        let first_two = weight(1) + weight(2);
        let count = count as f64;
        let eta = (1.0 - (2.0 / count).powf(1.0 - SKEW)) / (1.0 - first_two / zeta);
        Self { count, zeta, eta }
    }

    /// The rank that a number stands for; numbers spread evenly give ranks by their popularity.
    pub(super) fn rank(&self, chance: u64) -> usize {
        // The upper 53 bits, as a fraction from 0 to 1.
        let fraction = (chance >> 11) as f64 / (1_u64 << 53) as f64;
        let scaled = fraction * self.zeta;
        if scaled < 1.0 {
            0
        } else if scaled < 1.0 + 0.5_f64.powf(SKEW) {
            1
        } else {
            let rank = self.count * (self.eta * fraction - self.eta + 1.0).powf(1.0 / (1.0 - SKEW));
            (rank as usize).min(self.count as usize - 1)
        }
    }
}

/// Numbers that look random and are the same in every run (SplitMix64).
pub(super) fn scatter(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
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
            drawn[zipf.rank(scatter(number))] += 1;
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

    #[test]
    fn the_ends_of_chance_are_ranks() {
        let zipf = Zipf::new(20_000);
        assert_eq!(zipf.rank(0), 0);
        assert!(zipf.rank(u64::MAX) < 20_000);
    }
}
