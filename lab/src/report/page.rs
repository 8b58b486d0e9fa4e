//! The page for people: one file without a script, light or dark as the reader has it, readable on a phone.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::number::{count, seconds, value};
use super::{Entry, Report, WiringEntry, rate, rate_of, svg};
use crate::{Chart, Side, Verdict};

/// The page's own looks; the pictures bring the colours.
const STYLE: &str = include_str!("page.css");
/// Rows of a chart's table; a line of thousands of points is in the JSON.
const TABLE_ROWS_MAX: usize = 60;

/// The whole page. `root` leads from it to the repository, for links to the code.
pub(super) fn render(report: &Report, root: Option<&str>) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "The Reliability Lab: " (report.shown()) " of " (report.experiments.len()) " shown" }
                style { (PreEscaped(svg::STYLE)) (PreEscaped(STYLE)) }
            }
            body {
                header { (head(report)) }
                main {
                    h2 #summary { "Summary" }
                    (summary(report))
                    @for entry in &report.experiments { (section(entry, root)) }
                }
                footer {
                    "Written by " code { "cargo xtask lab run" } ". The same for machines is in " code { "report.json" }
                    ", the charts as files in " code { "pictures/" } "."
                }
            }
        }
    };
    page.into_string()
}

fn head(report: &Report) -> Markup {
    let (off, on) = (sum(report, |entry| &entry.off), sum(report, |entry| &entry.on));
    let all = report.all_shown();
    let kind = if report.quick { "quick run" } else { "full run" };
    html! {
        h1 { "The Reliability Lab" }
        p.lead {
            "Each protection of an outbox system is switched off in turn, on real MariaDB, Kafka and Redis, and what it "
            "protected is counted. A verdict is “shown” when every naive wiring was seen to break, no protected one was, and "
            "nothing else speaks against it."
        }
        ul.tiles {
            li class=(if all { "good" } else { "bad" }) {
                b { (report.shown()) " of " (report.experiments.len()) } span { "verdicts shown" }
            }
            li { b { (count(report.faults())) } span { "real faults with every protection on" } }
            li class=(if on.violations == 0 { "good" } else { "bad" }) {
                b { (count(on.violations)) }
                span { "violations in " (count(on.trials)) " protected trials" }
            }
            li.bad { b { (count(off.violations)) } span { "violations in " (count(off.trials)) " naive trials" } }
        }
        p.facts {
            (kind) " · " (report.started_at) " · commit " code { (report.commit) } " · seed " (report.seed) " · "
            (seconds(report.seconds)) " · " (report.machine)
        }
    }
}

fn sum<'a>(report: &'a Report, side: impl Fn(&'a Entry) -> &'a Side) -> Side {
    let sides = report.experiments.iter().map(side);
    sides.fold(Side::default(), |sum, side| Side::new(sum.trials + side.trials, sum.violations + side.violations))
}

fn summary(report: &Report) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Summary of all experiments" {
            table.summary {
                thead { tr {
                    th scope="col" { "experiment" } th scope="col" { "verdict" }
                    th.number scope="col" { span.off { "naive" } br; "broken" }
                    th.number scope="col" { span.on { "protected" } br; "broken" }
                    th.number scope="col" { "faults" } th.number scope="col" { "time" }
                } }
                tbody {
                    @for entry in &report.experiments {
                        tr {
                            th scope="row" {
                                a href=(format!("#{}", entry.id)) { (entry.id) }
                                small { (entry.question) }
                            }
                            td { (verdict(entry)) }
                            td.number data-label="naive broken" { (broken(&entry.off)) }
                            td.number data-label="protected broken" { (broken(&entry.on)) }
                            td.number data-label="faults" { (count(entry.faults)) }
                            td.number data-label="time" { (seconds(entry.seconds)) }
                        }
                    }
                }
            }
        }
    }
}

/// How many of how many, and what follows for the rate.
fn broken(side: &Side) -> Markup {
    html! {
        (count(side.violations)) " of " (count(side.trials))
        small { (rate(side)) }
    }
}

fn verdict(entry: &Entry) -> Markup {
    match (entry.verdict, &entry.error) {
        (Verdict::Shown, _) => html! { span.verdict.shown { "✓ shown" } },
        (Verdict::NotShown, Some(_)) => html! { span.verdict.open { "✗ error" } },
        (Verdict::NotShown, None) => html! { span.verdict.open { "✗ not shown" } },
    }
}

fn section(entry: &Entry, root: Option<&str>) -> Markup {
    html! {
        section id=(entry.id) aria-labelledby=(format!("{}-h", entry.id)) {
            p.id { span { (entry.id) } (verdict(entry)) }
            h2 id=(format!("{}-h", entry.id)) { (entry.question) }
            p.facts { (entry.counted) }
            @if let Some(error) = &entry.error {
                p.error { "It could not be carried out: " (error) }
            }
            div.wirings {
                @for (index, wiring) in entry.wirings.iter().enumerate() {
                    (drawn(wiring, index > 0, &format!("{}-w{index}", entry.id), root))
                }
            }
            @if entry.error.is_none() { (variants(entry)) (figures(entry)) }
            @for (index, chart) in entry.charts.iter().enumerate() {
                (picture(chart, &format!("{}-c{index}", entry.id)))
            }
            (faults(entry))
            @if !entry.notes.is_empty() {
                h3 { "Notes" }
                ul.notes { @for note in &entry.notes { li { (note) } } }
            }
        }
    }
}

fn drawn(wiring: &WiringEntry, protected: bool, id: &str, root: Option<&str>) -> Markup {
    let (class, kind) = if protected { ("kind protected", "protected") } else { ("kind naive", "naive") };
    let described = wiring.steps.join(", then ");
    html! {
        figure {
            figcaption {
                span class=(class) { (kind) }
                b { (wiring.name) }
                @match root {
                    Some(root) => a href=(format!("{root}{}", wiring.code)) { code { (wiring.code) } },
                    None => code { (wiring.code) },
                }
            }
            (svg::steps(&wiring.steps, protected, svg::NARROW).inline("steps", id, &format!("{kind}: {}", wiring.name), &described))
        }
    }
}

/// The wirings of each side, where one has several: each broken or whole by its own counts.
fn variants(entry: &Entry) -> Markup {
    let row = |protected: bool, one: &crate::Variant| {
        let (class, side) = if protected { ("on", "protected") } else { ("off", "naive") };
        html! { tr {
            th scope="row" { (one.name) } td { span class=(class) { (side) } }
            td.number { (count(one.trials)) } td.number { (count(one.violations)) }
            td.number { (rate_of(one.trials, one.violations)) }
        } }
    };
    if entry.off.variants.is_empty() && entry.on.variants.is_empty() {
        return html! {};
    }
    html! {
        h3 { "Each wiring" }
        div.scroll tabindex="0" role="region" aria-label=(format!("Each wiring of {}", entry.id)) {
            table {
                thead { tr {
                    th scope="col" { "wiring" } th scope="col" { "side" } th.number scope="col" { "trials" }
                    th.number scope="col" { "violations" } th.number scope="col" { "rate" }
                } }
                tbody {
                    @for one in &entry.off.variants { (row(false, one)) }
                    @for one in &entry.on.variants { (row(true, one)) }
                }
            }
        }
    }
}

/// Both sides' counts, bound and figures, one a row.
fn figures(entry: &Entry) -> Markup {
    let names = entry.off.figures.keys().chain(entry.on.figures.keys());
    let names: std::collections::BTreeSet<&String> = names.collect();
    let figure = |side: &Side, name: &str| side.figures.get(name).map_or_else(|| "–".to_owned(), |one| value(*one));
    let row = |name: &str, off: String, on: String| {
        html! { tr { th scope="row" { (name) } td.number { (off) } td.number { (on) } } }
    };
    html! {
        h3 { "Figures" }
        div.scroll tabindex="0" role="region" aria-label=(format!("Figures of {}", entry.id)) {
            table {
                thead { tr {
                    th scope="col" { "counted" }
                    th.number scope="col" { span.off { "naive" } } th.number scope="col" { span.on { "protected" } }
                } }
                tbody {
                    (row("trials", count(entry.off.trials), count(entry.on.trials)))
                    (row("violations", count(entry.off.violations), count(entry.on.violations)))
                    (row("rate (95 % bound 3/n where none was seen)", rate(&entry.off), rate(&entry.on)))
                    @for name in names {
                        (row(&name.replace('_', " "), figure(&entry.off, name), figure(&entry.on, name)))
                    }
                }
            }
        }
    }
}

fn faults(entry: &Entry) -> Markup {
    if entry.fault_kinds.is_empty() {
        return html! {};
    }
    html! {
        h3 { "Faults while every protection was on" }
        div.scroll tabindex="0" role="region" aria-label=(format!("Faults of {}", entry.id)) {
            table {
                thead { tr { th scope="col" { "fault" } th.number scope="col" { "times" } } }
                tbody {
                    @for (kind, times) in &entry.fault_kinds {
                        tr { th scope="row" { (kind) } td.number { (count(*times)) } }
                    }
                    tr { th scope="row" { "all" } td.number { b { (count(entry.faults)) } } }
                }
            }
        }
    }
}

/// A chart in both widths, of which one is seen, and the same as a table.
fn picture(chart: &Chart, id: &str) -> Markup {
    let described = svg::described(chart);
    let inline =
        |class: &str, width: f64, id: String| svg::draw(chart, width).inline(class, &id, chart.title(), &described);
    html! {
        figure {
            h4 { (chart.title()) }
            (inline("wide", svg::WIDE, format!("{id}-wide")))
            (inline("narrow", svg::NARROW, format!("{id}-narrow")))
            details {
                summary { "the same as a table" }
                div.scroll tabindex="0" role="region" aria-label=(format!("{} as a table", chart.title())) {
                    (as_table(chart))
                }
            }
        }
    }
}

fn as_table(chart: &Chart) -> Markup {
    let (columns, rows): (Vec<&str>, Vec<Vec<String>>) = match chart {
        Chart::Bars { unit, bars, .. } => {
            let side = |protected: bool| if protected { "protected" } else { "naive" };
            let row = |bar: &crate::Bar| vec![bar.label.clone(), side(bar.protected).to_owned(), value(bar.value)];
            (vec!["what", "wiring", unit], bars.iter().map(row).collect())
        }
        Chart::Lines { x, y, series, .. } => {
            let points = series.iter().flat_map(|line| line.points.iter().map(move |point| (&line.label, point)));
            let row = |(label, point): (&String, &(f64, f64))| vec![label.clone(), value(point.0), value(point.1)];
            (vec!["line", x, y], points.map(row).collect())
        }
        Chart::Timeline { spans, marks, .. } => {
            let span =
                |one: &crate::Span| vec![one.row.clone(), one.label.clone(), value(one.from_ms), value(one.until_ms)];
            let mark = |one: &crate::Mark| vec![one.row.clone(), one.label.clone(), value(one.at_ms), String::new()];
            let rows = spans.iter().map(span).chain(marks.iter().map(mark)).collect();
            (vec!["row", "what", "from (ms)", "until (ms)"], rows)
        }
    };
    html! {
        table {
            thead { tr { @for column in &columns { th scope="col" { (column) } } } }
            tbody {
                @for row in rows.iter().take(TABLE_ROWS_MAX) { tr { @for cell in row { td { (cell) } } } }
                @if rows.len() > TABLE_ROWS_MAX {
                    tr { td colspan=(columns.len()) { (rows.len() - TABLE_ROWS_MAX) " more rows are in report.json" } }
                }
            }
        }
    }
}
