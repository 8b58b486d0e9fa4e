//! A cluster of a test's own, or one that all tests of a program share: its processes, and the proxy in front of them.

use std::process::{Command, Stdio};
use std::sync::LazyLock;

use crate::cluster::Cluster;
use crate::composition::Composition;
use crate::http::{Answer, Call};
use crate::nginx::{Nginx, PROXY_ADDRESS};
use crate::process::Process;
use crate::servers::Servers;
use crate::waiting::eventually;

/// One process for each, in the composition of seven.
const SEVEN: [&str; 7] = ["member", "article", "comment", "like", "view", "hot-article", "article-read"];
/// On a busy machine Redis may take longer than a write would wait, which is then read a moment later: what that is like is
/// tested elsewhere.
const OWN_WRITE_WAIT_MS: u64 = 4_000;
/// Whose word about an address is taken.
const TRUSTED: &str = "trusted_proxies";

/// Everything that serves one site.
pub(crate) struct Fleet {
    pub(crate) cluster: Cluster,
    nginx: Option<Nginx>,
    pub(crate) address: String,
}

impl Fleet {
    /// Starts a site of its own, with settings beside the usual, and waits until it can be used.
    pub(crate) fn start(composition: Composition, settings: &[(String, String)]) -> Self {
        let is_seven = composition == Composition::Seven;
        let roles: &[&str] = if is_seven { &SEVEN } else { &["all"] };
        let servers = Servers { own_write_wait_ms: Some(OWN_WRITE_WAIT_MS), ..Servers::of_environment() };
        let mut cluster = Cluster::prepared(&servers, roles);
        let trusted = settings.iter().find(|(key, _)| key == TRUSTED).map(|(_, value)| value.as_str());
        for process in &mut cluster.processes {
            settings.iter().for_each(|(key, value)| process.set(&format!("{key}={value}")));
            if is_seven {
                let all: Vec<_> = trusted.into_iter().chain([PROXY_ADDRESS]).collect();
                process.set(&format!("{TRUSTED}={}", all.join(",")));
            }
        }
        cluster.start();
        let nginx = is_seven.then(|| {
            // Seven processes have no pages; what is none is told so by any of them.
            let served_by = |role: &str| cluster.with_role(if role == "web" { "article-read" } else { role });
            let of_role = |role: &str| vec![served_by(role).address()];
            Nginx::start(cluster.directory(), of_role)
        });
        let address = nginx.as_ref().map_or_else(|| cluster.processes[0].address(), |nginx| nginx.address.clone());
        let fleet = Self { cluster, nginx, address };
        fleet.wait_until_ready();
        fleet
    }

    /// The site that the tests of this program share. It is started by the first, and ends with the program.
    pub(crate) fn shared() -> &'static Self {
        static SHARED: LazyLock<Fleet> = LazyLock::new(|| {
            let fleet = Fleet::start(Composition::chosen(), &[]);
            fleet.end_with_this_program();
            fleet
        });
        &SHARED
    }

    /// Ends every process as a power cut would, and starts all of them again.
    pub(crate) fn crash_and_restart(&mut self) {
        self.cluster.processes.iter_mut().for_each(Process::kill);
        self.cluster.start();
        self.wait_until_ready();
    }

    /// Stops every process the orderly way, and starts all of them again.
    pub(crate) fn restart(&mut self) {
        self.cluster.stop();
        self.cluster.start();
        self.wait_until_ready();
    }

    /// Asks a process with a role itself, past the proxy.
    pub(crate) fn ask(&self, role: &str, path: &str) -> Answer {
        self.cluster.with_role(role).get(path)
    }

    /// The last that each process said.
    pub(crate) fn tails(&self) -> String {
        let tails =
            self.cluster.processes.iter().map(|process| format!("==> {}:\n{}\n", process.roles, process.tail()));
        tails.chain(self.nginx.as_ref().map(|nginx| format!("==> nginx:\n{}\n", nginx.log()))).collect()
    }

    /// Processes that answer may still wait for one another, and the first steps of a site for their part.
    fn wait_until_ready(&self) {
        eventually("every process is ready", || {
            self.cluster.processes.iter().all(|process| process.get("/readyz").status == 200).then_some(())
        });
        eventually("the site has its first board", || {
            let boards = Call::new(&self.address, "GET", "/api/v1/boards").send();
            (boards.status == 200 && boards.text().contains("general")).then_some(())
        });
    }

    /// Nothing of a program is dropped when it ends. A shell waits for that moment, however it comes: its input closes.
    fn end_with_this_program(&self) {
        let pids = self.cluster.processes.iter().map(Process::pid).chain(self.nginx.iter().map(Nginx::pid));
        let mut watch = Command::new("sh");
        watch.args(["-c", r#"cat >/dev/null; directory=$1; shift; kill -KILL "$@"; rm -rf "$directory""#, "watch"]);
        watch.arg(self.cluster.directory()).args(pids.map(|pid| pid.to_string()));
        // Not in our group, so that Ctrl-C does not end it before its work.
        std::os::unix::process::CommandExt::process_group(&mut watch, 0);
        watch.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let watch = watch.spawn().expect("a shell starts");
        // The other end of its input stays open for as long as this program runs.
        std::mem::forget(watch);
    }
}
