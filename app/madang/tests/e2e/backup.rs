//! A backup of a site that is being written to: what was acknowledged before it began is in it, and what comes out of it is
//! a site that checks clean.

use std::collections::HashSet;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::command::{Ended, clean, madang, run};
use crate::database;
use crate::http::{Call, Http};
use crate::server::{ADMIN, Start, TestServer, eventually};

const WRITERS: usize = 16;

/// A place for a site and its backups.
struct Place {
    root: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { root: tempfile::tempdir().unwrap() }
    }

    fn data(&self) -> PathBuf {
        self.root.path().join("data")
    }

    fn backups(&self) -> PathBuf {
        self.root.path().join("backups")
    }

    fn restored(&self) -> PathBuf {
        self.root.path().join("restored")
    }

    fn serve(&self) -> TestServer {
        Start::in_directory(&self.data()).with_admin().start()
    }

    /// A site with something in it and no server.
    fn seeded(articles: &str) -> Self {
        let place = Self::new();
        run(&place.data(), &["seed", "--board", "general", "--articles", articles, "--members", "3"], "").expect(0);
        place
    }

    fn backup(&self, more: &[&str]) -> Ended {
        let to = format!("{}/", self.backups().display());
        run(&self.data(), &[&["backup", "--to", &to], more].concat(), "")
    }

    /// Begins one that takes its time.
    fn slow_backup(&self) -> Child {
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

    fn files(&self) -> Vec<PathBuf> {
        let Ok(entries) = self.backups().read_dir() else { return Vec::new() };
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    /// The backups that have their names, oldest first.
    fn whole(&self) -> Vec<PathBuf> {
        let mut named: Vec<_> = self.files();
        named.retain(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            name.starts_with("madang-") && name.ends_with(".tar.gz")
        });
        named.sort();
        named
    }

    fn the_backup(&self) -> PathBuf {
        let mut whole = self.whole();
        assert_eq!(whole.len(), 1, "{:?}", self.files());
        whole.remove(0)
    }

    fn restore(&self, from: &Path) -> Ended {
        run(&self.restored(), &["restore", "--from", from.to_str().unwrap()], "")
    }
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

/// Has many write at once while `work` runs; gives what it gives, and the time that each write took.
fn under_load<T>(
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

fn enough(acknowledged: &Mutex<HashSet<i64>>, more: usize) {
    let before = acknowledged.lock().unwrap().len();
    eventually("enough was written", || (acknowledged.lock().unwrap().len() >= before + more).then_some(()));
}

#[test]
fn what_was_acknowledged_before_a_backup_began_is_in_it() {
    let place = Place::new();
    let server = place.serve();
    let acknowledged = Mutex::new(HashSet::new());
    let (before, _) = under_load(&server, &acknowledged, || {
        enough(&acknowledged, 300);
        let before = acknowledged.lock().unwrap().clone();
        let said = place.backup(&["--verify", "--with-keys"]).expect(0);
        assert!(said.stdout.contains("the keys are in it") && said.stdout.contains("no differences"), "{said:?}");
        // And what is written after it is no part of it, but goes on.
        enough(&acknowledged, 100);
        before
    });
    let token = server.sign_in(ADMIN);
    let backup = place.the_backup();
    assert_eq!((mode(&backup), mode(&place.backups()), place.files().len()), (0o600, 0o700, 1));
    // Nothing of the first site may be needed.
    drop(server.kill());
    std::fs::rename(place.data(), place.root.path().join("lost")).unwrap();

    let said = place.restore(&backup).expect(0);
    assert!(said.stdout.contains("stay valid"), "{said:?}");
    let rows: HashSet<i64> = database::article_ids(&database::open(&place.restored())).into_iter().collect();
    let lost: Vec<_> = before.difference(&rows).collect();
    assert!(lost.is_empty(), "acknowledged before and not in it: {lost:?}");
    println!("{} acknowledged before, {} in the backup", before.len(), rows.len());
    let file = database::open(&place.restored());
    assert_eq!(database::counted(&file), rows.len() as i64);
    drop(file);
    run(&place.restored(), &["check", "--full"], "").expect(0);
    assert_eq!(["madang.db", "keys/token.key"].map(|name| mode(&place.restored().join(name))), [0o600; 2]);
    assert_eq!(["", "keys"].map(|name| mode(&place.restored().join(name))), [0o700; 2]);

    let again = Start::in_directory(&place.restored()).start();
    let board = again.general();
    assert_eq!(again.article(&board, &token, "after")["title"], "after", "who was signed in still is");
    again.stop();
}

#[test]
fn without_its_keys_a_restored_site_asks_everybody_to_sign_in_again() {
    let place = Place::new();
    let server = place.serve();
    let (token, board) = (server.sign_in(ADMIN), server.general());
    server.article(&board, &token, "first");
    let said = place.backup(&[]).expect(0);
    assert!(said.stdout.contains("the keys are not in it"), "{said:?}");
    let backup = place.the_backup();
    let listed = Command::new("tar").arg("-tzf").arg(&backup).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert!(listed.lines().eq(["manifest.json", "madang.db", "madang.db-wal", "SHA256SUMS"]), "{listed}");
    server.stop();
    assert!(place.restore(&backup).expect(0).stdout.contains("sign in again"));
    let again = Start::in_directory(&place.restored()).start();
    let body = json!({"title": "t", "content": "c"});
    let path = format!("/api/v1/boards/{board}/articles");
    assert_eq!(again.call("POST", &path).token(&token).json(&body).send().status, 401);
    again.article(&board, &again.sign_in(ADMIN), "second");
    again.stop();
    run(&place.restored(), &["check", "--full"], "").expect(0);
}

#[test]
fn what_a_killed_server_left_is_backed_up_whole() {
    let place = Place::new();
    let server = place.serve();
    let acknowledged = Mutex::new(HashSet::new());
    under_load(&server, &acknowledged, || enough(&acknowledged, 200));
    drop(server.kill());
    assert!(place.data().join("madang.db-wal").metadata().unwrap().len() > 0, "its last writes are in the log alone");
    place.backup(&[]).expect(0);
    place.restore(&place.the_backup()).expect(0);
    let rows: HashSet<i64> = database::article_ids(&database::open(&place.restored())).into_iter().collect();
    assert!(acknowledged.into_inner().unwrap().is_subset(&rows));
    run(&place.restored(), &["check", "--full"], "").expect(0);
}

#[test]
fn a_killed_backup_leaves_nothing_that_looks_whole_and_the_next_one_clears_up() {
    let place = Place::seeded("3000");
    let server = place.serve();
    let mut killed = place.slow_backup();
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(place.whole(), Vec::<PathBuf>::new());
    let left = place.files();
    assert!(left.len() == 1 && mode(&left[0]) == 0o600, "{left:?}");
    let refused = place.restore(&left[0]).expect(1);
    assert!(refused.stderr.contains("not whole"), "{refused:?}");
    // The server is none the worse for it.
    server.article(&server.general(), &server.sign_in(ADMIN), "after");
    place.backup(&["--verify"]).expect(0);
    assert_eq!(place.files(), place.whole(), "what was left is gone");
    server.stop();
}

#[test]
fn an_interrupted_backup_leaves_nothing() {
    let place = Place::seeded("3000");
    let mut child = place.slow_backup();
    let told = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(told.success() && !child.wait().unwrap().success());
    assert_eq!(place.files(), Vec::<PathBuf>::new());
}

#[test]
fn a_server_that_stops_takes_the_backup_beside_it_along() {
    let place = Place::seeded("3000");
    let server = place.serve();
    let child = place.slow_backup();
    server.stop();
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(ended.status.code() == Some(1) && said.contains("run the command again"), "{said}");
    assert_eq!(place.files(), Vec::<PathBuf>::new());
    place.backup(&[]).expect(0);
}

#[test]
fn a_server_need_not_wait_for_a_backup_of_a_site_that_nobody_serves() {
    let place = Place::seeded("3000");
    let child = place.slow_backup();
    let server = place.serve();
    server.article(&server.general(), &server.sign_in(ADMIN), "meanwhile");
    let ended = child.wait_with_output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    place.restore(&place.the_backup()).expect(0);
    let titles = "SELECT count(*) FROM article WHERE title = 'meanwhile'";
    assert_eq!(database::number(&database::open(&place.restored()), titles), 1, "it was made again, beside the server");
    server.stop();
}

#[test]
fn a_backup_that_was_cut_or_changed_is_refused_and_leaves_nothing() {
    let place = Place::seeded("500");
    place.backup(&["--with-keys"]).expect(0);
    let bytes = std::fs::read(place.the_backup()).unwrap();
    let other = place.root.path().join("other.tar.gz");
    for cut in [0, 1, 10, 100, 1_000, bytes.len() / 2, bytes.len() - 1_000, bytes.len() - 8, bytes.len() - 1] {
        std::fs::write(&other, &bytes[..cut]).unwrap();
        let refused = place.restore(&other).expect(1).stderr;
        assert!(refused.contains("not whole") || refused.contains("not a backup"), "{cut}: {refused}");
        assert!(!place.restored().join("madang.db").exists() && !place.restored().join("keys").exists(), "{cut}");
    }
    for place_of_change in [bytes.len() / 3, bytes.len() / 2, bytes.len() - 300, bytes.len() - 6] {
        let mut changed = bytes.clone();
        changed[place_of_change] ^= 0x10;
        std::fs::write(&other, changed).unwrap();
        let refused = place.restore(&other).expect(1).stderr;
        assert!(
            refused.contains("damaged") || refused.contains("not whole") || refused.contains("not a backup"),
            "{refused}"
        );
        assert!(!place.restored().join("madang.db").exists());
    }
    std::fs::write(&other, "a letter to somebody").unwrap();
    assert!(place.restore(&other).expect(1).stderr.contains("not a backup made by madang"));
    place.restore(&place.the_backup()).expect(0);
}

#[test]
fn a_changed_archive_that_is_packed_again_is_refused_by_its_sums() {
    let place = Place::seeded("50");
    place.backup(&[]).expect(0);
    let unpacked = place.root.path().join("unpacked");
    std::fs::create_dir(&unpacked).unwrap();
    let tar = |arguments: &[&str]| {
        let ran = Command::new("tar").arg("-C").arg(&unpacked).args(arguments).status().unwrap();
        assert!(ran.success(), "{arguments:?}");
    };
    tar(&["-xzf", place.the_backup().to_str().unwrap()]);
    let sums = Command::new("sha256sum").args(["-c", "SHA256SUMS"]).current_dir(&unpacked).output().unwrap();
    assert!(sums.status.success(), "whoever unpacks it by hand can compare: {sums:?}");
    let mut database = std::fs::read(unpacked.join("madang.db")).unwrap();
    let middle = database.len() / 2;
    database[middle] ^= 1;
    std::fs::write(unpacked.join("madang.db"), database).unwrap();
    let again = place.root.path().join("again.tar.gz");
    tar(&["-czf", again.to_str().unwrap(), "manifest.json", "madang.db", "SHA256SUMS"]);
    let refused = place.restore(&again).expect(1);
    assert!(refused.stderr.contains("check sum"), "{refused:?}");
    tar(&["-czf", again.to_str().unwrap(), "manifest.json", "madang.db"]);
    assert!(place.restore(&again).expect(1).stderr.contains("not whole"));
}

#[test]
fn a_restore_refuses_a_directory_that_is_in_use_or_holds_anything() {
    let place = Place::seeded("50");
    place.backup(&[]).expect(0);
    let backup = place.the_backup();
    let from = ["restore", "--from", backup.to_str().unwrap()];
    let refused = run(&place.data(), &from, "").expect(1);
    assert!(refused.stderr.contains("is not empty"), "{refused:?}");
    let server = place.serve();
    let refused = run(&place.data(), &from, "").expect(1);
    assert!(refused.stderr.contains("is in use by process"), "{refused:?}");
    server.stop();
    let full = place.root.path().join("papers");
    std::fs::create_dir(&full).unwrap();
    std::fs::write(full.join("letter"), "mine").unwrap();
    std::fs::set_permissions(full.join("letter"), Permissions::from_mode(0o644)).unwrap();
    let refused = run(&full, &from, "").expect(1);
    assert!(refused.stderr.contains("is not empty (it holds letter)"), "{refused:?}");
    assert_eq!((mode(&full.join("letter")), full.read_dir().unwrap().count()), (0o644, 1), "nothing was touched");
}

#[test]
fn retention_removes_the_oldest_of_its_own_and_nothing_else() {
    let place = Place::seeded("50");
    place.backup(&[]).expect(0);
    let first = place.the_backup();
    let others = ["madang-notes.txt", "madang-00000000-20200101T000000Z.tar.gz", "a copy of mine.tar.gz"];
    for name in others {
        std::fs::copy(&first, place.backups().join(name)).unwrap();
    }
    let name = first.file_name().unwrap().to_str().unwrap();
    // Of this site by its name, and somebody's own file by its contents.
    let copy = place.backups().join(format!("{}20200101T000000Z.tar.gz", &name[..name.len() - 23]));
    std::fs::copy(&first, &copy).unwrap();
    for _ in 0..3 {
        let began = this_second();
        eventually("the next second", || (this_second() != began).then_some(()));
        place.backup(&["--keep", "2"]).expect(0);
    }
    assert!(!first.exists() && copy.exists());
    assert!(others.iter().all(|name| place.backups().join(name).exists()));
    assert_eq!(place.files().len(), others.len() + 1 + 2, "{:?}", place.files());
}

/// Names carry the second.
fn this_second() -> u64 {
    std::time::UNIX_EPOCH.elapsed().unwrap().as_secs()
}

#[test]
fn backups_go_on_by_the_clock_until_they_are_stopped() {
    let place = Place::seeded("50");
    let mut command = Command::new(madang());
    clean(&mut command).args(["backup", "--every", "1s", "--keep", "2", "--to"]).arg(place.backups());
    command.arg("--data").arg(place.data()).stdin(Stdio::null()).stdout(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut seen = HashSet::new();
    eventually("four backups were made", || {
        seen.extend(place.whole());
        (seen.len() >= 4).then_some(())
    });
    let told = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(told.success() && child.wait().unwrap().success());
    assert!((2..=3).contains(&place.whole().len()), "{:?}", place.whole());
    place.restore(place.whole().last().unwrap()).expect(0);
}

#[test]
fn a_full_disk_is_told_and_nothing_is_kept() {
    let place = Place::seeded("2000");
    std::fs::create_dir(place.backups()).unwrap();
    let mut command = Command::new("unshare");
    clean(&mut command).args(["--user", "--map-root-user", "--mount", "sh", "-ec"]).arg(format!(
        "mount -t tmpfs -o size=64k none {to}; {madang} backup --to {to}/ --data {data} && exit 9; ls -A {to} | wc -l",
        to = place.backups().display(),
        data = place.data().display(),
        madang = madang(),
    ));
    let ended = command.output().expect("unshare runs");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(said.contains("is full: nothing was kept of the backup"), "{said}");
    assert_eq!(String::from_utf8_lossy(&ended.stdout).trim(), "0", "{said}");
}

#[test]
fn a_backup_never_replaces_a_file() {
    let place = Place::seeded("10");
    let file = place.root.path().join("mine.tar.gz");
    std::fs::write(&file, "mine").unwrap();
    let refused = run(&place.data(), &["backup", "--to", file.to_str().unwrap()], "").expect(1);
    assert!(refused.stderr.contains("exists already"), "{refused:?}");
    assert_eq!(std::fs::read(&file).unwrap(), b"mine");
    let new = place.root.path().join("new.tar.gz");
    run(&place.data(), &["backup", "--to", new.to_str().unwrap()], "").expect(0);
    place.restore(&new).expect(0);
}

/// The promise is 3 ×; a machine that runs other tests at the same time gets some room on top.
#[test]
fn writes_beside_a_backup_take_hardly_longer() {
    let place = Place::seeded("20000");
    let server = place.serve();
    let acknowledged = Mutex::new(HashSet::new());
    let p99 = |mut took: Vec<Duration>| {
        took.sort_unstable();
        took[took.len() * 99 / 100]
    };
    let run_for = Duration::from_secs(4);
    let (_, alone) = under_load(&server, &acknowledged, || {
        let began = Instant::now();
        eventually("the run is over", || (began.elapsed() >= run_for).then_some(()));
    });
    let (backups, beside) = under_load(&server, &acknowledged, || {
        let began = Instant::now();
        let mut backups = 0;
        while began.elapsed() < run_for {
            let to = place.root.path().join(format!("{backups}.tar.gz"));
            run(&place.data(), &["backup", "--to", to.to_str().unwrap()], "").expect(0);
            backups += 1;
        }
        backups
    });
    let counts = (alone.len(), beside.len());
    let (alone, beside) = (p99(alone), p99(beside));
    println!("p99 alone {alone:?}, beside {backups} backups {beside:?}; writes {counts:?}");
    assert!(beside < alone * 3 + Duration::from_millis(100), "alone {alone:?}, beside a backup {beside:?}");
    server.stop();
}
