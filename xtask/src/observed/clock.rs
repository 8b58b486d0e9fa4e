//! A wall clock that a process is started with and that can be set, by the library that the tests of the cluster use.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};

use crate::workspace;

/// The source of the library.
const SOURCE: &str = "app/madang/tests/cluster/shifted_clock.c";

/// The clock of whoever is started with its variables.
pub(crate) struct ShiftedClock {
    directory: PathBuf,
}

impl ShiftedClock {
    /// One that says what the system says, until it is set.
    pub(super) fn make(directory: &Path) -> Result<Self> {
        std::fs::create_dir_all(directory)?;
        let clock = Self { directory: directory.to_owned() };
        let mut made = Command::new("cc");
        made.args(["-shared", "-fPIC", "-O1", "-o"]).arg(clock.path("clock.so"));
        ensure!(made.arg(workspace::root().join(SOURCE)).arg("-ldl").status()?.success(), "no clock could be made");
        clock.set(0)?;
        Ok(clock)
    }

    /// So many seconds ahead of the system from now on, or behind it.
    pub(crate) fn set(&self, seconds: i64) -> Result<()> {
        // Exchanged as a whole: nobody reads half of it.
        std::fs::write(self.path("next"), seconds.to_string())?;
        Ok(std::fs::rename(self.path("next"), self.path("shift"))?)
    }

    /// What a program is started with.
    pub(super) fn variables(&self) -> [(&'static str, String); 2] {
        let text = |name: &str| self.path(name).display().to_string();
        [("LD_PRELOAD", text("clock.so")), ("SHIFTED_CLOCK_FILE", text("shift"))]
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }
}
