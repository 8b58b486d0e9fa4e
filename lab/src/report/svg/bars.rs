//! Bars lie on their side: labels are read as text, and there is room for many of them on a phone.

use maud::{Markup, html};

use super::axis::Axis;
use super::{Drawing, Entry, legend, number, place, text};
use crate::Bar;

const BAR: f64 = 18.0;
const GAP: f64 = 10.0;
/// From so wide on labels stand beside the bars and not above them.
const BESIDE_FROM: f64 = 560.0;
/// How much of the width labels beside bars may take.
const LABEL_SHARE: f64 = 0.36;

pub(super) fn draw(bars: &[Bar], unit: &str, logarithmic: bool, width: f64) -> Drawing {
    if bars.is_empty() {
        return Drawing::nothing(width);
    }
    let beside = width >= BESIDE_FROM;
    let widest = bars.iter().map(|bar| text::width(&bar.label)).fold(0.0, f64::max);
    let left = if beside { widest.min(width * LABEL_SHARE) + 12.0 } else { 0.0 };
    let shown: Vec<String> = bars.iter().map(|bar| with_unit(bar.value, unit)).collect();
    // Values stand behind the bars.
    let right = shown.iter().map(|value| text::bold_width(value)).fold(0.0, f64::max) + 10.0;
    let length = (width - left - right).max(40.0);
    // Nothing that is counted is below zero.
    let axis = Axis::over(bars.iter().map(|bar| bar.value.max(0.0)), logarithmic, if beside { 6 } else { 4 });
    let (key, top) = key(bars, width);
    let row = if beside { BAR + GAP } else { BAR + GAP + text::LINE };
    let bottom = top + row * bars.len() as f64;
    let body = html! {
        (key)
        (grid(&axis, left, length, top, bottom))
        @for (index, (bar, shown)) in bars.iter().zip(&shown).enumerate() {
            (one(bar, shown, &axis, beside, left, length, top + row * index as f64))
        }
    };
    let under = if logarithmic { format!("{unit}, logarithmic") } else { unit.to_owned() };
    let body = html! {
        (body)
        text.muted x=(place(left)) y=(place(bottom + 34.0)) { (under) }
    };
    Drawing { width, height: bottom + 42.0, body }
}

fn one(bar: &Bar, shown: &str, axis: &Axis, beside: bool, left: f64, length: f64, top: f64) -> Markup {
    let class = if bar.protected { "p0" } else { "n0" };
    let drawn = axis.place(bar.value) * length;
    // What was counted is seen, however little it is beside the others.
    let drawn = if bar.value > 0.0 && bar.value.is_finite() { drawn.max(2.0) } else { 0.0 };
    let (label, label_x, label_y, bar_y) = if beside {
        (text::cut(&bar.label, left - 8.0), left - 8.0, top + 17.0, top + 4.0)
    } else {
        (text::cut(&bar.label, super::NARROW), 0.0, top + 14.0, top + 20.0)
    };
    html! {
        g {
            title { (bar.label) ": " (shown) }
            text x=(place(label_x)) y=(place(label_y)) text-anchor=[beside.then_some("end")] { (label) }
            rect class=(class) x=(place(left)) y=(place(bar_y)) width=(place(drawn)) height=(place(BAR)) rx="2" {}
            text.value x=(place(left + drawn + 6.0)) y=(place(bar_y + 13.0)) { (shown) }
        }
    }
}

fn grid(axis: &Axis, left: f64, length: f64, top: f64, bottom: f64) -> Markup {
    let mut taken = text::Taken::default();
    let labels: Vec<(f64, Option<String>)> = axis
        .ticks
        .iter()
        .map(|tick| {
            let (at, label) = (left + axis.place(*tick) * length, number::tick(*tick));
            let wide = text::width(&label) + 8.0;
            let free = taken.take(at - wide / 2.0, 0.0, wide, text::LINE);
            (at, free.then_some(label))
        })
        .collect();
    html! {
        @for (at, label) in &labels {
            line.grid x1=(place(*at)) x2=(place(*at)) y1=(place(top)) y2=(place(bottom)) {}
            @if let Some(label) = label {
                text.tick x=(place(*at)) y=(place(bottom + 16.0)) text-anchor=(if *at <= 1.0 { "start" } else { "middle" }) { (label) }
            }
        }
    }
}

/// The legend, where there are both sides to tell apart.
fn key(bars: &[Bar], width: f64) -> (Markup, f64) {
    let both = bars.iter().any(|bar| bar.protected) && bars.iter().any(|bar| !bar.protected);
    if !both {
        return (html! {}, 0.0);
    }
    let entries = [("n0", "naive"), ("p0", "protected")];
    let entries = entries.map(|(class, label)| Entry { class, label: label.to_owned() });
    legend(&entries, width, |class, left, middle| {
        html! { rect class=(class) x=(place(left)) y=(place(middle - 5.0)) width="16" height="10" rx="2" {} }
    })
}

fn with_unit(value: f64, unit: &str) -> String {
    if unit.is_empty() { number::value(value) } else { format!("{} {unit}", number::value(value)) }
}
