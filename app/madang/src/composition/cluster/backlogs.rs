//! What waits in the outboxes of this process: shown as figures and told by `/readyz`, because a relay that does nothing
//! says nothing.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use madang_messaging::{Outage, Outbox as _, OutboxBacklog, Stop};
use madang_mysql::{Mysql, MysqlOutbox, Service};
use madang_server::PartState;

/// How often outboxes are looked at.
const EVERY: Duration = Duration::from_secs(10);
/// An event that waits longer than this is not on its way: the log, or what carries events there, is in trouble.
const AGE_MAX: Duration = Duration::from_secs(60);

const UNSENT: &str = "madang_outbox_unsent";
const PARKED: &str = "madang_outbox_parked";
const OLDEST: &str = "madang_outbox_oldest_age_seconds";

/// The backlog of each outbox, as it was read last.
#[derive(Clone, Default)]
pub(super) struct Backlogs(Arc<Mutex<BTreeMap<&'static str, Result<OutboxBacklog, Outage>>>>);

impl Backlogs {
    /// Reads them again and again until `stop`.
    pub(super) async fn keep(self, databases: Vec<(Service, Mysql)>, stop: Stop) -> Result<(), Infallible> {
        loop {
            for (service, database) in &databases {
                let outbox = MysqlOutbox::new(database);
                let backlog = tokio::select! {
                    () = stop.cancelled() => return Ok(()),
                    backlog = outbox.backlog() => backlog,
                };
                if let Ok(backlog) = &backlog {
                    show(service.name(), backlog);
                }
                self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(service.name(), backlog);
            }
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = tokio::time::sleep(EVERY) => {}
            }
        }
    }

    /// Each outbox as a part.
    pub(super) fn parts(&self) -> Vec<PartState> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().map(|(service, backlog)| part(service, backlog)).collect()
    }
}

fn show(service: &'static str, backlog: &OutboxBacklog) {
    metrics::gauge!(UNSENT, "service" => service).set(backlog.unsent as f64);
    metrics::gauge!(PARKED, "service" => service).set(backlog.parked as f64);
    metrics::gauge!(OLDEST, "service" => service).set(backlog.oldest_age.as_secs_f64());
}

fn part(service: &str, backlog: &Result<OutboxBacklog, Outage>) -> PartState {
    let (ok, detail) = match backlog {
        Err(_) => (false, "could not be read".to_owned()),
        Ok(OutboxBacklog { unsent: 0, .. }) => (true, "empty".to_owned()),
        Ok(OutboxBacklog { unsent, parked, oldest_age }) => {
            let parked = if *parked > 0 { format!(", {parked} of them parked") } else { String::new() };
            let detail = format!("{unsent} events waiting{parked}, the oldest for {:.1} s", oldest_age.as_secs_f64());
            (*oldest_age <= AGE_MAX, detail)
        }
    };
    PartState { name: format!("outbox {service}"), ok, detail }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outbox_whose_events_do_not_leave_is_not_well() {
        let of = |unsent, oldest_s| {
            let oldest_age = Duration::from_secs(oldest_s);
            part("like", &Ok(OutboxBacklog { unsent, parked: 0, oldest_age }))
        };
        assert_eq!((of(0, 0).ok, of(3, 2).ok, of(3, 61).ok), (true, true, false));
        assert_eq!(of(3, 61).detail, "3 events waiting, the oldest for 61.0 s");
        assert!(!part("like", &Err(Outage::new("database", "gone"))).ok);
    }
}
