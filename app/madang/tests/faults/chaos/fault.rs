//! The faults that a run draws, and how each is brought about and mended.

use std::time::{Duration, Instant};

use madang_test_servers::{Cut, Pair};

use super::{Site, signal};
use crate::turns::last;

/// How long an operator's tool takes to notice that a database server is away: three questions, a second apart.
const NOTICED: Duration = Duration::from_secs(3);
/// How long a broker, a node or a process that was frozen or killed stays away.
const AWAY: Duration = Duration::from_secs(6);

/// What fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    /// A primary is killed; its replica takes its place.
    KillPrimary,
    /// A primary stands still; its replica takes its place, and then the old one goes on, unfenced.
    FreezePrimary,
    /// A primary is cut off by the network, and its replica takes its place; the tool cannot reach the old one either.
    CutPrimary,
    /// What a primary answers is lost; its replica takes its place.
    CutAnswers,
    /// What clients send to a primary is lost; its replica takes its place.
    CutRequests,
    /// A replica is killed; the tool has its primary go on alone, and makes another replica.
    KillReplica,
    /// A replica stands still for longer than the tool waits.
    FreezeReplica,
    /// A primary stands still for less than the tool waits, and goes on.
    PausePrimary,
    /// A broker is killed.
    KillBroker,
    /// A broker stands still.
    FreezeBroker,
    /// A master of Redis is killed.
    KillRedis,
    /// A master of Redis stands still.
    FreezeRedis,
    /// A process is killed.
    KillProcess,
    /// A process stands still.
    FreezeProcess,
}

impl Fault {
    pub(crate) const ALL: [Self; 14] = [
        Self::KillPrimary,
        Self::FreezePrimary,
        Self::CutPrimary,
        Self::CutAnswers,
        Self::CutRequests,
        Self::KillReplica,
        Self::FreezeReplica,
        Self::PausePrimary,
        Self::KillBroker,
        Self::FreezeBroker,
        Self::KillRedis,
        Self::FreezeRedis,
        Self::KillProcess,
        Self::FreezeProcess,
    ];

    /// In words, for the report.
    pub(crate) fn in_words(self) -> &'static str {
        match self {
            Self::KillPrimary => "primary killed, replica promoted",
            Self::FreezePrimary => "primary frozen, replica promoted, old primary goes on unfenced",
            Self::CutPrimary => "primary cut off by the network, replica promoted",
            Self::CutAnswers => "answers of a primary lost, replica promoted",
            Self::CutRequests => "requests to a primary lost, replica promoted",
            Self::KillReplica => "replica killed",
            Self::FreezeReplica => "replica frozen",
            Self::PausePrimary => "primary frozen for 2 s, not failed over",
            Self::KillBroker => "broker killed",
            Self::FreezeBroker => "broker frozen",
            Self::KillRedis => "Redis master killed",
            Self::FreezeRedis => "Redis master frozen",
            Self::KillProcess => "process killed",
            Self::FreezeProcess => "process frozen",
        }
    }

    /// Brings it about, and mends all but what time mends. `drawn` chooses whom it meets. Returns when it began, and which
    /// database server it met, if it met one.
    pub(crate) fn strike(self, site: &mut Site, drawn: usize) -> (Instant, Option<usize>) {
        let place = drawn % site.pairs.len();
        let began = Instant::now();
        match self {
            Self::KillPrimary => {
                site.pairs[place].primary_mut().kill();
                last(NOTICED);
                site.pairs[place].promote();
            }
            Self::FreezePrimary => {
                site.pairs[place].primary().signal("STOP");
                last(NOTICED);
                site.pairs[place].promote();
                site.pairs[place].replica().signal("CONT");
            }
            Self::CutPrimary => cut_off(&mut site.pairs[place], Cut::Both),
            Self::CutAnswers => cut_off(&mut site.pairs[place], Cut::Answers),
            Self::CutRequests => cut_off(&mut site.pairs[place], Cut::Requests),
            Self::KillReplica => {
                site.pairs[place].replica_mut().kill();
                last(NOTICED);
                site.pairs[place].go_on_alone();
            }
            Self::FreezeReplica => {
                site.pairs[place].replica().signal("STOP");
                last(NOTICED);
                site.pairs[place].go_on_alone();
                site.pairs[place].replica().signal("CONT");
            }
            Self::PausePrimary => {
                site.pairs[place].primary().signal("STOP");
                last(Duration::from_secs(2));
                site.pairs[place].primary().signal("CONT");
            }
            Self::KillBroker => {
                site.brokers.kill(drawn % 3);
                last(AWAY);
                site.brokers.start_again(drawn % 3);
            }
            Self::FreezeBroker => {
                site.brokers.signal(drawn % 3, "STOP");
                last(AWAY);
                site.brokers.signal(drawn % 3, "CONT");
            }
            Self::KillRedis => {
                let node = site.nodes.master(drawn);
                site.nodes.kill(node);
                last(AWAY);
                site.nodes.start_again(node);
            }
            Self::FreezeRedis => {
                let node = site.nodes.master(drawn);
                site.nodes.signal(node, "STOP");
                last(AWAY);
                site.nodes.signal(node, "CONT");
            }
            Self::KillProcess => {
                let process = &mut site.cluster.processes[drawn % site.processes];
                process.kill();
                last(Duration::from_secs(1));
                process.spawn();
                process.wait_until_up();
            }
            Self::FreezeProcess => {
                let pid = site.cluster.processes[drawn % site.processes].pid();
                signal(pid, "STOP");
                last(AWAY);
                signal(pid, "CONT");
            }
        }
        (began, self.meets_a_database().then_some(place))
    }

    fn meets_a_database(self) -> bool {
        self.leaves_one_member() || self == Self::PausePrimary
    }

    fn leaves_one_member(self) -> bool {
        matches!(
            self,
            Self::KillPrimary
                | Self::FreezePrimary
                | Self::CutPrimary
                | Self::CutAnswers
                | Self::CutRequests
                | Self::KillReplica
                | Self::FreezeReplica
        )
    }

    /// Makes whole what failed, so that the next fault meets a whole site.
    pub(crate) fn mend(self, site: &mut Site, place: Option<usize>) {
        if let Some(pair) = place.filter(|_| self.leaves_one_member()).and_then(|place| site.pairs.get_mut(place)) {
            Pair::rejoin(pair);
        }
    }
}

/// The old primary comes back once its replica has taken its place, and nobody has told it.
fn cut_off(pair: &mut Pair, cut: Cut) {
    pair.cut_primary(cut);
    last(NOTICED);
    pair.promote();
    last(NOTICED);
    pair.heal_old_primary(cut);
}
