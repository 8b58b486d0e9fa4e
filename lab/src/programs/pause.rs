//! Pause points: named places between two steps at which a request stands still until the runner lets it go on, as it does in a
//! process that is preempted, pages, or collects its heap. With one a race is met on purpose instead of by luck.
//!
//! Armed through the environment: `LAB_PAUSE=/some/folder`. A request about account 7 is held at its point for as long as the
//! folder has a file `after-load-before-fill.7`; that it has come there is said by a file `after-load-before-fill.7.held`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::domain::AccountId;

/// The folder by which requests are held.
pub const PAUSE: &str = "LAB_PAUSE";
/// No request is held for longer, whatever became of the runner.
const HELD_MAX: Duration = Duration::from_secs(90);
/// Between two looks whether it may go on.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// A place between two steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PausePoint {
    /// A reader has loaded from the database what it will fill the cache with.
    AfterLoadBeforeFill,
}

impl PausePoint {
    fn name(self) -> &'static str {
        match self {
            Self::AfterLoadBeforeFill => "after-load-before-fill",
        }
    }

    fn file(self, dir: &Path, account: AccountId) -> PathBuf {
        dir.join(format!("{}.{account}", self.name()))
    }
}

/// The points of a process; most of the time none is armed.
#[derive(Debug, Clone, Default)]
pub struct PausePoints(Option<PathBuf>);

impl PausePoints {
    /// What the environment arms.
    #[must_use]
    pub fn from_environment() -> Self {
        Self(std::env::var_os(PAUSE).map(PathBuf::from))
    }

    /// Stands still here for as long as the account is held.
    pub async fn pass(&self, point: PausePoint, account: AccountId) {
        let Some(dir) = &self.0 else { return };
        let file = point.file(dir, account);
        if !file.exists() {
            return;
        }
        // What cannot be said is noticed by the runner, which waits for it.
        let _ = std::fs::write(file.with_extension(format!("{account}.held")), "");
        let until = Instant::now() + HELD_MAX;
        while file.exists() && Instant::now() < until {
            sleep(LOOK_EVERY).await;
        }
    }
}

/// The runner's side: holds requests of some accounts at a point.
pub struct Holds<'a> {
    dir: &'a Path,
    point: PausePoint,
}

impl<'a> Holds<'a> {
    /// Holds nothing yet.
    #[must_use]
    pub fn new(dir: &'a Path, point: PausePoint) -> Self {
        Self { dir, point }
    }

    /// Holds the next request about an account, and all until it is released.
    pub fn hold(&self, account: AccountId) -> std::io::Result<()> {
        std::fs::write(self.point.file(self.dir, account), "")
    }

    /// Whether a request about an account has come to its point.
    #[must_use]
    pub fn is_held(&self, account: AccountId) -> bool {
        self.point.file(self.dir, account).with_extension(format!("{account}.held")).exists()
    }

    /// Lets requests about an account go on.
    pub fn release(&self, account: AccountId) -> std::io::Result<()> {
        std::fs::remove_file(self.point.file(self.dir, account))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_request_is_held_at_its_point_until_it_is_released_and_others_pass() {
        let dir = tempfile::tempdir().unwrap();
        let points = PausePoints(Some(dir.path().to_owned()));
        let [held, free] = [7, 77].map(|number| AccountId::new(number).unwrap());
        let holds = Holds::new(dir.path(), PausePoint::AfterLoadBeforeFill);
        holds.hold(held).unwrap();
        points.pass(PausePoint::AfterLoadBeforeFill, free).await;
        let mut passing = std::pin::pin!(points.pass(PausePoint::AfterLoadBeforeFill, held));
        tokio::select! {
            () = &mut passing => panic!("it was not held"),
            () = async { while !holds.is_held(held) { sleep(LOOK_EVERY).await } } => {}
        }
        assert!(!holds.is_held(free));
        holds.release(held).unwrap();
        passing.await;
    }
}
