//! One way in which something goes wrong, and the alerts that have to say so.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::FIRE_MAX;
use crate::observed::ObservedSite;

/// What goes wrong, and how it is put right.
pub(super) struct Scenario {
    /// The alerts that must fire.
    pub(super) alerts: &'static [&'static str],
    /// In words, for the table.
    pub(super) how: &'static str,
    /// Brings it about.
    pub(super) cause: fn(&ObservedSite) -> Result<()>,
    /// Goes on while the alerts are waited for, again and again.
    pub(super) meanwhile: Option<fn(&ObservedSite) -> Result<()>>,
    /// Puts it right.
    pub(super) undo: fn(&ObservedSite) -> Result<()>,
}

/// What became of an alert.
pub(super) struct Seen {
    pub(super) alert: &'static str,
    pub(super) how: &'static str,
    /// After its cause.
    pub(super) fired: Option<Duration>,
    /// After its cause was gone.
    pub(super) ended: Option<Duration>,
    pub(super) failure: Option<String>,
}

impl Scenario {
    /// Brings it about, waits for every alert, puts it right, and waits until they are quiet.
    pub(super) fn run(&self, site: &ObservedSite) -> Vec<Seen> {
        eprintln!("{}: {}", self.alerts.join(", "), self.how);
        let mut seen: Vec<Seen> = self.alerts.iter().map(|alert| self.unseen(alert)).collect();
        // What an earlier scenario left behind is not this one's.
        let quiet = site.wait(FIRE_MAX, "nothing of it fires before", || {
            Ok(site.prometheus.firing()?.iter().all(|firing| !self.alerts.contains(&firing.as_str())))
        });
        let began = Instant::now();
        let fired = quiet.and_then(|_| (self.cause)(site)).and_then(|()| self.watch(site, true, began, &mut seen));
        // Put right whatever happened: the next one needs a site that is well.
        let gone = Instant::now();
        let undone = (self.undo)(site);
        let ended = fired.and(undone).and_then(|()| self.watch(site, false, gone, &mut seen));
        for seen in &mut seen {
            let late = seen.fired.is_none() || seen.ended.is_none();
            seen.failure = match &ended {
                Err(error) => Some(format!("{error:#}")),
                Ok(()) if late => Some("too late".to_owned()),
                Ok(()) => None,
            };
            eprintln!("{}: fired {:.0?}, ended {:.0?}", seen.alert, seen.fired, seen.ended);
        }
        seen
    }

    fn unseen(&self, alert: &'static str) -> Seen {
        Seen { alert, how: self.how, fired: None, ended: None, failure: None }
    }

    /// Notes when each alert is seen to fire, or to be quiet.
    fn watch(&self, site: &ObservedSite, fires: bool, since: Instant, seen: &mut [Seen]) -> Result<()> {
        let noted = std::cell::RefCell::new(seen);
        let what = if fires { "it fires" } else { "it is quiet again" };
        site.wait(FIRE_MAX, what, || {
            if let Some(meanwhile) = self.meanwhile.filter(|_| fires) {
                meanwhile(site)?;
            }
            let firing = site.prometheus.firing()?;
            for seen in noted.borrow_mut().iter_mut() {
                let slot = if fires { &mut seen.fired } else { &mut seen.ended };
                // One that stopped again while others were waited for was not this cause's.
                let is_so = firing.contains(seen.alert) == fires;
                *slot = slot.filter(|_| is_so).or_else(|| is_so.then(|| since.elapsed()));
            }
            Ok(noted.borrow().iter().all(|seen| if fires { seen.fired.is_some() } else { seen.ended.is_some() }))
        })
        .map(drop)
    }
}
