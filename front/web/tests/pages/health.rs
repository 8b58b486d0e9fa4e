//! The last day of the process as an administrator sees it: charts in both languages, for nobody else, without a script.

use std::sync::Arc;
use std::time::Duration;

use madang_board::Role;
use madang_server::{HEALTH_SLOT, HEALTH_SLOTS, HealthHistory, HealthSlot};

use crate::support::TestSite;

struct Slots(Vec<HealthSlot>);

impl HealthHistory for Slots {
    fn slots(&self) -> Vec<HealthSlot> {
        self.0.clone()
    }
}

/// A day with a gap, as busy as it gets.
fn busy_day(now: i64) -> Vec<HealthSlot> {
    let ages = (0..HEALTH_SLOTS as i64).rev().filter(|age| !(100..120).contains(age));
    let slot = |age: i64| HealthSlot {
        number: now - age,
        seen: HEALTH_SLOT,
        requests: 300_000 + 1_000 * age as u64,
        errors: if age % 50 == 7 { 3 } else { 0 },
        shed: if age == 57 { 2 } else { 0 },
        median_s: Some(0.000_4),
        slow_s: Some(0.012_34),
        lag_s: Some(0.5),
        memory_bytes: Some(52_428_800),
        disk_available_bytes: Some(81_000_000_000 - 1_000_000 * age as u64),
    };
    ages.map(slot).collect()
}

async fn site(slots: impl FnOnce(i64) -> Vec<HealthSlot>) -> TestSite {
    let site = TestSite::open().await;
    let now = HealthSlot::number_at(site.state.clock.now());
    site.with(|state| state.history = Arc::new(Slots(slots(now))))
}

#[tokio::test]
async fn an_administrator_sees_the_day_in_charts_and_nobody_else_does() {
    let site = site(busy_day).await;
    let root = site.with_role("root", Role::Admin).await;
    root.get("/admin").await.assert(200).says("/admin/health");
    let page = root.get("/admin/health").await;
    page.assert(200).says("The last 24 hours").says("takes writes");
    let text = page.text().replace('\u{a0}', " ");
    for (name, said) in [
        ("Requests", "now 1000 a second · highest 1957 a second"),
        ("Latency", "median 400 µs · 99th percentile 12.3 ms · highest 12.3 ms"),
        ("Errors", "15 answers with 5xx in 24 hours · 2 of them refused under overload · highest 3 in five minutes"),
        ("Lag", "now 500 ms · highest 500 ms"),
        ("Memory", "now 52.4 MB · highest 52.4 MB"),
        ("Free disk space", "now 81 GB · lowest 80.7 GB"),
    ] {
        assert!(text.contains(&format!("aria-label=\"{name}: {said}\"")), "{name} in {text}");
        let is_seen = text.contains(&format!("<h3>{name}</h3><p class=\"said\">{said}</p>"));
        assert!(is_seen || name == "Latency", "{name} in {text}");
    }
    assert!(text.contains("<span class=\"second\">99th percentile 12.3 ms</span> · highest 12.3 ms</p>"), "{text}");
    // Only what the style sheet colours, and the stretched drawings hold no text.
    page.is_silent_about("style=").is_silent_about("<text");
    let moderator = site.with_role("mo", Role::Moderator).await;
    moderator.get("/admin/health").await.assert(403).is_silent_about("<svg class=\"drawing\"");
    site.guest().get("/admin/health").await.assert(401).is_silent_about("<svg class=\"drawing\"");
}

#[tokio::test]
async fn what_is_not_known_is_not_drawn_and_an_empty_day_says_so_in_both_languages() {
    let unknown = |now| vec![HealthSlot { number: now, seen: Duration::from_secs(60), ..HealthSlot::default() }];
    let site = site(unknown).await;
    let root = site.with_role("root", Role::Admin).await;
    root.get("/admin/health").await.assert(200).says("now – · highest –").is_silent_about("Free disk space");

    let site = site.with(|state| state.history = Arc::new(Slots(Vec::new())));
    let root = site.with_role("root2", Role::Admin).await;
    root.get("/admin/health").await.assert(200).says("No figures yet").is_silent_about("<svg class=\"drawing\"");
    root.speaking("ko").get("/admin/health").await.assert(200).says("아직 수치가 없습니다");
}
