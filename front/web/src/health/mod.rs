//! How this process has fared over the last day: for administrators who run one binary and nothing that watches it.

mod amount;
mod chart;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use madang_server::{HealthSlot, PartState};
use maud::{Markup, html};

use crate::admin::require_admin;
use crate::error::{OrRefuse as _, Refused};
use crate::layout::{NavEntry, Page, whole};
use crate::reply;
use crate::state::{Shared, Web};
use crate::texts::HealthTexts;
use crate::visit::Visit;
use chart::{Day, Shape, chart};

/// Where the page is.
pub(crate) const ADDRESS: &str = "/admin/health";

/// The page.
pub(crate) async fn health(State(web): State<Shared>, visit: Visit) -> Result<Response, Refused> {
    require_admin(&visit).or_refuse(&web, &visit)?;
    let parts = web.site.readiness.parts().await;
    let (t, h) = (visit.texts(), HealthTexts::in_language(visit.preferences.lang));
    let main = html! {
        p.crumb { a href="/admin" { (t.administration) } }
        h1 { (t.health) }
        section aria-labelledby="parts-title" {
            h2 #parts-title { (h.parts) }
            (part_table(&visit, &parts))
        }
        section.day aria-labelledby="day-title" {
            h2 #day-title { (h.last_day) }
            p.quiet.narrow { (h.lead) }
            (charts(&web, h))
        }
    };
    let page = Page { title: t.health, main, is_listed: false, nav: NavEntry::Admin, ..Page::default() };
    Ok(reply::page(&visit, StatusCode::OK, whole(&web, &visit, &page)))
}

/// The parts of the process, each with its state.
pub(crate) fn part_table(visit: &Visit, parts: &[PartState]) -> Markup {
    let t = visit.texts();
    html! {
        table.plain {
            thead { tr { th scope="col" { (t.part) } th scope="col" { (t.state) } th scope="col" { (t.detail) } } }
            tbody {
                @for part in parts {
                    tr {
                        th scope="row" { (part.name) }
                        td { span.state.bad[!part.ok] { (if part.ok { t.works } else { t.fails }) } }
                        td { (part.detail) }
                    }
                }
            }
        }
    }
}

fn charts(web: &Web, h: &HealthTexts) -> Markup {
    let slots = web.site.history.slots();
    // By the history's own clock: the host's may have jumped.
    let Some(now) = slots.last().map(|slot| slot.number) else {
        return html! { p.empty { (h.none_yet) } };
    };
    let day = |value: fn(&HealthSlot) -> Option<f64>| Day::of(&slots, now, value);
    let rate = day(HealthSlot::rate);
    let (median, slow) = (day(|slot| slot.median_s), day(|slot| slot.slow_s));
    let errors = day(|slot| Some(slot.errors as f64));
    let (lag, memory) = (day(|slot| slot.lag_s), day(|slot| slot.memory_bytes.map(|bytes| bytes as f64)));
    let disk = day(|slot| slot.disk_available_bytes.map(|bytes| bytes as f64));

    let rates = |value: f64| h.a_second.replace('#', &amount::digits(value));
    let seconds = |name: &str, value: Option<f64>| format!("{name} {}", told(value, amount::duration));
    let all = h.of_the_day.replace('#', &amount::digits(errors.sum()));
    let most = told(errors.highest(), |count| h.in_five_minutes.replace('#', &amount::digits(count)));
    let shed: u64 = slots.iter().map(|slot| slot.shed).sum();
    let mut failed = vec![Said::plain(all), Said::plain(format!("{} {most}", h.highest))];
    if shed > 0 {
        failed.insert(1, Said::plain(h.shed.replace('#', &shed.to_string())));
    }
    let latency = [
        Said { class: Some("first"), text: seconds(h.median, median.latest()) },
        Said { class: Some("second"), text: seconds(h.slowest, slow.latest()) },
        Said { class: None, text: seconds(h.highest, slow.highest()) },
    ];
    html! {
        div.charts {
            (figure(h, h.requests, &both(h, &rate, h.highest, rate.highest(), rates), &[(&rate, Shape::Area, "line")]))
            (figure(h, h.latency, &latency, &[(&median, Shape::Area, "line"), (&slow, Shape::Line, "line second")]))
            (figure(h, h.errors, &failed, &[(&errors, Shape::Strokes, "line bad")]))
            (figure(h, h.lag, &both(h, &lag, h.highest, lag.highest(), amount::duration), &[(&lag, Shape::Area, "line")]))
            (figure(h, h.memory, &both(h, &memory, h.highest, memory.highest(), amount::bytes), &[(&memory, Shape::Area, "line")]))
            // A process of a cluster keeps nothing on its disk.
            @if disk.latest().is_some() {
                (figure(h, h.disk, &both(h, &disk, h.lowest, disk.lowest(), amount::bytes), &[(&disk, Shape::Area, "line")]))
            }
        }
    }
}

/// Something to read beside a chart, in the colour of the line that it is about.
struct Said {
    class: Option<&'static str>,
    text: String,
}

impl Said {
    fn plain(text: String) -> Self {
        Self { class: None, text }
    }
}

/// One chart under its name, with what there is to read of it.
fn figure(h: &HealthTexts, name: &str, said: &[Said], days: &[(&Day, Shape, &'static str)]) -> Markup {
    let whole = said.iter().map(|said| said.text.as_str()).collect::<Vec<_>>().join(" · ");
    html! {
        section.chart {
            h3 { (name) }
            p.said {
                @for (place, said) in said.iter().enumerate() {
                    @if place > 0 { " · " }
                    @if let Some(class) = said.class { span class=(class) { (said.text) } } @else { (said.text) }
                }
            }
            (chart(&format!("{name}: {whole}"), days))
            p.axis aria-hidden="true" { span { (h.a_day_ago) } span { (h.now) } }
        }
    }
}

/// The newest value, and another one.
fn both(h: &HealthTexts, day: &Day, name: &str, other: Option<f64>, amount: impl Fn(f64) -> String) -> [Said; 2] {
    [(h.latest, day.latest()), (name, other)]
        .map(|(name, value)| Said::plain(format!("{name} {}", told(value, &amount))))
}

fn told(value: Option<f64>, amount: impl Fn(f64) -> String) -> String {
    value.map_or_else(|| "–".to_owned(), amount)
}
