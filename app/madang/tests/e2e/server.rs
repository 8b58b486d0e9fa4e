//! A site that runs for a test, on whichever composition, and ends with it.

use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use tempfile::TempDir;

use crate::command::{self, Ended};
use crate::composition::Composition;
use crate::embedded::{Embedded, EmbeddedStart};
use crate::fleet::Fleet;
use crate::http::{Answer, Call};
pub(crate) use crate::people::{ADMIN, PASSWORD};
pub(crate) use crate::waiting::eventually;

/// How a site is started.
pub(crate) struct Start {
    /// A data directory: then it is embedded, whatever was chosen.
    place: Option<EmbeddedStart>,
    settings: Vec<(String, String)>,
}

/// A running site.
pub(crate) struct TestServer {
    runs: Runs,
    pub(crate) address: String,
    /// Told behind names that tests choose, where others are on the same site.
    mark: String,
    /// Where a test writes that was not told otherwise.
    pub(crate) board: OnceLock<String>,
}

enum Runs {
    Embedded(Embedded),
    Own(Fleet),
    Shared(&'static Fleet),
}

impl Start {
    /// Embedded, in a directory of the caller's.
    pub(crate) fn in_directory(data: &Path) -> Self {
        let (data, environment) = (data.to_owned(), Vec::new());
        Self { place: Some(EmbeddedStart { data, environment, settings: Vec::new() }), settings: Vec::new() }
    }

    /// On the chosen composition, with an administrator and nothing else.
    pub(crate) fn fresh() -> Self {
        Self { place: None, settings: Vec::new() }
    }

    pub(crate) fn with_admin(self) -> Self {
        self.environment("MADANG_ADMIN_NAME", ADMIN).environment("MADANG_ADMIN_PASSWORD", PASSWORD)
    }

    pub(crate) fn environment(mut self, name: &str, value: &str) -> Self {
        let place = self.place.as_mut().expect("a server in a directory");
        place.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn set(mut self, key: &str, value: &str) -> Self {
        self.settings.push((key.to_owned(), value.to_owned()));
        self
    }

    /// Starts it, and waits until it can be used.
    pub(crate) fn start(self) -> TestServer {
        let Self { place, settings } = self;
        let runs = match (place, Composition::chosen()) {
            (Some(place), _) => Runs::Embedded(EmbeddedStart { settings, ..place }.start()),
            (None, Composition::Embedded) => Runs::Embedded(in_own_directory(settings)),
            (None, composition) => Runs::Own(Fleet::start(composition, &settings)),
        };
        TestServer::of(runs, String::new())
    }
}

fn in_own_directory(settings: Vec<(String, String)>) -> Embedded {
    let directory = tempfile::tempdir().expect("temporary directory");
    let Start { place, .. } = Start::in_directory(&directory.path().join("data")).with_admin();
    let mut embedded = EmbeddedStart { settings, ..place.expect("a directory") }.start();
    embedded.directory = Some(directory);
    embedded
}

impl TestServer {
    fn of(runs: Runs, mark: String) -> Self {
        let address = match &runs {
            Runs::Embedded(embedded) => embedded.address.clone(),
            Runs::Own(fleet) => fleet.address.clone(),
            Runs::Shared(fleet) => fleet.address.clone(),
        };
        Self { runs, address, mark, board: OnceLock::new() }
    }

    /// A site with an administrator and nothing else.
    pub(crate) fn fresh() -> Self {
        Start::fresh().start()
    }

    /// A site for a test that minds no company: to start a cluster for each takes too long. See [`TestServer::own`].
    pub(crate) fn shared() -> Self {
        static TESTS: AtomicUsize = AtomicUsize::new(1);
        if Composition::chosen() == Composition::Embedded {
            return Self::fresh();
        }
        Self::of(Runs::Shared(Fleet::shared()), TESTS.fetch_add(1, Ordering::Relaxed).to_string())
    }

    /// A name of this test's own, also where others chose the same.
    pub(crate) fn own(&self, name: &str) -> String {
        format!("{name}{}", self.mark)
    }

    /// Whether others are on this site.
    pub(crate) fn has_company(&self) -> bool {
        matches!(self.runs, Runs::Shared(_))
    }

    fn fleet(&self) -> Option<&Fleet> {
        match &self.runs {
            Runs::Embedded(_) => None,
            Runs::Own(fleet) => Some(fleet),
            Runs::Shared(fleet) => Some(fleet),
        }
    }

    fn embedded(&self) -> &Embedded {
        let Runs::Embedded(embedded) = &self.runs else { panic!("only the embedded composition has this") };
        embedded
    }

    pub(crate) fn data(&self) -> &Path {
        self.embedded().data()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.embedded().pid()
    }

    /// The next line on standard output.
    pub(crate) fn line(&self) -> String {
        self.embedded().line()
    }

    pub(crate) fn call(&self, method: &str, path: &str) -> Call {
        Call::new(&self.address, method, path)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.call("GET", path).send()
    }

    /// What an operator asks of the process that has a role.
    pub(crate) fn ask(&self, role: &str, path: &str) -> Answer {
        self.fleet().map_or_else(|| self.get(path), |fleet| fleet.ask(role, path))
    }

    /// Whether the roles are spread over processes, so that who writes and who reads may ask different ones.
    pub(crate) fn is_spread(&self) -> bool {
        self.fleet().is_some_and(|fleet| fleet.cluster.processes.len() > 1)
    }

    /// Runs `madang ARGUMENTS` for this site.
    pub(crate) fn command(&self, arguments: &[&str], input: &str) -> Ended {
        let Some(fleet) = self.fleet() else { return command::run(self.data(), arguments, input) };
        let crate::cluster::Ended { code, stdout, stderr } = fleet.cluster.command(arguments, input);
        Ended { code, stdout, stderr }
    }

    /// Has `madang check` find no difference. Between processes events are under way for a moment after the last write.
    pub(crate) fn check(&self) {
        if self.fleet().is_none() {
            self.command(&["check"], "").expect(0);
            return;
        }
        let mut last = String::new();
        eventually("a check finds no difference", || {
            let Ended { code, stdout, stderr } = self.command(&["check"], "");
            assert!([0, 1].contains(&code), "{stdout}{stderr}");
            if code == 1 && stdout != last {
                eprintln!("a check found differences, looking again:\n{stdout}");
                last = stdout;
            }
            (code == 0).then_some(())
        });
    }

    pub(crate) fn signal(&self, name: &str) {
        let status = Command::new("kill").args([&format!("-{name}"), &self.pid().to_string()]).status();
        assert!(status.expect("kill runs").success());
    }

    /// Waits until the process has ended.
    pub(crate) fn ended(&mut self) -> ExitStatus {
        let Runs::Embedded(embedded) = &mut self.runs else { panic!("only the embedded composition is one process") };
        embedded.ended()
    }

    /// Stops it the orderly way.
    pub(crate) fn stop(mut self) {
        match &mut self.runs {
            Runs::Own(fleet) => fleet.cluster.stop(),
            Runs::Shared(_) => panic!("others are on this site"),
            Runs::Embedded(_) => {
                self.signal("TERM");
                assert!(self.ended().success(), "exits with 0");
            }
        }
    }

    /// Stops it as a power cut would stop the process.
    pub(crate) fn kill(mut self) -> Option<TempDir> {
        let Runs::Embedded(embedded) = &mut self.runs else { panic!("see crash_and_restart") };
        embedded.kill();
        embedded.directory.take()
    }

    /// Stops every process the orderly way, and starts all of them again.
    pub(crate) fn restart(&mut self) {
        match &mut self.runs {
            Runs::Embedded(embedded) => {
                embedded.restart();
                self.address.clone_from(&embedded.address);
            }
            Runs::Own(fleet) => fleet.restart(),
            Runs::Shared(_) => panic!("others are on this site"),
        }
    }

    /// Stops every process as a power cut would, and starts all of them on what is left.
    pub(crate) fn crash_and_restart(&mut self) {
        match &mut self.runs {
            Runs::Embedded(embedded) => {
                embedded.crash_and_restart();
                self.address.clone_from(&embedded.address);
            }
            Runs::Own(fleet) => fleet.crash_and_restart(),
            Runs::Shared(_) => panic!("others are on this site"),
        }
    }
}

/// A cluster of the test's own shows its logs itself.
impl Drop for TestServer {
    fn drop(&mut self) {
        if let Runs::Shared(fleet) = &self.runs
            && std::thread::panicking()
        {
            eprintln!("{}", fleet.tails());
        }
    }
}

/// Whether the tests are run at full size.
pub(crate) fn is_long_run() -> bool {
    std::env::var_os("MADANG_TEST_LONG").is_some_and(|value| value == "1")
}
