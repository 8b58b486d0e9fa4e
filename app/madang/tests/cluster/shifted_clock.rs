//! A wall clock that a test sets forward or back, for real programs: a library loaded before theirs adds to what the system
//! says, as much as a file says at that moment. Whatever measures durations is not touched, and who waits until a moment of
//! the shifted clock waits as long as they mean to.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

/// Preloaded: the ways in which programs ask for the time, and those in which they wait until one.
const SOURCE: &str = include_str!("shifted_clock.c");

/// The clock of whoever is started with its variables.
pub(crate) struct ShiftedClock {
    directory: tempfile::TempDir,
}

impl ShiftedClock {
    /// One that says what the system says, until it is set.
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        // Servers of a test run as users of their own.
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(directory.path(), open).expect("permissions");
        let clock = Self { directory };
        std::fs::write(clock.path("clock.c"), SOURCE).expect("a source");
        let made = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .args([clock.path("clock.so"), clock.path("clock.c")])
            .arg("-ldl")
            .status();
        assert!(made.expect("a C compiler, which the build needs too").success(), "the library is made");
        clock.set(0);
        clock
    }

    /// So many seconds ahead of the system from now on, or behind it.
    pub(crate) fn set(&self, seconds: i64) {
        // Exchanged as a whole: nobody reads half of it.
        std::fs::write(self.path("next"), seconds.to_string()).expect("writes");
        std::fs::rename(self.path("next"), self.path("shift")).expect("renames");
    }

    /// What a program is started with.
    pub(crate) fn variables(&self) -> [(&'static str, String); 2] {
        let text = |path: PathBuf| path.to_str().expect("a plain path").to_owned();
        [("LD_PRELOAD", text(self.path("clock.so"))), ("SHIFTED_CLOCK_FILE", text(self.path("shift")))]
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }
}
