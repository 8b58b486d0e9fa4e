//! A MariaDB primary with a semi-synchronous replica, and the tool that fails over: what an operator's orchestrator does, by the
//! same statements ([docs/design/failover.md]).
//!
//! Every member starts read-only, so that one that comes back is no primary until the tool says so. A commit is answered once the
//! replica has it, however long that takes; only the tool lets a primary go on without a replica.

#![allow(clippy::expect_used, clippy::missing_panics_doc, reason = "what a test cannot have fails it")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::network::{Cut, Network};
use crate::relational::{PASSWORD, Relational};
use crate::{program, within};

/// The user of the program under test, who is no administrator: a server that is read-only refuses it.
const USER: &str = "board";
/// How long a replica may take to apply what it has, or to catch up.
const CATCH_UP: Duration = Duration::from_secs(120);
/// How long a commit waits for the replica before the primary goes on without, in milliseconds: a day, which is never. Less would
/// have a primary acknowledge what its replica does not have.
const SEMI_SYNC_WAIT_MS: u64 = 86_400_000;

/// A primary and its replica.
pub struct Pair {
    members: [Relational; 2],
    primary: usize,
    /// The network whose hosts they are; it ends after them.
    network: Option<Network>,
}

impl Pair {
    /// Starts both, and waits until the replica has all.
    #[must_use]
    pub fn start() -> Self {
        Self::start_in(None)
    }

    /// The same with a host for each, which can be cut off. Needs root.
    #[must_use]
    pub fn start_on_hosts() -> Self {
        Self::start_in(Some(Network::make(2)))
    }

    fn start_in(network: Option<Network>) -> Self {
        let members = [0, 1].map(|number| {
            let (id, host) = (101 + number, network.as_ref().map(|network| network.host(number)));
            let options = format!(
                "server-id = {id}\nlog-bin = binlog\nsync_binlog = 1\nbinlog_format = ROW\nlog_slave_updates = ON\n\
                 relay-log = relaylog\nskip-slave-start\nread_only = ON\nrpl_semi_sync_slave_enabled = ON\n\
                 rpl_semi_sync_master_wait_point = AFTER_SYNC\nrpl_semi_sync_master_timeout = {SEMI_SYNC_WAIT_MS}\n\
                 slave_net_timeout = 5\n"
            );
            Relational::start_set(&options, host)
        });
        let pair = Self { members, primary: 0, network };
        for member in &pair.members {
            member.run(&format!(
                "SET sql_log_bin = 0; GRANT ALL PRIVILEGES ON *.* TO '{USER}'@'%' IDENTIFIED BY '{PASSWORD}'; \
                 REVOKE SUPER, READ_ONLY ADMIN ON *.* FROM '{USER}'@'%'"
            ));
        }
        pair.follow();
        pair.primary().run("SET GLOBAL read_only = OFF");
        pair
    }

    /// How the program under test reaches it: every member, and no administrator.
    #[must_use]
    pub fn url(&self) -> String {
        self.url_of_user(USER)
    }

    /// The same for `root`, whom no server refuses for being read-only.
    #[must_use]
    pub fn url_of_root(&self) -> String {
        self.url_of_user("root")
    }

    fn url_of_user(&self, user: &str) -> String {
        let [one, other] = &self.members;
        format!("mysql://{user}:{PASSWORD}@{},{}", one.address(), other.address())
    }

    /// The member that takes writes, as the tool decided.
    #[must_use]
    pub fn primary(&self) -> &Relational {
        &self.members[self.primary]
    }

    /// The same, to be broken.
    pub fn primary_mut(&mut self) -> &mut Relational {
        &mut self.members[self.primary]
    }

    /// The other one.
    #[must_use]
    pub fn replica(&self) -> &Relational {
        &self.members[1 - self.primary]
    }

    /// The same, to be broken.
    pub fn replica_mut(&mut self) -> &mut Relational {
        &mut self.members[1 - self.primary]
    }

    /// Cuts the primary off.
    pub fn cut_primary(&self, cut: Cut) {
        self.primary().host().expect("a host of its own").cut(cut);
    }

    /// Lets what was the primary be reached again.
    pub fn heal_old_primary(&self, cut: Cut) {
        self.replica().host().expect("a host of its own").heal(cut);
    }

    /// Whether its members have hosts that can be cut off.
    #[must_use]
    pub fn has_hosts(&self) -> bool {
        self.network.is_some()
    }

    /// Makes the replica the primary. The old one may be dead, frozen or cut off: from the first statement on it gets no
    /// acknowledgement for a commit any more, so that none of its commits is answered. The new primary has no replica, and
    /// goes on without until [`Self::rejoin`].
    pub fn promote(&mut self) {
        let replica = self.replica();
        replica.run("STOP SLAVE IO_THREAD");
        within(CATCH_UP, "the replica has applied all that it received", || {
            let state = replica.sql("SHOW SLAVE STATUS\\G").ok()?;
            state.contains("Slave has read all relay log").then_some(())
        });
        replica.run(
            "STOP SLAVE; RESET SLAVE ALL; SET GLOBAL rpl_semi_sync_master_enabled = OFF; SET GLOBAL read_only = OFF",
        );
        self.primary = 1 - self.primary;
    }

    /// Has the primary go on without its replica, which is dead or stands still: what it acknowledges from now on is on one server
    /// alone, until [`Self::rejoin`].
    pub fn go_on_alone(&self) {
        self.primary().run("SET GLOBAL rpl_semi_sync_master_enabled = OFF");
    }

    /// Has the member that is not the primary follow it, as a copy of it: what an old primary has and nobody acknowledged must
    /// not come back.
    pub fn rejoin(&mut self) {
        let [one, other] = &mut self.members;
        let (source, target) = if self.primary == 0 { (&*one, other) } else { (&*other, one) };
        let mut position = String::new();
        target.start_anew(|data| position = copy(source, data));
        target.run(&format!("SET GLOBAL gtid_slave_pos = '{position}'"));
        self.follow();
    }

    /// Starts the replica's copying, and has commits wait for it once it has all.
    fn follow(&self) {
        self.replica().run(&format!(
            "CHANGE MASTER TO MASTER_HOST = '{}', MASTER_PORT = {}, MASTER_USER = 'root', MASTER_PASSWORD = \
             '{PASSWORD}', MASTER_USE_GTID = slave_pos, MASTER_CONNECT_RETRY = 1; START SLAVE",
            self.primary().address().split(':').next().unwrap_or_default(),
            self.primary().port()
        ));
        self.wait_for_the_replica();
        self.primary().run("SET GLOBAL rpl_semi_sync_master_enabled = ON");
        within(CATCH_UP, "the primary counts its replica", || {
            let told = self.primary().sql("SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_master_clients'").ok()?;
            (told.split_whitespace().last() == Some("1")).then_some(())
        });
    }

    /// Waits until the replica has what the primary had when this was called.
    pub fn wait_for_the_replica(&self) {
        let position = self.primary().run("SELECT @@gtid_binlog_pos");
        let waited = format!("SELECT MASTER_GTID_WAIT('{position}', {})", CATCH_UP.as_secs());
        assert_eq!(self.replica().run(&waited), "0", "the replica has caught up");
        within(CATCH_UP, "the replica runs", || {
            let told = self.replica().sql("SHOW GLOBAL STATUS LIKE 'Slave_running'").ok()?;
            told.ends_with("ON").then_some(())
        });
    }
}

/// Copies a running server into a data directory; returns how far the copy is.
fn copy(source: &Relational, data: &Path) -> String {
    let backup = |arguments: &[&str]| {
        let mut command = Command::new(program("mariadb-backup"));
        command.args(arguments).arg(format!("--target-dir={}", data.display()));
        let output = command.stdin(Stdio::null()).output().expect("mariadb-backup runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let (port, password) = (format!("--port={}", source.port()), format!("--password={PASSWORD}"));
    let from = format!("--datadir={}", source.data().display());
    let address = source.address();
    let host = format!("--host={}", address.split(':').next().unwrap_or_default());
    backup(&["--no-defaults", "--backup", &host, "--user=root", &port, &password, &from]);
    backup(&["--no-defaults", "--prepare"]);
    let told = std::fs::read_to_string(data.join("xtrabackup_binlog_info")).expect("the copy tells how far it is");
    told.split_whitespace().last().unwrap_or_default().to_owned()
}

impl Relational {
    /// Runs statements that must succeed.
    fn run(&self, statements: &str) -> String {
        self.sql(statements).unwrap_or_else(|error| panic!("{statements}: {error}"))
    }
}
