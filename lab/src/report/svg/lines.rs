//! Lines over time or another variable, each with its own colour, dash and mark; the values that matter are written beside.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::axis::Axis;
use super::{Drawing, Entry, class_of, legend, number, place, text};
use crate::Series;

const HEIGHT: f64 = 240.0;
/// So few different values of x are labelled as they are.
const OWN_TICKS_MAX: usize = 8;
/// Values of x that differ so much get a logarithmic axis, if they are few.
const WIDE_APART: f64 = 32.0;
/// Lines with more points than this are drawn by the extremes in each stretch.
const POINTS_MAX: usize = 400;
/// Lines with at most so many points have marks at each.
const MARKED_MAX: usize = 16;

type Point = (f64, f64);

struct Line {
    class: String,
    label: String,
    points: Vec<Point>,
}

pub(super) fn draw(series: &[Series], x: &str, y: &str, logarithmic: bool, width: f64) -> Drawing {
    let lines = lines(series);
    let values = || lines.iter().flat_map(|line| &line.points);
    if values().next().is_none() {
        return Drawing::nothing(width);
    }
    let wide = width > 500.0;
    let rows = Axis::over(values().map(|point| point.1), logarithmic, 5);
    let columns = columns(values().map(|point| point.0), if wide { 8 } else { 4 });
    let labels = rows.ticks.iter().map(|tick| text::width(&number::tick(*tick)));
    let left = labels.fold(0.0, f64::max) + 8.0;
    let (key, key_height) = key(&lines, width);
    let top = key_height + text::LINE + 12.0;
    let area = Area { left, top, width: width - left - 14.0, height: HEIGHT };
    let bottom = area.top + area.height;
    let y_label = if logarithmic { format!("{y}, logarithmic") } else { y.to_owned() };
    let body = html! {
        (key)
        text.muted x="0" y=(place(key_height + 12.0)) { (text::cut(&y_label, width)) }
        (grid(&rows, &columns, &area))
        @for line in &lines { (path(line, &rows, &columns, &area)) }
        (labelled(&lines, &rows, &columns, &area))
        text.muted x=(place(area.left + area.width)) y=(place(bottom + 34.0)) text-anchor="end" { (text::cut(x, area.width)) }
    };
    Drawing { width, height: bottom + 42.0, body }
}

struct Area {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

impl Area {
    fn at(&self, columns: &Axis, rows: &Axis, (x, y): Point) -> Point {
        (self.left + columns.place(x) * self.width, self.top + (1.0 - rows.place(y)) * self.height)
    }
}

/// The lines with something in them; sides count their colours apart.
fn lines(series: &[Series]) -> Vec<Line> {
    let mut used = [0, 0];
    let lines = series.iter().filter_map(|one| {
        let points: Vec<Point> = one.points.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
        if points.is_empty() {
            return None;
        }
        let index = &mut used[usize::from(one.protected)];
        *index += 1;
        Some(Line { class: class_of(one.protected, *index - 1), label: one.label.clone(), points: thinned(points) })
    });
    lines.collect()
}

/// At most so many points, without losing a peak: of each stretch the lowest and the highest.
fn thinned(points: Vec<Point>) -> Vec<Point> {
    if points.len() <= POINTS_MAX {
        return points;
    }
    let stretch = points.len().div_ceil(POINTS_MAX / 2);
    let extremes = points.chunks(stretch).flat_map(|chunk| {
        let by = |better: fn(&f64, &f64) -> bool| {
            chunk.iter().enumerate().reduce(|best, one| if better(&one.1.1, &best.1.1) { one } else { best })
        };
        let mut kept: Vec<(usize, Point)> =
            [by(|a, b| a < b), by(|a, b| a > b)].into_iter().flatten().map(|(place, point)| (place, *point)).collect();
        kept.sort_by_key(|(place, _)| *place);
        kept.dedup_by_key(|(place, _)| *place);
        kept.into_iter().map(|(_, point)| point)
    });
    extremes.collect()
}

/// A few values, such as numbers of callers, are the ticks themselves.
fn columns(values: impl Iterator<Item = f64>, ticks_max: usize) -> Axis {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let (least, most) = (values.first().copied().unwrap_or(0.0), values.last().copied().unwrap_or(0.0));
    let few = values.len() <= OWN_TICKS_MAX;
    let logarithmic = few && least > 0.0 && most / least >= WIDE_APART;
    let axis = Axis::between(least, most, logarithmic, ticks_max);
    if few { axis.with_ticks(values) } else { axis }
}

fn grid(rows: &Axis, columns: &Axis, area: &Area) -> Markup {
    let (right, bottom) = (area.left + area.width, area.top + area.height);
    let mut taken = text::Taken::default();
    let mut across = Vec::new();
    for tick in &columns.ticks {
        let (at, label) = (area.left + columns.place(*tick) * area.width, number::tick(*tick));
        let wide = text::width(&label) + 8.0;
        // The label of the last tick ends with the picture.
        let at_label = at.min(right + 14.0 - wide / 2.0);
        across.push((at, at_label, taken.take(at_label - wide / 2.0, 0.0, wide, text::LINE).then_some(label)));
    }
    html! {
        @for tick in &rows.ticks {
            @let at = area.top + (1.0 - rows.place(*tick)) * area.height;
            line.grid x1=(place(area.left)) x2=(place(right)) y1=(place(at)) y2=(place(at)) {}
            text.tick x=(place(area.left - 6.0)) y=(place(at + 4.0)) text-anchor="end" { (number::tick(*tick)) }
        }
        line.axis x1=(place(area.left)) x2=(place(right)) y1=(place(bottom)) y2=(place(bottom)) {}
        @for (at, at_label, label) in &across {
            line.axis x1=(place(*at)) x2=(place(*at)) y1=(place(bottom)) y2=(place(bottom + 4.0)) {}
            @if let Some(label) = label {
                text.tick x=(place(*at_label)) y=(place(bottom + 18.0)) text-anchor="middle" { (label) }
            }
        }
    }
}

fn path(line: &Line, rows: &Axis, columns: &Axis, area: &Area) -> Markup {
    let mut way = String::new();
    let places: Vec<Point> = line.points.iter().map(|point| area.at(columns, rows, *point)).collect();
    for (index, (x, y)) in places.iter().enumerate() {
        let _ = write!(way, "{}{} {}", if index == 0 { "M" } else { "L" }, place(*x), place(*y));
    }
    html! {
        g class=(line.class) {
            title { (line.label) }
            path.line d=(way) {}
            @if places.len() <= MARKED_MAX {
                @for (x, y) in &places { (mark(&line.class, *x, *y)) }
            }
        }
    }
}

/// A mark of the line's own shape, so that lines differ without their colours.
fn mark(class: &str, x: f64, y: f64) -> Markup {
    let at = |dx: f64, dy: f64| format!("{} {}", place(x + dx), place(y + dy));
    match class.as_bytes().last() {
        Some(b'0') => html! { circle.mark cx=(place(x)) cy=(place(y)) r="3.5" {} },
        Some(b'1') => html! { rect.mark x=(place(x - 3.0)) y=(place(y - 3.0)) width="6" height="6" {} },
        Some(b'2') => html! { path.mark d=(format!("M{}L{}L{}Z", at(0.0, -4.5), at(4.0, 3.0), at(-4.0, 3.0))) {} },
        _ => {
            html! { path.mark d=(format!("M{}L{}L{}L{}Z", at(0.0, -4.5), at(4.5, 0.0), at(0.0, 4.5), at(-4.5, 0.0))) {} }
        }
    }
}

/// The last and the highest value of each line, where there is room.
fn labelled(lines: &[Line], rows: &Axis, columns: &Axis, area: &Area) -> Markup {
    let mut taken = text::Taken::default();
    let mut labels: Vec<(String, f64, f64)> = Vec::new();
    for line in lines {
        let highest = line.points.iter().copied().reduce(|best, one| if one.1 > best.1 { one } else { best });
        let last = line.points.last().copied();
        for point in [last, highest.filter(|highest| Some(*highest) != last)].into_iter().flatten() {
            let (x, y) = area.at(columns, rows, point);
            let label = number::value(point.1);
            let wide = text::bold_width(&label) + 6.0;
            let left = (x - wide / 2.0).clamp(area.left + 2.0, (area.left + area.width + 12.0 - wide).max(0.0));
            let above_and_below = [y - 9.0, y + 18.0, y - 24.0];
            let fits = |base: &f64| *base > area.top + 6.0 && *base < area.top + area.height - 2.0;
            let free = above_and_below.into_iter().filter(fits).find(|base| taken.take(left, base - 11.0, wide, 14.0));
            labels.extend(free.map(|base| (label, left + 3.0, base)));
        }
    }
    html! {
        @for (label, left, base) in &labels { text.value x=(place(*left)) y=(place(*base)) { (label) } }
    }
}

fn key(lines: &[Line], width: f64) -> (Markup, f64) {
    let entries: Vec<_> =
        lines.iter().map(|line| Entry { class: line.class.as_str(), label: line.label.clone() }).collect();
    legend(&entries, width, |class, left, middle| {
        html! {
            g class=(class) {
                path.line d=(format!("M{} {}h18", place(left), place(middle))) {}
                (mark(class, left + 9.0, middle))
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_keeps_its_peak() {
        let points: Vec<Point> = (0..10_000).map(|x| (f64::from(x), if x == 7_777 { 1e6 } else { 1.0 })).collect();
        let thin = thinned(points);
        assert!(thin.len() <= POINTS_MAX, "{}", thin.len());
        assert!(thin.contains(&(7_777.0, 1e6)));
        assert!(thin.is_sorted_by(|a, b| a.0 <= b.0));
    }

    #[test]
    fn few_values_far_apart_are_their_own_ticks() {
        let axis = columns([1.0, 8.0, 64.0, 256.0].into_iter(), 8);
        assert_eq!(axis.ticks, [1.0, 8.0, 64.0, 256.0]);
        assert!((axis.place(16.0) - 0.5).abs() < 1e-9, "logarithmic");
        let axis = columns((0..100).map(f64::from), 8);
        assert_eq!(axis.ticks, [0.0, 20.0, 40.0, 60.0, 80.0]);
    }
}
