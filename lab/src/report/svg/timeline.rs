//! What happened when: a row for each process or server, stretches as bars, moments as marks, labels where there is room.

use maud::{Markup, html};

use super::axis::Axis;
use super::{Drawing, Entry, legend, number, place, text};
use crate::{Mark, Span};

/// The height of a stretch.
const SPAN: f64 = 20.0;
const GAP: f64 = 6.0;
/// From so wide on the names of rows stand beside them and not above.
const BESIDE_FROM: f64 = 560.0;
/// How much of the width names beside rows may take.
const NAME_SHARE: f64 = 0.24;

/// One row: its stretches in lanes, none over another.
struct Row<'a> {
    name: &'a str,
    lanes: Vec<Vec<&'a Span>>,
    marks: Vec<&'a Mark>,
}

pub(super) fn draw(spans: &[Span], marks: &[Mark], width: f64) -> Drawing {
    let rows = rows(spans, marks);
    if rows.is_empty() {
        return Drawing::nothing(width);
    }
    let beside = width >= BESIDE_FROM;
    let widest = rows.iter().map(|row| text::bold_width(row.name)).fold(0.0, f64::max);
    let left = if beside { widest.min(width * NAME_SHARE) + 12.0 } else { 0.0 };
    let area = Area { left, width: width - left - 10.0, axis: time(spans, marks, if beside { 8 } else { 4 }) };
    let (key, first) = key(spans, marks, width);
    let mut top = first;
    let mut drawn = Vec::new();
    for row in &rows {
        let (markup, height) = one(row, &area, beside, top);
        drawn.push(markup);
        top += height;
    }
    let bottom = top + 2.0;
    let (scale, unit) = unit(&area.axis);
    let body = html! {
        (key)
        @for tick in &area.axis.ticks {
            line.grid x1=(place(area.x(*tick))) x2=(place(area.x(*tick))) y1=(place(first)) y2=(place(bottom)) {}
        }
        @for row in &drawn { (row) }
        line.axis x1=(place(left)) x2=(place(left + area.width)) y1=(place(bottom)) y2=(place(bottom)) {}
        (ticks(&area, bottom, scale))
        text.muted x=(place(left)) y=(place(bottom + 34.0)) { (unit) " since the trial began" }
    };
    Drawing { width, height: bottom + 42.0, body }
}

struct Area {
    left: f64,
    width: f64,
    axis: Axis,
}

impl Area {
    fn x(&self, at_ms: f64) -> f64 {
        self.left + self.axis.place(at_ms) * self.width
    }
}

/// Rows in the order in which they first come; what has no finite time is not drawn.
fn rows<'a>(spans: &'a [Span], marks: &'a [Mark]) -> Vec<Row<'a>> {
    let mut rows: Vec<Row> = Vec::new();
    let row_of = |rows: &mut Vec<Row<'a>>, name: &'a str| {
        let found = rows.iter().position(|row| row.name == name);
        found.unwrap_or_else(|| {
            rows.push(Row { name, lanes: Vec::new(), marks: Vec::new() });
            rows.len() - 1
        })
    };
    for span in spans.iter().filter(|span| span.from_ms.is_finite() && span.until_ms.is_finite()) {
        let place = row_of(&mut rows, &span.row);
        let lanes = &mut rows[place].lanes;
        let free = |lane: &&mut Vec<&Span>| lane.iter().all(|other| apart(other, span));
        match lanes.iter_mut().find(free) {
            Some(lane) => lane.push(span),
            None => lanes.push(vec![span]),
        }
    }
    for mark in marks.iter().filter(|mark| mark.at_ms.is_finite()) {
        let place = row_of(&mut rows, &mark.row);
        rows[place].marks.push(mark);
    }
    rows
}

fn apart(one: &Span, other: &Span) -> bool {
    one.until_ms <= other.from_ms || other.until_ms <= one.from_ms
}

fn time(spans: &[Span], marks: &[Mark], ticks_max: usize) -> Axis {
    let moments =
        spans.iter().flat_map(|span| [span.from_ms, span.until_ms]).chain(marks.iter().map(|mark| mark.at_ms));
    let moments: Vec<f64> = moments.filter(|moment| moment.is_finite()).collect();
    let least = moments.iter().copied().fold(0.0, f64::min);
    Axis::between(least, moments.iter().copied().fold(0.0, f64::max), false, ticks_max)
}

/// One row and its height.
fn one(row: &Row, area: &Area, beside: bool, top: f64) -> (Markup, f64) {
    let names = if beside { 0.0 } else { text::LINE + 2.0 };
    let strip = if row.marks.is_empty() { 0.0 } else { text::LINE };
    let lanes = row.lanes.len().max(1) as f64 * (SPAN + 3.0) - 3.0;
    let (spans_at, height) = (top + names + strip + GAP, names + strip + lanes + 2.0 * GAP);
    let mut taken = text::Taken::default();
    let body = html! {
        line.rule x1="0" x2=(place(area.left + area.width)) y1=(place(top)) y2=(place(top)) {}
        @if beside {
            text.name x=(place(area.left - 10.0)) y=(place(spans_at + lanes / 2.0 + 4.0)) text-anchor="end" {
                (text::cut(row.name, (area.left - 12.0) / 1.1))
            }
        } @else {
            text.name x="0" y=(place(top + 14.0)) { (text::cut(row.name, area.width)) }
        }
        @for (index, lane) in row.lanes.iter().enumerate() {
            @for span in lane {
                (stretch(span, area, &mut taken, spans_at + index as f64 * (SPAN + 3.0)))
            }
        }
        @for mark in &row.marks { (moment(mark, area, &mut taken, spans_at)) }
    };
    (body, height)
}

/// A stretch with its label inside, or behind it, or in its tooltip alone. Harm is thicker as well as of another colour.
fn stretch(span: &Span, area: &Area, taken: &mut text::Taken, top: f64) -> Markup {
    let (from, until) = (area.x(span.from_ms), area.x(span.until_ms));
    let wide = (until - from).max(2.0);
    taken.take(from, top, wide, SPAN);
    let (thin, class) = if span.harm { (0.0, "harm") } else { (3.0, "calm") };
    let label = text::width(&span.label) + 10.0;
    let right = area.left + area.width;
    let inside = text::bold_width(&span.label) + 10.0 <= wide;
    let behind = !inside && from + wide + label <= right + 8.0 && taken.take(from + wide, top, label, SPAN);
    let lasted = number::value(span.until_ms - span.from_ms);
    html! {
        g {
            title { (span.row) ": " (span.label) ", " (lasted) " ms" }
            rect class=(class) x=(place(from)) y=(place(top + thin)) width=(place(wide)) height=(place(SPAN - 2.0 * thin)) rx="2" {}
            @if inside {
                text class=(format!("on-{class}")) x=(place(from + 5.0)) y=(place(top + 14.0)) { (span.label) }
            } @else if behind {
                text x=(place(from + wide + 5.0)) y=(place(top + 14.0)) { (span.label) }
            }
        }
    }
}

/// A moment: a mark on the row, and its label above if nobody else is there.
fn moment(mark: &Mark, area: &Area, taken: &mut text::Taken, spans_at: f64) -> Markup {
    let at = area.x(mark.at_ms);
    let strip = spans_at - GAP - text::LINE + 2.0;
    let label = text::cut(&mark.label, area.width * 0.6);
    let wide = text::bold_width(&label) + 8.0;
    let right = area.left + area.width + 10.0;
    let places = [at - wide / 2.0, at - 4.0, at - wide + 4.0];
    let found = places.into_iter().map(|left| left.clamp(area.left, (right - wide).max(area.left)));
    let found = found.into_iter().find(|left| taken.take(*left, strip, wide, text::LINE));
    html! {
        g {
            title { (mark.row) ": " (mark.label) " at " (number::value(mark.at_ms)) " ms" }
            path.moment d=(format!("M{} {}l4.5 -7h-9z", place(at), place(spans_at))) {}
            @if let Some(left) = found {
                text.value x=(place(left + 4.0)) y=(place(strip + 10.0)) { (label) }
            }
        }
    }
}

fn ticks(area: &Area, bottom: f64, scale: f64) -> Markup {
    let mut taken = text::Taken::default();
    let mut labels = Vec::new();
    for tick in &area.axis.ticks {
        let label = number::tick(tick / scale);
        let wide = text::width(&label) + 8.0;
        let at = area.x(*tick).clamp(area.left + wide / 2.0 - 4.0, area.left + area.width + 12.0 - wide / 2.0);
        if taken.take(at - wide / 2.0, 0.0, wide, text::LINE) {
            labels.push((at, label));
        }
    }
    html! {
        @for (at, label) in &labels {
            text.tick x=(place(*at)) y=(place(bottom + 16.0)) text-anchor="middle" { (label) }
        }
    }
}

/// Milliseconds, seconds or minutes, by the length of it all.
fn unit(axis: &Axis) -> (f64, &'static str) {
    match axis.ticks.last().copied().unwrap_or(0.0) {
        last if last < 2_000.0 => (1.0, "milliseconds"),
        last if last < 300_000.0 => (1_000.0, "seconds"),
        _ => (60_000.0, "minutes"),
    }
}

/// The legend, as far as there is something to tell.
fn key(spans: &[Span], marks: &[Mark], width: f64) -> (Markup, f64) {
    let harmful = spans.iter().any(|span| span.harm);
    let entries = [
        (spans.iter().any(|span| !span.harm) && harmful, "calm", "as it should be"),
        (harmful, "harm", "harm"),
        (!marks.is_empty() && !spans.is_empty(), "moment", "moment"),
    ];
    let entries = entries.into_iter().filter(|(there, ..)| *there);
    let entries: Vec<_> = entries.map(|(_, class, label)| Entry { class, label: label.to_owned() }).collect();
    legend(&entries, width, |class, left, middle| match class {
        "moment" => html! { path.moment d=(format!("M{} {}l5 -7h-10z", place(left + 9.0), place(middle + 4.0))) {} },
        _ => {
            let half = if class == "harm" { 6.0 } else { 4.0 };
            html! {
                rect class=(class) x=(place(left)) y=(place(middle - half)) width="18" height=(place(2.0 * half)) rx="2" {}
            }
        }
    })
}
