//! The scratch directory of a stack: where it is by default, that it is ours, and that one command at a time works in it.

use std::fs::{DirBuilder, File, TryLockError};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::{secret, state};
use crate::workspace;

/// The file that a command holds locked while it changes the stack.
const LOCK: &str = "lock";

/// A scratch directory that this command has for itself.
pub(crate) struct Place {
    dir: PathBuf,
    /// Released when dropped.
    _lock: File,
}

/// Where the stack of this checkout lives unless `--dir` says otherwise.
///
/// Under the system's temporary directory, because servers that run as another user must be able to reach it; named
/// after the user and the checkout, so that several of each get along.
pub(crate) fn default_dir() -> PathBuf {
    let root = workspace::root();
    let root = root.canonicalize().unwrap_or(root);
    let name = format!("madang-stack-{}-{:08x}", user_id(), digest(root.as_os_str().as_encoded_bytes()));
    std::env::temp_dir().join(name)
}

/// A directory of its own for one run of the tests.
pub(crate) fn test_dir() -> Result<PathBuf> {
    let name = u32::from_le_bytes(secret::random()?);
    Ok(std::env::temp_dir().join(format!("madang-test-{}-{name:08x}", user_id())))
}

/// Who runs this.
pub(crate) fn user_id() -> u32 {
    rustix::process::getuid().as_raw()
}

/// FNV-1a, because the standard library's hashes may differ between its versions.
fn digest(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

impl Place {
    /// Takes the directory for a new stack or for the one in it; refuses one that holds anything else.
    pub(crate) fn take(dir: &Path) -> Result<Self> {
        let existed = dir.exists();
        if !existed {
            // Others may pass through to what belongs to them, and read nothing of the rest.
            let made = DirBuilder::new().recursive(true).mode(0o711).create(dir);
            made.with_context(|| format!("could not make {}", dir.display()))?;
        }
        is_ours(dir)?;
        let dir = dir.canonicalize().with_context(|| format!("could not find {}", dir.display()))?;
        let holds_a_stack = dir.join(state::FILE).exists() || dir.join(LOCK).exists();
        if existed && !holds_a_stack && std::fs::read_dir(&dir)?.next().is_some() {
            bail!("{} holds something that is not a stack: name a directory that is empty or not there", dir.display());
        }
        let lock = File::create(dir.join(LOCK))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { dir, _lock: lock }),
            Err(TryLockError::WouldBlock) => bail!("another `cargo xtask stack` is at work in {}", dir.display()),
            Err(TryLockError::Error(error)) => Err(error).context("could not lock the scratch directory"),
        }
    }

    /// The directory, as an absolute path.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Removes the directory with everything in it.
    pub(crate) fn remove(self) -> Result<()> {
        std::fs::remove_dir_all(&self.dir).with_context(|| format!("could not remove {}", self.dir.display()))
    }
}

/// A directory in a place that others can write to may have been put there by somebody else.
fn is_ours(dir: &Path) -> Result<()> {
    let about = std::fs::symlink_metadata(dir).with_context(|| format!("could not look at {}", dir.display()))?;
    if !about.is_dir() || about.uid() != user_id() {
        bail!("{} is not a directory of yours: name another one with --dir", dir.display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_serves_one_command_at_a_time_and_goes_as_a_whole() {
        let dir = test_dir().unwrap();
        let place = Place::take(&dir).unwrap();
        let error = Place::take(&dir).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("at work"), "{error}");
        drop(place);
        let place = Place::take(&dir).unwrap();
        std::fs::write(place.dir().join("log"), "text").unwrap();
        place.remove().unwrap();
        assert!(!dir.exists());
    }

    #[test]
    fn a_directory_with_other_things_in_it_is_refused() {
        let dir = test_dir().unwrap();
        std::fs::create_dir(&dir).unwrap();
        std::fs::write(dir.join("thesis.tex"), "years of work").unwrap();
        let error = Place::take(&dir).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("not a stack"), "{error}");
        std::fs::remove_dir_all(&dir).unwrap();
        Place::take(&dir).unwrap().remove().unwrap();
    }

    #[test]
    fn a_link_is_not_followed() {
        let target = test_dir().unwrap();
        let link = test_dir().unwrap();
        std::fs::create_dir(&target).unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        let error = Place::take(&link).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("not a directory of yours"), "{error}");
        std::fs::remove_file(link).unwrap();
        std::fs::remove_dir(target).unwrap();
    }

    #[test]
    fn the_digest_is_the_published_one() {
        assert_eq!(digest(b""), 0x811c_9dc5);
        assert_eq!(digest(b"foobar"), 0xbf9c_f968);
    }
}
