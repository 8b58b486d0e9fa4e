//! Moments as people of the site read them: in its time zone, short in lists and whole on an article.

use std::sync::Arc;

use jiff::Zoned;
use jiff::tz::TimeZone;
use madang_kernel::{Clock, Timestamp};
use maud::{Markup, html};

use crate::preferences::Lang;
use crate::texts;

/// Articles younger than this carry a mark in lists.
const NEW_MS: u128 = 60 * 60 * 1_000;

/// Tells moments in the site's zone.
pub(crate) struct SiteTime {
    zone: TimeZone,
    clock: Arc<dyn Clock>,
}

impl SiteTime {
    pub(crate) fn new(zone: TimeZone, clock: Arc<dyn Clock>) -> Self {
        Self { zone, clock }
    }

    /// As a list shows it: the time today, the day this year, the date before.
    pub(crate) fn short(&self, moment: Timestamp) -> Markup {
        let (then, now) = (self.local(moment), self.local(self.clock.now()));
        let format = match (then.date() == now.date(), then.year() == now.year()) {
            (true, _) => "%H:%M",
            (false, true) => "%m-%d",
            (false, false) => "%Y-%m-%d",
        };
        self.element(moment, &then.strftime(format).to_string())
    }

    /// How long ago, in words, for a week; the day after that. The moment itself is in the title.
    pub(crate) fn ago(&self, lang: Lang, moment: Timestamp) -> Markup {
        let seconds = self.clock.now().since(moment).as_secs();
        match texts::ago(lang, seconds) {
            Some(words) => self.element(moment, &words),
            None => self.short(moment),
        }
    }

    /// To the minute.
    pub(crate) fn whole(&self, moment: Timestamp) -> Markup {
        self.element(moment, &self.local(moment).strftime("%Y-%m-%d %H:%M").to_string())
    }

    /// The same as text, with the zone, for places without markup.
    pub(crate) fn minute(&self, moment: Timestamp) -> String {
        self.local(moment).strftime("%Y-%m-%d %H:%M %Z").to_string()
    }

    /// A word for a moment, which is told in the title.
    pub(crate) fn behind(&self, moment: Timestamp, word: &str) -> Markup {
        self.element(moment, word)
    }

    /// The day alone.
    pub(crate) fn day(&self, moment: Timestamp) -> Markup {
        self.element(moment, &self.local(moment).strftime("%Y-%m-%d").to_string())
    }

    /// Whether something was written within the last hour.
    pub(crate) fn is_new(&self, moment: Timestamp) -> bool {
        self.clock.now().since(moment).as_millis() < NEW_MS
    }

    /// What the site's zone is called.
    pub(crate) fn zone_name(&self) -> String {
        self.zone.iana_name().unwrap_or("UTC").to_owned()
    }

    fn local(&self, moment: Timestamp) -> Zoned {
        let moment = jiff::Timestamp::from_millisecond(moment.as_millis()).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        moment.to_zoned(self.zone.clone())
    }

    fn element(&self, moment: Timestamp, shown: &str) -> Markup {
        let whole = self.local(moment).strftime("%Y-%m-%d %H:%M %Z").to_string();
        html! { time datetime=(moment) title=(whole) { (shown) } }
    }
}

#[cfg(test)]
mod tests {
    use madang_kernel::ManualClock;

    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::from_millis(text.parse::<jiff::Timestamp>().unwrap().as_millisecond())
    }

    #[test]
    fn a_list_tells_the_time_today_and_the_day_before() {
        let clock = Arc::new(ManualClock::at(at("2026-11-15T16:00:00Z")));
        let seoul = SiteTime::new(TimeZone::get("Asia/Seoul").unwrap(), clock);
        let shown = |moment| {
            let text = seoul.short(at(moment)).into_string();
            text.split(['>', '<']).nth(2).unwrap().to_owned()
        };
        assert_eq!(shown("2026-11-15T15:03:00Z"), "00:03", "past midnight in Seoul");
        assert_eq!(shown("2026-11-15T14:59:00Z"), "11-15");
        assert_eq!(shown("2025-11-15T14:59:00Z"), "2025-11-15");
        let ago = |moment| seoul.ago(Lang::En, at(moment)).into_string();
        assert!(ago("2026-11-15T15:57:00Z").contains("title=\"2026-11-16 00:57 KST\">3 min ago<"));
        assert!(
            ago("2026-11-15T16:00:00Z").contains(">just now<") && ago("2026-11-14T15:00:00Z").contains(">yesterday<")
        );
        assert!(ago("2026-11-01T16:00:00Z").contains(">11-02<"), "past a week the day is told");
        assert!(seoul.is_new(at("2026-11-15T15:00:01Z")) && !seoul.is_new(at("2026-11-15T15:00:00Z")));
    }
}
