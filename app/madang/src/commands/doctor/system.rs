//! What the machine gives a server: room on the disk, open files, memory.

use std::path::Path;

use rustix::process::{Resource, getrlimit};

use super::finding::Report;
use crate::config::Settings;

/// Less than this is full.
const FULL_BYTES: u64 = 1_024 * 1_024;
/// Less than this will not last.
const LITTLE_BYTES: u64 = 1_024 * 1_024 * 1_024;
/// Nor will less than this share.
const LITTLE_PERCENT: u64 = 10;
/// Files that a server has open besides its connections.
const OTHER_FILES: u64 = 256;
/// What a process needs besides the query model and password hashes.
const BASE_MB: u64 = 150;
const MB: u64 = 1_000_000;

/// File systems on which locks or the write-ahead log of SQLite are not to be relied on, or that forget.
const FILE_SYSTEMS: [(i64, &str, &str); 7] = [
    (
        0x6969,
        "NFS",
        "SQLite's locks and shared memory do not work over a network: move the data directory to a local disk",
    ),
    (
        0xff53_4d42,
        "CIFS",
        "SQLite's locks and shared memory do not work over a network: move the data directory to a local disk",
    ),
    (
        0xfe53_4d42,
        "SMB",
        "SQLite's locks and shared memory do not work over a network: move the data directory to a local disk",
    ),
    (
        0x517b,
        "SMB",
        "SQLite's locks and shared memory do not work over a network: move the data directory to a local disk",
    ),
    (
        0x0102_1997,
        "9p",
        "what is written may not be on the disk when the host says so: move the data directory to a local disk",
    ),
    (
        0x0102_1994,
        "tmpfs",
        "it is memory, and gone with the next start of the machine: move the data directory to a disk",
    ),
    (
        0x8584_58f6,
        "ramfs",
        "it is memory, and gone with the next start of the machine: move the data directory to a disk",
    ),
];

/// Room on the disk of a directory, and what kind of disk it is.
pub(super) fn disk(directory: &Path, needed: u64, report: &mut Report) {
    const PART: &str = "disk";
    let (disk, kind) = match (rustix::fs::statvfs(directory), rustix::fs::statfs(directory)) {
        (Ok(disk), Ok(kind)) => (disk, kind),
        (Err(error), _) | (_, Err(error)) => {
            return report.problem(
                PART,
                format!("the disk that holds {} cannot be asked: {error}", directory.display()),
                "look whether it is mounted",
            );
        }
    };
    if let Some((_, name, why)) = FILE_SYSTEMS.iter().find(|(magic, ..)| *magic == kind.f_type) {
        report.problem(PART, format!("{} is on {name}", directory.display()), *why);
    }
    let left = disk.f_bavail.saturating_mul(disk.f_frsize);
    let all = disk.f_blocks.saturating_mul(disk.f_frsize).max(1);
    room(directory, left, all, needed, report);
    if disk.f_files > 0 && disk.f_favail * 100 / disk.f_files < 2 {
        report.warning(
            PART,
            format!("{} of {} inodes are left", disk.f_favail, disk.f_files),
            "remove files: without one no file can be created, whatever room is left",
        );
    }
}

fn room(directory: &Path, left: u64, all: u64, needed: u64, report: &mut Report) {
    const PART: &str = "disk";
    let percent = left.saturating_mul(100) / all;
    let found = format!("{} MB ({percent} %) are left on the disk that holds {}", left / MB, directory.display());
    if left < FULL_BYTES {
        report.problem(PART, found, "free some space: nothing can be written");
    } else if left < needed {
        report.warning(
            PART,
            found,
            format!("the database has {} MB: a migration, or a restore beside it, may need as much again", needed / MB),
        );
    } else if left < LITTLE_BYTES && percent < LITTLE_PERCENT {
        report.warning(PART, found, "free some space before writes are refused");
    } else {
        report.ok(PART, found);
    }
}

/// Open files, beside the connections that are promised.
pub(super) fn files(settings: &Settings, report: &mut Report) {
    const PART: &str = "limits";
    let wanted = settings.connections_max as u64 + OTHER_FILES;
    match getrlimit(Resource::Nofile).maximum {
        Some(most) if most < wanted => report.warning(
            PART,
            format!(
                "a process may have {most} files open, and connections_max = {} needs {wanted}",
                settings.connections_max
            ),
            format!(
                "raise the limit (LimitNOFILE={wanted} in the systemd unit, or ulimit -Hn), or lower connections_max"
            ),
        ),
        Some(most) => report.ok(PART, format!("a process may have {most} files open")),
        None => report.ok(PART, "a process may have any number of files open"),
    }
}

/// Memory, beside what the settings promise to use.
pub(super) fn memory(settings: &Settings, report: &mut Report) {
    const PART: &str = "memory";
    let Some(there) = limit_of_group().into_iter().chain(memory_of_machine()).min() else {
        return report.ok(PART, "the system does not tell how much there is");
    };
    let hashes_mb = u64::from(settings.hash_memory_kib) * 1_024 * settings.hash_concurrency as u64 / MB;
    let model_mb = if settings.cluster.is_some() { 0 } else { settings.read_model_mb };
    let needed_mb = model_mb + hashes_mb + BASE_MB;
    let found = format!("{} MB, of which a server may use {needed_mb} MB by its settings", there / MB);
    if there / MB < needed_mb {
        report.warning(
            PART,
            found,
            "lower read_model_mb, or hash_concurrency: past its limit the system kills the process",
        );
    } else {
        report.ok(PART, found);
    }
}

/// All the memory of the machine.
fn memory_of_machine() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1_024)
}

/// What the control group of this process may have at most.
fn limit_of_group() -> Option<u64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let mut group = Path::new("/sys/fs/cgroup").join(own);
    let mut least = None;
    while group.starts_with("/sys/fs/cgroup") {
        let text = std::fs::read_to_string(group.join("memory.max")).unwrap_or_default();
        least = least.into_iter().chain(text.trim().parse::<u64>()).min();
        if !group.pop() {
            break;
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_judged_by_what_is_left_and_what_may_be_needed() {
        let judged = |left, all, needed| {
            let mut report = Report::default();
            room(Path::new("/data"), left, all, needed, &mut report);
            report.exit_code()
        };
        assert_eq!(judged(1_000, 100 * LITTLE_BYTES, 0), 1);
        assert_eq!(judged(LITTLE_BYTES / 2, 100 * LITTLE_BYTES, 0), 2);
        assert_eq!(judged(LITTLE_BYTES / 2, LITTLE_BYTES, 0), 0, "half of a small disk");
        assert_eq!(judged(2 * LITTLE_BYTES, 100 * LITTLE_BYTES, 3 * LITTLE_BYTES), 2);
        assert_eq!(judged(50 * LITTLE_BYTES, 100 * LITTLE_BYTES, 3 * LITTLE_BYTES), 0);
    }
}
