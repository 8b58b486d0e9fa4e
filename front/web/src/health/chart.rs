//! Small charts of a day, drawn on the server: one place for each five minutes, gaps where nothing was seen.
//!
//! A chart is stretched to the width it gets, so it holds no text: what there is to read stands beside it as text of the page.
//! It has no inline styles either; colours come from the style sheet, for both themes.

use madang_server::{HEALTH_SLOTS, HealthSlot};
use maud::{Markup, html};

/// Height of the drawing, in its own units.
const HEIGHT: f64 = 64.0;
/// The highest value stays below the edge by this.
const MARGIN: f64 = 4.0;

/// The values of a day in their places, oldest first.
pub(super) struct Day(Vec<Option<f64>>);

impl Day {
    /// Puts what each slot tells in its place, the slot of `now` last.
    pub(super) fn of(slots: &[HealthSlot], now: i64, value: impl Fn(&HealthSlot) -> Option<f64>) -> Self {
        let mut places = vec![None; HEALTH_SLOTS];
        for slot in slots {
            let age = usize::try_from(now - slot.number).ok().filter(|age| *age < HEALTH_SLOTS);
            if let Some(age) = age {
                places[HEALTH_SLOTS - 1 - age] = value(slot).filter(|value| value.is_finite() && *value >= 0.0);
            }
        }
        Self(places)
    }

    /// Values that are there.
    fn values(&self) -> impl Iterator<Item = f64> {
        self.0.iter().copied().flatten()
    }

    /// The newest one.
    pub(super) fn latest(&self) -> Option<f64> {
        self.0.iter().rev().copied().flatten().next()
    }

    /// The highest.
    pub(super) fn highest(&self) -> Option<f64> {
        self.values().reduce(f64::max)
    }

    /// The lowest.
    pub(super) fn lowest(&self) -> Option<f64> {
        self.values().reduce(f64::min)
    }

    /// All of them together.
    pub(super) fn sum(&self) -> f64 {
        // Not `sum`, to which nothing is -0.
        self.values().fold(0.0, |sum, value| sum + value)
    }

    /// Values that follow one another without a gap, with the place of the first.
    fn runs(&self) -> Vec<(usize, Vec<f64>)> {
        let mut runs: Vec<(usize, Vec<f64>)> = Vec::new();
        for (place, value) in self.0.iter().enumerate() {
            let Some(value) = value else { continue };
            match runs.last_mut() {
                Some((first, run)) if *first + run.len() == place => run.push(*value),
                _ => runs.push((place, vec![*value])),
            }
        }
        runs
    }
}

/// How the values of a day are drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// A line over a tinted area.
    Area,
    /// A line alone.
    Line,
    /// One stroke each; none for 0.
    Strokes,
}

/// The drawing of one or more days of values on a common scale, which is told as `said` to whoever does not see it.
pub(super) fn chart(said: &str, days: &[(&Day, Shape, &'static str)]) -> Markup {
    let top = days.iter().filter_map(|(day, ..)| day.highest()).fold(0.0, f64::max);
    html! {
        svg.drawing role="img" aria-label=(said) viewBox={ "0 0 " (HEALTH_SLOTS) " " (HEIGHT) } preserveAspectRatio="none" {
            @for (day, shape, class) in days {
                @if *shape == Shape::Area { path.area d=(area(day, top)) {} }
                path class=(class) d=(if *shape == Shape::Strokes { strokes(day, top) } else { line(day, top) })
                    vector-effect="non-scaling-stroke" {}
            }
        }
    }
}

fn height(value: f64, top: f64) -> f64 {
    let share = if top > 0.0 { value / top } else { 0.0 };
    HEIGHT - share * (HEIGHT - MARGIN)
}

fn line(day: &Day, top: f64) -> String {
    let mut path = String::new();
    for (first, run) in day.runs() {
        for (step, value) in run.iter().enumerate() {
            path += &format!("{}{} {:.1}", if step == 0 { 'M' } else { 'L' }, first + step, height(*value, top));
        }
        // To the end of its five minutes: one value alone would not be seen otherwise.
        path += "h1";
    }
    path
}

fn area(day: &Day, top: f64) -> String {
    let mut path = String::new();
    for (first, run) in day.runs() {
        path += &format!("M{first} {HEIGHT}");
        for (step, value) in run.iter().enumerate() {
            path += &format!("L{} {:.1}", first + step, height(*value, top));
        }
        path += &format!("h1V{HEIGHT}Z");
    }
    path
}

fn strokes(day: &Day, top: f64) -> String {
    let places =
        day.0.iter().enumerate().filter_map(|(place, value)| Some((place, value.filter(|value| *value > 0.0)?)));
    places.map(|(place, value)| format!("M{place}.5 {HEIGHT}V{:.1}", height(value, top))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(values: &[(i64, u64)]) -> Day {
        let slot =
            |(number, errors): &(i64, u64)| HealthSlot { number: *number, errors: *errors, ..HealthSlot::default() };
        let slots: Vec<HealthSlot> = values.iter().map(slot).collect();
        Day::of(&slots, 1_000, |slot| Some(slot.errors as f64))
    }

    #[test]
    fn a_value_has_its_place_and_what_is_older_than_a_day_or_from_the_future_has_none() {
        let day = day(&[(712, 9), (713, 1), (999, 2), (1_000, 4), (1_001, 8)]);
        assert_eq!((day.0[0], day.0[286], day.0[287], day.values().count()), (Some(1.0), Some(2.0), Some(4.0), 3));
        assert_eq!((day.latest(), day.highest(), day.lowest(), day.sum()), (Some(4.0), Some(4.0), Some(1.0), 7.0));
    }

    #[test]
    fn a_gap_ends_a_line_and_a_value_alone_is_seen() {
        let day = day(&[(713, 4), (715, 2), (716, 4)]);
        assert_eq!(line(&day, 4.0), "M0 4.0h1M2 34.0L3 4.0h1");
        assert_eq!(area(&day, 4.0), "M0 64L0 4.0h1V64ZM2 64L2 34.0L3 4.0h1V64Z");
        assert_eq!(strokes(&day, 4.0), "M0.5 64V4.0M2.5 64V34.0M3.5 64V4.0");
    }

    #[test]
    fn a_day_without_values_or_with_zeros_alone_is_drawn_without_harm() {
        assert_eq!(line(&day(&[]), 0.0), "");
        let zeros = day(&[(1_000, 0)]);
        assert_eq!(day(&[]).sum().to_string(), "0");
        assert_eq!((line(&zeros, 0.0).as_str(), strokes(&zeros, 0.0).as_str()), ("M287 64.0h1", ""));
        let wrong = Day::of(&[HealthSlot { number: 1, ..HealthSlot::default() }], 1, |_| Some(f64::NAN));
        assert_eq!(wrong.latest(), None);
    }
}
