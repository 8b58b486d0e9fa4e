//! Pictures as SVG: drawn with classes only, so that one stylesheet colours them in the page and in files of their own.

mod axis;
mod bars;
mod lines;
mod text;
mod timeline;
mod wiring;

use maud::{Markup, PreEscaped, html};

use super::number;
use crate::Chart;

pub(crate) use wiring::steps;

/// Colours of both themes and the looks of every class, for page and files alike.
pub(crate) const STYLE: &str = include_str!("chart.css");
/// The width of a picture on a wide screen, and in a file.
pub(crate) const WIDE: f64 = 760.0;
/// The width of a picture on a phone; the size of its text is the same.
pub(crate) const NARROW: f64 = 340.0;

/// What was drawn, and its size.
pub(crate) struct Drawing {
    width: f64,
    height: f64,
    body: Markup,
}

/// Draws a chart for a width.
pub(crate) fn draw(chart: &Chart, width: f64) -> Drawing {
    match chart {
        Chart::Bars { unit, logarithmic, bars, .. } => bars::draw(bars, unit, *logarithmic, width),
        Chart::Lines { x, y, logarithmic, series, .. } => lines::draw(series, x, y, *logarithmic, width),
        Chart::Timeline { spans, marks, .. } => timeline::draw(spans, marks, width),
    }
}

impl Drawing {
    /// A picture without anything in it says so.
    fn nothing(width: f64) -> Self {
        let body = html! {
            rect.none x="0.5" y="0.5" width=(place(width - 1.0)) height="55" rx="4" {}
            text.muted x=(place(width / 2.0)) y="33" text-anchor="middle" { "nothing was measured" }
        };
        Self { width, height: 56.0, body }
    }

    /// As part of a page. `id` is unique in it.
    pub(crate) fn inline(&self, class: &str, id: &str, title: &str, description: &str) -> Markup {
        let (width, height) = (place(self.width), place(self.height));
        html! {
            svg class=(class) viewBox=(format!("0 0 {width} {height}")) width=(width) height=(height) role="img"
                aria-labelledby=(format!("{id}-t {id}-d")) {
                title id=(format!("{id}-t")) { (title) }
                desc id=(format!("{id}-d")) { (description) }
                (self.body)
            }
        }
    }

    /// As a file of its own, with its title in it and a ground to stand on.
    pub(crate) fn file(&self, title: &str, description: &str) -> String {
        let (margin, head) = (16.0, 28.0);
        let (width, height) = (self.width + 2.0 * margin, self.height + 2.0 * margin + head);
        let (shown_width, shown_height) = (place(width), place(height));
        let picture = html! {
            svg xmlns="http://www.w3.org/2000/svg" viewBox=(format!("0 0 {shown_width} {shown_height}"))
                width=(shown_width) height=(shown_height) role="img" aria-labelledby="t d" {
                title id="t" { (title) }
                desc id="d" { (description) }
                style { (PreEscaped(STYLE)) }
                rect.ground x="0.5" y="0.5" width=(place(width - 1.0)) height=(place(height - 1.0)) rx="6" {}
                text.heading x=(place(margin)) y="31" { (text::cut(title, self.width * 0.9)) }
                g transform=(format!("translate({} {})", place(margin), place(margin + head))) { (self.body) }
            }
        };
        format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n", picture.into_string())
    }
}

/// What a picture shows, in words, for those who do not see it.
pub(crate) fn described(chart: &Chart) -> String {
    const TOLD_MAX: usize = 12;
    match chart {
        Chart::Bars { unit, bars, .. } => {
            let told =
                bars.iter().take(TOLD_MAX).map(|bar| format!("{}: {} {unit}", bar.label, number::value(bar.value)));
            told.collect::<Vec<_>>().join("; ")
        }
        Chart::Lines { x, y, series, .. } => {
            let told = series.iter().take(TOLD_MAX).filter_map(|line| {
                let (first, last) = (line.points.first()?, line.points.last()?);
                let most = line.points.iter().map(|point| point.1).fold(f64::NEG_INFINITY, f64::max);
                let [from, to, most] = [first.1, last.1, most].map(number::value);
                Some(format!("{}: from {from} to {to}, at most {most}", line.label))
            });
            format!("{y} over {x}. {}", told.collect::<Vec<_>>().join("; "))
        }
        Chart::Timeline { spans, marks, .. } => {
            let told = spans.iter().take(TOLD_MAX).map(|span| {
                let [from, until] = [span.from_ms, span.until_ms].map(number::value);
                format!("{}: {} from {from} to {until} ms", span.row, span.label)
            });
            let marked = marks
                .iter()
                .take(TOLD_MAX)
                .map(|mark| format!("{}: {} at {} ms", mark.row, mark.label, number::value(mark.at_ms)));
            told.chain(marked).collect::<Vec<_>>().join("; ")
        }
    }
}

/// A coordinate, short.
fn place(value: f64) -> String {
    if !value.is_finite() {
        return "0".to_owned();
    }
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// An entry of a legend.
struct Entry<'a> {
    class: &'a str,
    label: String,
}

/// A legend that breaks into lines, and its height.
fn legend(entries: &[Entry], width: f64, swatch: impl Fn(&str, f64, f64) -> Markup) -> (Markup, f64) {
    const SWATCH: f64 = 24.0;
    const GAP: f64 = 16.0;
    let (mut left, mut top) = (0.0, 0.0);
    let mut placed = Vec::new();
    for entry in entries {
        let label = text::cut(&entry.label, width - SWATCH);
        let needs = SWATCH + text::width(&label);
        if left > 0.0 && left + needs > width {
            (left, top) = (0.0, top + text::LINE + 2.0);
        }
        placed.push((entry.class, label, left, top));
        left += needs + GAP;
    }
    let height = if entries.is_empty() { 0.0 } else { top + text::LINE + 8.0 };
    let body = html! {
        @for (class, label, left, top) in &placed {
            (swatch(class, *left, *top + text::LINE / 2.0))
            text x=(place(left + SWATCH)) y=(place(top + 12.0)) { (label) }
        }
    };
    (body, height)
}

/// The class of the n-th line or bar of a side; after four they come again.
fn class_of(protected: bool, index: usize) -> String {
    format!("{}{}", if protected { 'p' } else { 'n' }, index % 4)
}
