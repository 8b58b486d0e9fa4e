//! What a run is measured on: the commit and the machine, as far as the system tells.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The repository that this program was built from.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// The commit of the sources, and whether they differ from it.
pub(crate) fn commit() -> String {
    let git = |args: &[&str]| {
        let output = Command::new("git").args(args).current_dir(root()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let Some(commit) = git(&["rev-parse", "--short", "HEAD"]) else { return "unknown".to_owned() };
    // The page that is about to be written is no change of what was measured.
    let changed =
        git(&["status", "--porcelain", "--", ":/", ":(top,exclude)docs/lab.md", ":(top,exclude)docs/pictures"]);
    if changed.is_some_and(|changed| !changed.is_empty()) { format!("{commit}, with changes") } else { commit }
}

/// Cores, processor and kernel, and whether this is a debug build.
pub(super) fn machine() -> String {
    let read = |file: &str| std::fs::read_to_string(file).unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let info = read("/proc/cpuinfo");
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let model = model.map_or("processor unknown", |(_, model)| model.trim());
    let system = [read("/proc/sys/kernel/ostype"), read("/proc/sys/kernel/osrelease")];
    let system = system.map(|part| part.trim().to_owned()).join(" ");
    let build = if cfg!(debug_assertions) { ", debug build" } else { "" };
    format!("{cores} cores ({model}), {system}{build}")
}
