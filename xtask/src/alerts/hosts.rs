//! What goes wrong on a host: too little room, too many people, a certificate that ends, a process that dies.

use std::time::{Duration, Instant};

use anyhow::Result;
use rustix::process::Signal;
use serde_json::json;

use super::scenario::Scenario;
use crate::http;
use crate::observed::{ADMINISTRATOR, ObservedSite};
use crate::stack::observe::NODE;

/// Clients that come at once, and for how long.
const CROWD: usize = 48;
const RUSH: Duration = Duration::from_secs(2);

pub(super) const ALL: &[Scenario] = &[
    Scenario {
        alerts: &["MadangCertificateEnds"],
        how: "a certificate of 3 days, read by SIGHUP; then one of 90",
        cause: |site| site.renew_certificate(3),
        meanwhile: None,
        undo: |site| site.renew_certificate(90),
    },
    Scenario {
        alerts: &["MadangDiskNearlyFull", "HostDiskNearlyFull"],
        how: "59 of 64 MiB of the disk of a data directory taken up (tmpfs)",
        cause: |site| site.disk.fill(),
        meanwhile: None,
        undo: |site| site.disk.empty(),
    },
    Scenario {
        alerts: &["ExporterDown"],
        how: "the node exporter killed, then started",
        cause: |site| site.stack.signal(NODE, Signal::KILL),
        meanwhile: None,
        undo: |site| site.stack.restart(NODE),
    },
    Scenario {
        alerts: &["MadangOverloaded"],
        how: "48 clients sign in at once where 8 requests may be in flight",
        cause: |_| Ok(()),
        meanwhile: Some(crowd),
        undo: |_| Ok(()),
    },
    Scenario {
        alerts: &["MadangRestarts"],
        how: "a process killed and started three times",
        cause: |site| (0..3).try_for_each(|_| restart(site)),
        meanwhile: None,
        undo: |_| Ok(()),
    },
];

fn restart(site: &ObservedSite) -> Result<()> {
    site.embedded.kill()?;
    site.embedded.start()?;
    // Prometheus has to see each start.
    site.pause(Duration::from_secs(3))
}

/// A rush of sign-ins, each of which keeps a processor busy.
fn crowd(site: &ObservedSite) -> Result<()> {
    let (address, until) = (site.embedded.address(), Instant::now() + RUSH);
    let who = json!({"name": ADMINISTRATOR, "password": "not the one"});
    std::thread::scope(|scope| {
        for _ in 0..CROWD {
            scope.spawn(|| {
                while Instant::now() < until {
                    let _ = http::send(&address, "POST", "/api/v1/sessions", None, Some(&who));
                }
            });
        }
    });
    Ok(())
}
