//! A site that is observed: a process on the servers of a stack, two on data directories, people who use them, and Prometheus
//! that scrapes them all.

mod clock;
mod load;
mod process;
mod prometheus;
mod tmpfs;

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use self::clock::ShiftedClock;
pub(crate) use self::load::ADMINISTRATOR;
use self::load::Load;
pub(crate) use self::process::Process;
pub(crate) use self::prometheus::Prometheus;
use self::tmpfs::Tmpfs;
use crate::interrupt::Interrupt;
use crate::stack::ObservedStack;
use crate::workspace;

/// How long Prometheus may take to have scraped everything once.
const SCRAPED_MAX: Duration = Duration::from_secs(60);
/// How often something that is waited for is looked at.
const POLL: Duration = Duration::from_millis(250);
/// Settings of every process: people who use them come from one address, and a machine that is busy with other things refuses
/// nobody.
const SETTINGS: [&str; 2] = ["rate_limit=off", "scheduling_delay_max_ms=60000"];
/// Where passwords are not what is tested, they are hashed cheaply.
const CHEAP: [&str; 2] = ["hash_memory_kib=8", "hash_passes=1"];

/// The site. Whatever it started ends with it, the stack last.
pub(crate) struct ObservedSite {
    _load: Load,
    /// The cluster as one process, whose clock can be set.
    pub(crate) cluster: Process,
    /// On a data directory; people use it.
    pub(crate) embedded: Process,
    /// On a data directory on a small disk, by TLS; nobody uses it.
    pub(crate) small: Process,
    pub(crate) clock: ShiftedClock,
    pub(crate) disk: Tmpfs,
    pub(crate) prometheus: Prometheus,
    pub(crate) stack: ObservedStack,
    interrupt: Interrupt,
}

impl ObservedSite {
    /// Builds the binary if asked to, starts everything, and waits until Prometheus has scraped all of it.
    pub(crate) fn up(speed: u32, builds: bool, interrupt: &Interrupt) -> Result<Self> {
        if builds {
            workspace::run(workspace::cargo().args(["build", "-p", "madang"]))?;
        }
        let stack = ObservedStack::up(speed, interrupt)?;
        let dir = stack.dir();
        let clock = ShiftedClock::make(&dir.join("clock"))?;
        let disk = Tmpfs::mount(&dir.join("small-disk"))?;
        let config = dir.join("cluster.toml");
        std::fs::write(&config, stack.cluster_toml()?)?;
        restrict(&config)?;
        let start = |name: &str| -> Result<Process> {
            Ok(Process::named(name, dir, stack.free_port()?, stack.free_port()?).with(&SETTINGS))
        };
        let cluster = start("site-cluster")?.argument("--config", &config).with(&CHEAP).environment(&clock.variables());
        let embedded = start("site-embedded")?
            .argument("--data", &dir.join("data"))
            // So few that a crowd is refused.
            .with(&["in_flight_max=8"]);
        tmpfs::certificate(dir, 90)?;
        let small = start("site-small")?.argument("--data", &disk.path().join("data")).with(&CHEAP).with(&[
            &format!("tls_certificate={}", dir.join("certificate.pem").display()),
            &format!("tls_key={}", dir.join("key.pem").display()),
        ]);
        for process in [&cluster, &embedded, &small] {
            process.start()?;
        }
        let scraped: Vec<String> = [&cluster, &embedded, &small].map(|process| process.operations()).to_vec();
        stack.scrape(&scraped)?;
        let load = Load::on([cluster.address(), embedded.address()])?;
        let prometheus = Prometheus::at(stack.prometheus()?);
        let interrupt = interrupt.clone();
        let site = Self { _load: load, cluster, embedded, small, clock, disk, prometheus, stack, interrupt };
        site.wait(SCRAPED_MAX, "Prometheus has scraped everything", || site.stack.scrapes_all())?;
        Ok(site)
    }

    /// Lets some time pass.
    pub(crate) fn pause(&self, time: Duration) -> Result<()> {
        Ok(self.interrupt.pause(time)?)
    }

    /// Waits until something is so; fails when it is not within the limit.
    pub(crate) fn wait(&self, limit: Duration, what: &str, is_so: impl Fn() -> Result<bool>) -> Result<Duration> {
        let began = Instant::now();
        let mut last = String::new();
        while began.elapsed() < limit {
            match is_so() {
                Ok(true) => return Ok(began.elapsed()),
                Ok(false) => {}
                Err(error) => last = format!(" ({error:#})"),
            }
            self.interrupt.pause(POLL)?;
        }
        bail!("not within {} s: {what}{last}", limit.as_secs())
    }

    /// Gives the process on the small disk a certificate that ends in so many days.
    pub(crate) fn renew_certificate(&self, days: u32) -> Result<()> {
        tmpfs::certificate(self.stack.dir(), days)?;
        self.small.signal(rustix::process::Signal::HUP)
    }

    /// Runs a command of the binary on the cluster.
    pub(crate) fn command(&self, arguments: &[&str]) -> Result<String> {
        let config = self.stack.dir().join("cluster.toml");
        let mut command = std::process::Command::new(process::binary());
        let found = command.args(arguments).arg("--config").arg(config).output().context("could not run madang")?;
        let (said, complained) = (String::from_utf8_lossy(&found.stdout), String::from_utf8_lossy(&found.stderr));
        anyhow::ensure!(found.status.success(), "madang {arguments:?} failed: {said}{complained}");
        Ok(said.into_owned())
    }
}

/// The file holds passwords, and the binary refuses one that others can read.
fn restrict(path: &std::path::Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?)
}
