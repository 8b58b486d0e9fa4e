//! The server's part of a backup: it keeps its files fit for copying while a command beside it copies them, and says at the
//! end whether they were so all the time.
//!
//! The command holds a connection to the control socket for as long as it copies. When it goes away, the hold goes with it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, bail};
use tokio::sync::Notify;

use crate::commands::output::Output;
use crate::composition::site::{KeptFiles, Site};

/// How often the server looks whether a copy does it harm.
const LOOK: Duration = Duration::from_millis(500);

/// The copies that are under way.
#[derive(Clone, Default)]
pub(crate) struct Holds(Arc<Mutex<HashMap<u64, Arc<Hold>>>>);

struct Hold {
    files: Box<dyn KeptFiles>,
    released: Notify,
}

/// A hold under its number, forgotten with this.
struct Registered<'a> {
    holds: &'a Holds,
    number: u64,
    hold: Arc<Hold>,
}

impl Drop for Registered<'_> {
    fn drop(&mut self) {
        self.holds.lock().remove(&self.number);
    }
}

impl Holds {
    /// Keeps the files until they are released, or the command that asked is gone.
    pub(crate) async fn hold(&self, site: &Site, output: &Output) -> anyhow::Result<u8> {
        let files = site.backing.keep_files().await?;
        let hold = Arc::new(Hold { files, released: Notify::new() });
        // Nobody releases a hold by a number that somebody else was given.
        let number = rand::random();
        self.lock().insert(number, Arc::clone(&hold));
        let registered = Registered { holds: self, number, hold };
        output.held(number).await?;
        loop {
            tokio::select! {
                () = registered.hold.released.notified() => return Ok(0),
                () = tokio::time::sleep(LOOK) => {}
            }
            if let Some(problem) = registered.hold.files.problem() {
                bail!(problem);
            }
        }
    }

    /// Ends a hold; fails when the files were not fit for copying all the time.
    pub(crate) fn release(&self, number: u64) -> anyhow::Result<u8> {
        let hold = self.lock().remove(&number).context("the server did not keep its files until they were copied")?;
        let problem = hold.files.problem();
        hold.released.notify_one();
        match problem {
            None => Ok(0),
            Some(problem) => bail!(problem),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Arc<Hold>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
