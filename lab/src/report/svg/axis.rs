//! Axes: from values to places, linear or logarithmic, with ticks that people can read.

/// One axis over some values.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Axis {
    from: f64,
    to: f64,
    logarithmic: bool,
    /// Where labels stand, in the values' own measure.
    pub(super) ticks: Vec<f64>,
}

impl Axis {
    /// An axis over the values that have a place on it, with about so many ticks at most. One that is to be logarithmic and
    /// has nothing above zero is linear.
    pub(super) fn over(values: impl Iterator<Item = f64>, logarithmic: bool, ticks_max: usize) -> Self {
        let values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
        if logarithmic && values.iter().any(|value| *value > 0.0) {
            Self::decades(&values, ticks_max)
        } else {
            Self::linear(&values, ticks_max)
        }
    }

    /// From zero, or from below it, to a round number past the largest.
    fn linear(values: &[f64], ticks_max: usize) -> Self {
        let from = values.iter().copied().fold(0.0, f64::min);
        let most = values.iter().copied().fold(0.0, f64::max);
        // Half the range of numbers, so that their difference is one too.
        let (from, most) = (from.max(-f64::MAX / 4.0), most.min(f64::MAX / 4.0));
        let span = if most > from { most - from } else { 1.0 };
        let step = round_step(span / ticks_in(ticks_max));
        let (first, last) = ((from / step).floor(), ((from + span) / step).ceil());
        let mut ticks = Vec::new();
        let mut place = first;
        while place <= last {
            ticks.push(place * step);
            place += 1.0;
        }
        Self { from: first * step, to: last * step, logarithmic: false, ticks }
    }

    /// Whole powers of ten around everything above zero.
    fn decades(values: &[f64], ticks_max: usize) -> Self {
        let positive = || values.iter().copied().filter(|value| *value > 0.0).map(f64::log10);
        let least = positive().fold(f64::INFINITY, f64::min).floor();
        let most = positive().fold(f64::NEG_INFINITY, f64::max).ceil().max(least + 1.0);
        let step = ((most - least) / ticks_in(ticks_max)).ceil().max(1.0);
        let mut ticks = Vec::new();
        let mut power = least;
        while power <= most {
            ticks.push(10f64.powf(power));
            power += step;
        }
        Self { from: least, to: most, logarithmic: true, ticks }
    }

    /// The same with ticks at these values alone.
    pub(super) fn with_ticks(self, ticks: Vec<f64>) -> Self {
        Self { ticks, ..self }
    }

    /// An axis that begins and ends with its values, for time and other variables.
    pub(super) fn between(least: f64, most: f64, logarithmic: bool, ticks_max: usize) -> Self {
        let most = if most > least { most } else { least + 1.0 };
        if logarithmic && least > 0.0 {
            return Self { from: least.log10(), to: most.log10(), ..Self::decades(&[least, most], ticks_max) };
        }
        let step = round_step((most - least) / ticks_in(ticks_max));
        let mut ticks = Vec::new();
        let mut place = (least / step).ceil();
        while place * step <= most && ticks.len() <= ticks_max {
            ticks.push(place * step);
            place += 1.0;
        }
        Self { from: least, to: most, logarithmic: false, ticks }
    }

    /// Where a value is, from 0 to 1; what lies outside is at the edge.
    pub(super) fn place(&self, value: f64) -> f64 {
        let measured = match self.logarithmic {
            true if value > 0.0 => value.log10(),
            true => self.from,
            false => value,
        };
        let place = (measured - self.from) / (self.to - self.from);
        if place.is_nan() { 0.0 } else { place.clamp(0.0, 1.0) }
    }
}

fn ticks_in(ticks_max: usize) -> f64 {
    ticks_max.max(1) as f64
}

/// The smallest of 1, 2 and 5 times a power of ten that is not below.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * power >= least * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_enclose_the_values() {
        let axis = Axis::over([3.0, 47.0].into_iter(), false, 5);
        assert_eq!(axis.ticks, [0.0, 10.0, 20.0, 30.0, 40.0, 50.0]);
        assert_eq!((axis.place(0.0), axis.place(25.0), axis.place(99.0)), (0.0, 0.5, 1.0));
        let axis = Axis::over([0.0].into_iter(), false, 5);
        assert!(axis.ticks.len() > 1 && axis.place(0.0) == 0.0, "{axis:?}");
    }

    #[test]
    fn powers_of_ten_enclose_what_is_above_zero() {
        let axis = Axis::over([0.0, 3.0, 4_000.0].into_iter(), true, 5);
        assert_eq!(axis.ticks, [1.0, 10.0, 100.0, 1_000.0, 10_000.0]);
        assert_eq!((axis.place(0.0), axis.place(100.0)), (0.0, 0.5));
        assert_eq!(Axis::over([0.0].into_iter(), true, 5).ticks[0], 0.0, "nothing to take a logarithm of");
        assert_eq!(Axis::over([10.0].into_iter(), true, 5).ticks, [10.0, 100.0]);
    }

    #[test]
    fn any_values_get_an_axis_with_a_few_ticks() {
        for values in
            [vec![], vec![f64::NAN, f64::INFINITY], vec![1e300], vec![1e-300], vec![-5.0, 5.0], vec![f64::MAX]]
        {
            for logarithmic in [false, true] {
                let axis = Axis::over(values.iter().copied(), logarithmic, 5);
                assert!((1..=8).contains(&axis.ticks.len()), "{values:?}: {axis:?}");
                assert!(axis.ticks.iter().all(|tick| (0.0..=1.0).contains(&axis.place(*tick))), "{axis:?}");
            }
        }
        let axis = Axis::between(5.0, 5.0, false, 5);
        assert_eq!((axis.place(5.0), axis.place(6.0)), (0.0, 1.0));
    }
}
