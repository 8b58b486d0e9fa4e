//! What Prometheus expects every process to tell of itself, under the names that dashboards know. Read from `/proc` when
//! somebody asks; on a system without it nothing is told.

use std::fs;

use rustix::process::{Resource, getrlimit};

/// Ticks of a second in `/proc`: fixed by the interface between Linux and programs, whatever the kernel counts by.
const TICKS_PER_S: u64 = 100;
/// Fields of `/proc/self/stat` after the name, which is in brackets and may hold anything: state is the first.
const USER_TICKS: usize = 11;
const SYSTEM_TICKS: usize = 12;
const START_TICKS: usize = 19;

/// Shows the figures of this process as they are now.
pub(super) fn show() {
    if let Some(stat) = fs::read_to_string("/proc/self/stat").ok().as_deref().and_then(Stat::read) {
        metrics::counter!("process_cpu_seconds_total").absolute(stat.cpu_s());
        if let Some(booted_s) = field_of("/proc/stat", "btime ") {
            metrics::gauge!("process_start_time_seconds").set((booted_s + stat.started_s()) as f64);
        }
    }
    let status = [
        ("process_resident_memory_bytes", "VmRSS:", 1_024),
        ("process_virtual_memory_bytes", "VmSize:", 1_024),
        ("process_threads", "Threads:", 1),
    ];
    for (name, field, unit) in status {
        if let Some(value) = field_of("/proc/self/status", field) {
            metrics::gauge!(name).set((value * unit) as f64);
        }
    }
    if let Ok(open) = fs::read_dir("/proc/self/fd") {
        metrics::gauge!("process_open_fds").set(open.count() as f64);
    }
    if let Some(max) = getrlimit(Resource::Nofile).current {
        metrics::gauge!("process_max_fds").set(max as f64);
    }
}

/// Ticks since the system booted, and of the processor.
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    busy_ticks: u64,
    start_ticks: u64,
}

impl Stat {
    fn read(text: &str) -> Option<Self> {
        let (_, after_name) = text.rsplit_once(") ")?;
        let fields: Vec<&str> = after_name.split(' ').collect();
        let ticks = |place: usize| fields.get(place)?.parse::<u64>().ok();
        Some(Self { busy_ticks: ticks(USER_TICKS)? + ticks(SYSTEM_TICKS)?, start_ticks: ticks(START_TICKS)? })
    }

    fn cpu_s(&self) -> u64 {
        self.busy_ticks / TICKS_PER_S
    }

    fn started_s(&self) -> u64 {
        self.start_ticks / TICKS_PER_S
    }
}

/// The number after a word at the beginning of a line.
fn field_of(path: &str, word: &str) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    let rest = text.lines().find_map(|line| line.strip_prefix(word))?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_and_spaces_shifts_no_field() {
        let text = "7 (a) b (c) S 1 7 7 0 -1 4194304 5 0 0 0 250 150 0 0 20 0 9 0 12300 1000 200";
        let stat = Stat::read(text).unwrap();
        assert_eq!(stat, Stat { busy_ticks: 400, start_ticks: 12_300 });
        assert_eq!((stat.cpu_s(), stat.started_s()), (4, 123));
        assert_eq!(Stat::read("7 (a) S 1"), None);
    }
}
