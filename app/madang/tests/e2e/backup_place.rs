//! A place for a site, its backups and what comes out of them, and people who write meanwhile.

use std::collections::HashSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::command::{Ended, clean, madang, run};
use crate::http::{Call, Http};
use crate::server::{ADMIN, Start, TestServer, eventually};

const WRITERS: usize = 16;

/// A place for a site and its backups.
pub(crate) struct Place {
    pub(crate) root: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { root: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.root.path().join("data")
    }

    pub(crate) fn backups(&self) -> PathBuf {
        self.root.path().join("backups")
    }

    pub(crate) fn restored(&self) -> PathBuf {
        self.root.path().join("restored")
    }

    pub(crate) fn serve(&self) -> TestServer {
        Start::in_directory(&self.data()).with_admin().start()
    }

    /// A site with something in it and no server.
    pub(crate) fn seeded(articles: &str) -> Self {
        let place = Self::new();
        run(&place.data(), &["seed", "--board", "general", "--articles", articles, "--members", "3"], "").expect(0);
        place
    }

    pub(crate) fn backup(&self, more: &[&str]) -> Ended {
        let to = format!("{}/", self.backups().display());
        run(&self.data(), &[&["backup", "--to", &to], more].concat(), "")
    }

    /// Begins one that takes its time.
    pub(crate) fn slow_backup(&self) -> Child {
        let mut command = Command::new(madang());
        clean(&mut command).args(["backup", "--rate", "1", "--to"]).arg(format!("{}/", self.backups().display()));
        command.arg("--data").arg(self.data()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        eventually("something is written", || {
            let begun = self.files().iter().any(|path| path.metadata().is_ok_and(|found| found.len() > 0));
            begun.then_some(())
        });
        child
    }

    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let Ok(entries) = self.backups().read_dir() else { return Vec::new() };
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    /// The backups that have their names, oldest first.
    pub(crate) fn whole(&self) -> Vec<PathBuf> {
        let mut named: Vec<_> = self.files();
        named.retain(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            name.starts_with("madang-") && name.ends_with(".tar.gz")
        });
        named.sort();
        named
    }

    pub(crate) fn the_backup(&self) -> PathBuf {
        let mut whole = self.whole();
        assert_eq!(whole.len(), 1, "{:?}", self.files());
        whole.remove(0)
    }

    pub(crate) fn restore(&self, from: &Path) -> Ended {
        run(&self.restored(), &["restore", "--from", from.to_str().unwrap()], "")
    }
}

pub(crate) fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

/// Has many write at once while `work` runs; gives what it gives, and the time that each write took.
pub(crate) fn under_load<T>(
    server: &TestServer,
    acknowledged: &Mutex<HashSet<i64>>,
    work: impl FnOnce() -> T,
) -> (T, Vec<Duration>) {
    let (token, path) = (server.sign_in(ADMIN), format!("/api/v1/boards/{}/articles", server.general()));
    let (stop, took) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    let body = json!({"title": "kept", "content": "Written while a backup is made. ".repeat(40)});
    let outcome = std::thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(|| {
                let mut http = Http::connect(&server.address).unwrap();
                let mut mine = Vec::new();
                while !stop.load(Ordering::Relaxed) {
                    let began = Instant::now();
                    let call = Call::new(&server.address, "POST", &path).token(&token).json(&body);
                    let id =
                        call.send_on(&mut http).unwrap().json(201)["article_id"].as_str().unwrap().parse().unwrap();
                    mine.push(began.elapsed());
                    acknowledged.lock().unwrap().insert(id);
                }
                took.lock().unwrap().extend(mine);
            });
        }
        let outcome = work();
        stop.store(true, Ordering::Relaxed);
        outcome
    });
    (outcome, took.into_inner().unwrap())
}

pub(crate) fn enough(acknowledged: &Mutex<HashSet<i64>>, more: usize) {
    let before = acknowledged.lock().unwrap().len();
    eventually("enough was written", || (acknowledged.lock().unwrap().len() >= before + more).then_some(()));
}
