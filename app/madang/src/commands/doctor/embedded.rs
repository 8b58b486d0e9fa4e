//! The data directory of an embedded site: who may read it, and the database in it. Looks from outside, so that it works
//! beside a server and without one.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use anyhow::Context as _;
use madang_kernel::{Clock as _, SystemClock};
use rusqlite::{Connection, OpenFlags};

use super::finding::Report;
use super::system;
use crate::commands::upgrade;
use crate::config::Settings;

const NEWEST_EVENT: &str =
    "SELECT coalesce(max(occurred_at), 0) FROM (SELECT occurred_at FROM event_log ORDER BY position DESC LIMIT 1)";
/// A clock that is this far behind what was written by it went back.
const CLOCK_BACK_MS: i64 = 5_000;
/// Before this nobody has issued an id: 2024-01-01.
const FIRST_ID_MS: i64 = 1_704_067_200_000;
/// A log of this size means that something keeps it from being emptied.
const LOG_LARGE_BYTES: u64 = 1 << 30;
const MB: u64 = 1_000_000;

/// Looks at everything that a site in a directory needs.
pub(super) fn look(settings: &Settings, report: &mut Report) {
    let data = &settings.data;
    if !data.is_dir() {
        report.warning(
            "data",
            format!("there is no directory {}", data.display()),
            "`madang serve` creates it; name another with --data",
        );
        return;
    }
    permissions(data, report);
    let size = |name: &str| data.join(name).metadata().map_or(0, |found| found.len());
    let (database, log) = (size(madang_sqlite::DATABASE_FILE), size("madang.db-wal"));
    system::disk(data, database, report);
    if log > LOG_LARGE_BYTES {
        report.warning(
            "database",
            format!("its write-ahead log has {} MB", log / MB),
            "a backup, or another process that reads the file, keeps it from being emptied: look for one",
        );
    }
    match inspect(data) {
        Ok(Some(file)) => database_of(&file, report),
        Ok(None) => report.ok("database", "none yet: the first start creates it"),
        Err(error) => report.problem(
            "database",
            format!("{error:#}"),
            "look at the file and its permissions; `madang restore` makes a data directory from a backup",
        ),
    }
}

/// The database file, for reading only; none where there is no site yet.
pub(in crate::commands) fn inspect(data: &Path) -> anyhow::Result<Option<Connection>> {
    let path = data.join(madang_sqlite::DATABASE_FILE);
    if !path.is_file() {
        return Ok(None);
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let file = Connection::open_with_flags(&path, flags);
    let file = file.with_context(|| format!("cannot open {}", path.display()))?;
    file.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
        .with_context(|| format!("cannot read {}", path.display()))?;
    Ok(Some(file))
}

fn permissions(data: &Path, report: &mut Report) {
    const PART: &str = "permissions";
    let before = report.findings.len();
    let user = rustix::process::geteuid().as_raw();
    let mut look_at = |path: &Path, most: u32| {
        let Ok(found) = path.symlink_metadata() else { return };
        let mode = found.permissions().mode() & 0o777;
        if mode & !most != 0 {
            report.problem(
                PART,
                format!("others can open {} (mode {mode:03o})", path.display()),
                format!("run `chmod {most:o} {}`: passwords and keys are in there", path.display()),
            );
        }
        if found.uid() != user && user != 0 {
            report.problem(
                PART,
                format!("{} belongs to user {}, and this is user {user}", path.display(), found.uid()),
                "run commands as the user of the server, or give the directory to it (chown -R)",
            );
        }
    };
    look_at(data, 0o700);
    for directory in [data.to_owned(), data.join("keys")] {
        if directory != *data {
            look_at(&directory, 0o700);
        }
        for entry in directory.read_dir().into_iter().flatten().flatten() {
            if entry.path().is_file() {
                look_at(&entry.path(), 0o600);
            }
        }
    }
    if report.findings.len() == before {
        report.ok(PART, format!("{} and what is in it are their owner's alone", data.display()));
    }
}

fn database_of(file: &Connection, report: &mut Report) {
    upgrade::judge_file(file, report);
    match file.query_row(NEWEST_EVENT, [], |row| row.get::<_, i64>(0)) {
        Ok(newest) => clock(SystemClock.now().as_millis(), newest, report),
        Err(error) => report.problem(
            "database",
            format!("its event log cannot be read: {error}"),
            "run `madang check --full`; `madang restore` makes a data directory from a backup",
        ),
    }
}

fn clock(now: i64, newest: i64, report: &mut Report) {
    const PART: &str = "clock";
    if now < FIRST_ID_MS {
        report.problem(
            PART,
            "this machine believes that it is before 2024",
            "set its clock (chrony, or another NTP client)",
        );
    } else if newest > now + CLOCK_BACK_MS {
        report.problem(
            PART,
            format!("the last event was written {} s after the time that it is now", (newest - now) / 1_000),
            "the clock went back: synchronise it (chrony, or another NTP client)",
        );
    } else {
        report.ok(PART, "not behind what was written by it");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_went_back_is_found_by_what_was_written() {
        let judged = |now, newest| {
            let mut report = Report::default();
            clock(now, newest, &mut report);
            report.exit_code()
        };
        let now = FIRST_ID_MS + 1_000_000;
        assert_eq!((judged(now, 0), judged(now, now + 1_000), judged(now, now + 60_000), judged(5, 0)), (0, 0, 1, 1));
    }
}
