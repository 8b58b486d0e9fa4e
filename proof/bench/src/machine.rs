//! What a figure was measured on: the commit and the machine, as far as the system tells.

use std::path::Path;
use std::process::Command;

use serde::Serialize;

/// The circumstances of a run.
#[derive(Debug, Serialize)]
pub(crate) struct Machine {
    /// The commit of the sources, and whether they differ from it.
    pub(crate) commit: String,
    pub(crate) cores: usize,
    pub(crate) processor: String,
    pub(crate) memory: String,
    pub(crate) kernel: String,
    /// Of the folder that holds the databases.
    pub(crate) file_system: String,
}

impl Machine {
    /// This one, with the databases in `scratch`.
    pub(crate) fn here(scratch: &Path) -> Self {
        let read = |file: &str| std::fs::read_to_string(file).unwrap_or_default();
        let kib: u64 =
            value(&read("/proc/meminfo"), "MemTotal").split(' ').next().unwrap_or_default().parse().unwrap_or(0);
        Self {
            commit: commit(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            processor: known(&value(&read("/proc/cpuinfo"), "model name")),
            memory: format!("{:.1} GiB", kib as f64 / f64::from(1 << 20)),
            kernel: known(&format!(
                "{} {}",
                read("/proc/sys/kernel/ostype").trim(),
                read("/proc/sys/kernel/osrelease").trim()
            )),
            file_system: known(&file_system(&read("/proc/self/mounts"), scratch)),
        }
    }
}

impl std::fmt::Display for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { commit: _, cores, processor, memory, kernel, file_system } = self;
        write!(f, "{cores} cores ({processor}), {memory} of memory, {kernel}, databases on {file_system}")
    }
}

fn known(text: &str) -> String {
    if text.trim().is_empty() { "unknown".to_owned() } else { text.trim().to_owned() }
}

/// What follows the first `name :` of a file of the system.
fn value(text: &str, name: &str) -> String {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix(':'));
    line.unwrap_or_default().trim().to_owned()
}

/// The type of the file system that a folder lies on: that of the longest mount point above it.
fn file_system(mounts: &str, folder: &Path) -> String {
    let mounts = mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(1);
        Some((fields.next()?, fields.next()?))
    });
    let above = mounts.filter(|(point, _)| folder.starts_with(point));
    above.max_by_key(|(point, _)| point.len()).map(|(_, kind)| kind.to_owned()).unwrap_or_default()
}

fn commit() -> String {
    let git = |args: &[&str]| {
        let output = Command::new("git").args(args).current_dir(env!("CARGO_MANIFEST_DIR")).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let Some(commit) = git(&["rev-parse", "--short", "HEAD"]) else { return "unknown".to_owned() };
    // The page that is about to be written is no change of what was measured.
    let changed = git(&["status", "--porcelain", "--", ":/", ":(top,exclude)docs/benchmarks.md"]);
    if changed.is_some_and(|changed| !changed.is_empty()) { format!("{commit}, with changes") } else { commit }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_from_the_files_of_the_system() {
        assert_eq!(value("processor\t: 0\nmodel name\t: A CPU @ 2 GHz\n", "model name"), "A CPU @ 2 GHz");
        assert_eq!(value("MemTotal:        8000 kB\n", "MemTotal"), "8000 kB");
        assert_eq!(value("", "MemTotal"), "");
    }

    #[test]
    fn a_folder_lies_on_the_longest_mount_above_it() {
        let mounts = "overlay / overlay rw 0 0\n/dev/sda /data ext4 rw 0 0\ntmpfs /data/tmp tmpfs rw 0 0\n";
        assert_eq!(file_system(mounts, Path::new("/data/bench")), "ext4");
        assert_eq!(file_system(mounts, Path::new("/database")), "overlay");
    }
}
