//! Runs of experiments that err, panic, hang and start processes: the run goes on, and nothing is left behind.

use std::time::Duration;

use async_trait::async_trait;
use tokio::io::{AsyncBufReadExt as _, BufReader};

use super::*;
use crate::report::sample::{self, Invented};
use crate::{Finding, Verdict, Wiring};

const LONG: Duration = Duration::from_secs(60);

#[derive(Clone, Copy)]
enum Way {
    Shows,
    Errs,
    Panics,
    /// Starts a process, notes its number in a file, and never ends.
    Hangs,
}

struct Acts {
    id: &'static str,
    way: Way,
    note: PathBuf,
}

#[async_trait]
impl Experiment for Acts {
    fn id(&self) -> &'static str {
        self.id
    }

    fn question(&self) -> &'static str {
        "Does the run go on?"
    }

    fn counted(&self) -> &'static str {
        "Nothing."
    }

    fn wirings(&self) -> [Wiring; 2] {
        Invented { id: self.id, question: "" }.wirings()
    }

    async fn run(&self, lab: &Lab) -> anyhow::Result<Finding> {
        lab.progress("1/1");
        match self.way {
            Way::Shows => Ok(sample::finding()),
            Way::Errs => anyhow::bail!("no broker"),
            Way::Panics => panic!("a defect"),
            Way::Hangs => {
                let mut command = tokio::process::Command::new("sh");
                command.args(["-c", "echo $$; exec sleep 600"]).kill_on_drop(true).stdout(std::process::Stdio::piped());
                let mut child = command.spawn()?;
                let mut line = String::new();
                BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).await?;
                std::fs::write(&self.note, line.trim())?;
                child.wait().await?;
                unreachable!("it sleeps for ten minutes");
            }
        }
    }
}

struct Run {
    dir: tempfile::TempDir,
    options: Options,
}

impl Run {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let options = Options {
            ids: Vec::new(),
            quick: true,
            out: dir.path().join("out"),
            seed: 7,
            keep: false,
            stack: dir.path().join("no-stack"),
            xtask: "/bin/true".into(),
        };
        Self { dir, options }
    }

    fn acts(&self, id: &'static str, way: Way) -> Box<dyn Experiment> {
        Box::new(Acts { id, way, note: self.note() })
    }

    fn note(&self) -> PathBuf {
        self.dir.path().join("pid")
    }

    async fn run(&self, chosen: &[Box<dyn Experiment>], interrupted: impl Future<Output = ()>) -> Ended {
        let scratch = Scratch::make(self.dir.path(), false).unwrap();
        run_all(&self.options, chosen, Path::new("/bin/true"), &scratch, interrupted).await.unwrap()
    }

    /// The folders that runs left.
    fn scratch(&self) -> Vec<String> {
        let all =
            std::fs::read_dir(self.dir.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        all.filter(|name| name.starts_with("madang-lab-")).collect()
    }

    fn report(&self) -> Report {
        Report::read(&self.options.out.join(report::JSON)).unwrap()
    }
}

async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let limit = Instant::now() + LONG;
    while !holds() {
        assert!(Instant::now() < limit, "{what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn an_experiment_that_errs_or_panics_is_reported_and_the_run_goes_on() {
    let run = Run::new();
    let chosen = [run.acts("errs", Way::Errs), run.acts("panics", Way::Panics), run.acts("shows", Way::Shows)];
    assert_eq!(run.run(&chosen, std::future::pending()).await, Ended::NotAllShown);
    let report = run.report();
    let told: Vec<_> = report.experiments.iter().map(|entry| (entry.id.as_str(), entry.verdict)).collect();
    assert_eq!(told, [("errs", Verdict::NotShown), ("panics", Verdict::NotShown), ("shows", Verdict::Shown)]);
    assert_eq!(report.experiments[0].error.as_deref(), Some("no broker"));
    assert_eq!(report.experiments[1].error.as_deref(), Some("it panicked: a defect"));
    assert!(report.quick && report.seed == 7);
    assert_eq!(run.scratch().len(), 1, "the logs of what failed stay");
}

#[tokio::test]
async fn what_is_all_shown_is_a_success_and_leaves_no_folder() {
    let run = Run::new();
    assert_eq!(run.run(&[run.acts("shows", Way::Shows)], std::future::pending()).await, Ended::AllShown);
    assert!(run.options.out.join(report::PAGE).exists());
    assert_eq!(run.scratch(), [""; 0]);
}

#[tokio::test]
async fn an_interrupt_ends_the_run_and_the_processes_of_its_experiment() {
    let run = Run::new();
    let chosen = [run.acts("shows", Way::Shows), run.acts("hangs", Way::Hangs), run.acts("never", Way::Errs)];
    let note = run.note();
    let ended = run.run(&chosen, until("it has begun", || note.exists())).await;
    assert_eq!(ended, Ended::Interrupted);
    let told: Vec<_> = run.report().experiments.into_iter().map(|entry| entry.id).collect();
    assert_eq!(told, ["shows"], "what was done by then is in the report");
    assert_eq!(run.scratch(), [""; 0]);
    let process = format!("/proc/{}/comm", std::fs::read_to_string(&note).unwrap());
    until("the process has ended", || std::fs::read_to_string(&process).is_err()).await;
}

#[tokio::test]
async fn an_experiment_past_its_limit_is_ended_with_its_processes() {
    let run = Run::new();
    let (lab, _watched) =
        Lab::new(Stack::at(run.dir.path(), Path::new("true")), Scale::Quick, 1, run.dir.path(), Path::new("true"));
    let hangs = run.acts("hangs", Way::Hangs);
    let error = attempt::within(Duration::from_millis(500), hangs.as_ref(), &lab).await.unwrap_err();
    assert!(error.to_string().contains("took longer"), "{error}");
    if let Ok(pid) = std::fs::read_to_string(run.note()) {
        until("the process has ended", || std::fs::read_to_string(format!("/proc/{pid}/comm")).is_err()).await;
    }
}

#[test]
fn an_experiment_has_its_own_seed_which_does_not_depend_on_the_others() {
    assert_eq!(seed_of(1, "locks"), seed_of(1, "locks"));
    assert_ne!(seed_of(1, "locks"), seed_of(2, "locks"));
    assert_ne!(seed_of(1, "locks"), seed_of(1, "coordinator"));
}
