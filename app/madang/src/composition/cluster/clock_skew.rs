//! Whether the clock of this host agrees with those of the databases: measured at the start and again and again, because a
//! clock that is wrong refuses writes without being any part's failure.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use madang_kernel::{ShardId, StoreError};
use madang_messaging::Stop;
use madang_mysql::{ClockSkew, Mysql};
use madang_server::PartState;
use tracing::{error, info, warn};

/// What the clock is called.
pub(super) const CLOCK: &str = "clock";
/// How often clocks are compared.
const EVERY: Duration = Duration::from_secs(15);
/// The same while they disagree, so that a clock that is set right is noticed soon.
const WHILE_OFF: Duration = Duration::from_secs(2);
/// From here on it is logged: hosts that are synchronised agree within milliseconds.
const WORTH_SAYING_MS: u64 = 1_000;

const SKEW: &str = "madang_clock_skew_seconds";

/// What is known of the clock of this process.
#[derive(Clone)]
pub(super) struct ClockSkews {
    member: Mysql,
    max_ms: u64,
    last: Arc<Mutex<Last>>,
}

/// The last comparison with the server that leases node numbers, whose time is the site's.
#[derive(Default)]
struct Last {
    skew: Option<ClockSkew>,
    agreement: Vec<Agreement>,
}

/// How well two clocks agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Agreement {
    /// Within what happens to synchronised hosts, or not known to be worse.
    #[default]
    Good,
    /// Worth mending, and nothing is refused yet.
    Poor,
    /// Too far apart to serve.
    None,
}

impl Agreement {
    fn of(skew: ClockSkew, max_ms: u64) -> Self {
        match skew.at_least_ms() {
            apart if apart > max_ms => Self::None,
            apart if apart > WORTH_SAYING_MS.min(max_ms) => Self::Poor,
            _ => Self::Good,
        }
    }
}

impl ClockSkews {
    /// Compares the clock with those of the servers of `member`.
    pub(super) fn new(member: Mysql, max_ms: u64) -> Self {
        Self { member, max_ms, last: Arc::default() }
    }

    /// Measures again and again until `stop`.
    pub(super) async fn keep(self, stop: Stop) -> Result<(), Infallible> {
        loop {
            let wait = if self.is_good() { EVERY } else { WHILE_OFF };
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = tokio::time::sleep(wait) => {}
            }
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = self.measure() => {}
            }
        }
    }

    /// Measures once. A server that is away tells nothing, and what was known of it stays.
    pub(super) async fn measure(&self) {
        let skews = self.member.clock_skews().await;
        let home = usize::from(self.member.map().server(ShardId::HOME).0);
        for (server, (skew, host)) in skews.into_iter().zip(self.member.addresses()).enumerate() {
            self.note(server, &host, server == home, skew);
        }
    }

    fn note(&self, server: usize, host: &str, is_home: bool, skew: Result<ClockSkew, StoreError>) {
        let skew = match skew {
            Ok(skew) => skew,
            Err(error) => return tracing::debug!("{host} did not tell its time: {error}"),
        };
        metrics::gauge!(SKEW, "server" => host.to_owned()).set(skew.ahead_ms as f64 / 1_000.0);
        let agreement = Agreement::of(skew, self.max_ms);
        let mut last = self.last();
        if last.agreement.len() <= server {
            last.agreement.resize(server + 1, Agreement::Good);
        }
        let before = std::mem::replace(&mut last.agreement[server], agreement);
        if is_home {
            last.skew = Some(skew);
        }
        drop(last);
        if before != agreement {
            say(host, skew, agreement, is_home, self.max_ms);
        }
    }

    /// The clock as a part. What nobody could measure is no reason to refuse anybody.
    pub(super) fn part(&self) -> PartState {
        let skew = self.last().skew;
        let ok = skew.is_none_or(|skew| Agreement::of(skew, self.max_ms) != Agreement::None);
        let detail = match skew {
            None => "not compared with the databases yet".to_owned(),
            Some(skew) if ok => format!("within {} ms of the databases", skew.ahead_ms.unsigned_abs()),
            Some(skew) => format!("{} the databases: synchronise the clocks", distance(skew)),
        };
        PartState { name: CLOCK.to_owned(), ok, detail }
    }

    fn is_good(&self) -> bool {
        self.last().agreement.iter().all(|agreement| *agreement == Agreement::Good)
    }

    fn last(&self) -> MutexGuard<'_, Last> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `3600.0 s ahead of`, or behind.
fn distance(skew: ClockSkew) -> String {
    let side = if skew.ahead_ms < 0 { "behind" } else { "ahead of" };
    format!("{:.1} s {side}", skew.ahead_ms.unsigned_abs() as f64 / 1_000.0)
}

fn say(host: &str, skew: ClockSkew, agreement: Agreement, is_home: bool, max_ms: u64) {
    let distance = distance(skew);
    match agreement {
        Agreement::None if is_home => error!(
            "the clock of this host is {distance} that of database {host}, more than {max_ms} ms (cluster.clock_skew_max_ms): \
             ids are refused or out of order, so this process is not ready; synchronise the clocks of all hosts and databases \
             (chrony, or another NTP client), no restart is needed"
        ),
        Agreement::None | Agreement::Poor => warn!(
            "the clock of this host is {distance} that of database {host}; synchronise the clocks of all hosts and databases \
             (chrony, or another NTP client)"
        ),
        Agreement::Good => info!("the clock of this host agrees with that of database {host} again"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_agree_well_poorly_or_not_at_all() {
        let of = |ahead_ms, max_ms| Agreement::of(ClockSkew { ahead_ms, uncertainty_ms: 10 }, max_ms);
        assert_eq!(
            (of(0, 5_000), of(1_010, 5_000), of(-1_010, 5_000)),
            (Agreement::Good, Agreement::Good, Agreement::Good)
        );
        assert_eq!((of(1_011, 5_000), of(-5_010, 5_000)), (Agreement::Poor, Agreement::Poor));
        assert_eq!((of(5_011, 5_000), of(-3_600_000, 5_000)), (Agreement::None, Agreement::None));
        assert_eq!((of(300, 200), of(150, 200)), (Agreement::None, Agreement::Good));
    }
}
