//! The data directory and the lock on it: one process at a time, and a second one learns who the first is.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

const DIRECTORY_MODE: u32 = 0o700;
const LOCK_MODE: u32 = 0o600;
/// A holder's description is far shorter; what is longer is not ours.
const HOLDER_MAX_BYTES: u64 = 1_024;

/// Why the data directory is not ours.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DataDirectoryError {
    /// Another process has it; ask that one, or wait.
    #[error("the data directory {} is in use by {holder}", path.display())]
    InUse {
        /// The directory.
        path: PathBuf,
        /// Who holds it.
        holder: Holder,
    },
    /// There is no such directory, and the command does not make one.
    #[error("there is no data directory {}: start with `madang serve`, or name another with --data", path.display())]
    Absent {
        /// The directory.
        path: PathBuf,
    },
    /// The file system refused.
    #[error("cannot use the data directory {}: {source}", path.display())]
    Unusable {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// Who holds the lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Holder {
    /// Its process id, if it was already written down.
    pub pid: Option<u32>,
    /// What it does: `serve`, or a command.
    pub purpose: String,
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.pid {
            Some(pid) => write!(f, "process {pid} (madang {})", self.purpose),
            None => f.write_str("another process"),
        }
    }
}

/// A data directory that is ours until this is dropped.
#[derive(Debug)]
pub(crate) struct DataDirectory {
    path: PathBuf,
    // The operating system gives the lock back when this is closed, however the process ends.
    _lock: File,
}

impl DataDirectory {
    /// Takes the directory for `purpose`, making it if it is not there.
    pub(crate) fn take(path: &Path, purpose: &str) -> Result<Self, DataDirectoryError> {
        let made = DirBuilder::new().recursive(true).mode(DIRECTORY_MODE).create(path);
        made.map_err(|source| DataDirectoryError::Unusable { path: path.to_owned(), source })?;
        Self::take_existing(path, purpose)
    }

    /// Takes a directory that must be there already.
    pub(crate) fn take_existing(path: &Path, purpose: &str) -> Result<Self, DataDirectoryError> {
        let unusable = |source| DataDirectoryError::Unusable { path: path.to_owned(), source };
        if !path.is_dir() {
            return Err(DataDirectoryError::Absent { path: path.to_owned() });
        }
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(LOCK_MODE);
        let mut lock = options.open(path.join("madang.lock")).map_err(unusable)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(DataDirectoryError::InUse { path: path.to_owned(), holder: read_holder(&mut lock) });
            }
            Err(TryLockError::Error(source)) => return Err(unusable(source)),
        }
        let line = format!("{} {purpose}\n", std::process::id());
        let written = lock.set_len(0).and_then(|()| lock.rewind()).and_then(|()| lock.write_all(line.as_bytes()));
        written.map_err(unusable)?;
        Ok(Self { path: path.to_owned(), _lock: lock })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

fn read_holder(lock: &mut File) -> Holder {
    let mut text = String::new();
    // Unreadable or half-written: we know only that somebody is there.
    let _ = lock.take(HOLDER_MAX_BYTES).read_to_string(&mut text);
    let (pid, purpose) = text.trim().split_once(' ').unwrap_or_default();
    Holder { pid: pid.parse().ok(), purpose: purpose.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_new_directory_is_for_its_owner_only() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("a/b");
        let data = DataDirectory::take(&path, "serve").unwrap();
        assert_eq!(std::fs::metadata(data.path()).unwrap().permissions().mode() & 0o777, DIRECTORY_MODE);
    }

    #[test]
    fn a_second_taker_learns_who_the_first_is() {
        let root = tempfile::tempdir().unwrap();
        let first = DataDirectory::take(root.path(), "serve").unwrap();
        match DataDirectory::take(root.path(), "seed") {
            Err(DataDirectoryError::InUse { holder, .. }) => {
                assert_eq!(holder, Holder { pid: Some(std::process::id()), purpose: "serve".to_owned() });
            }
            other => panic!("{other:?}"),
        }
        drop(first);
        DataDirectory::take(root.path(), "seed").unwrap();
    }

    #[test]
    fn a_command_that_only_looks_makes_no_directory() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("absent");
        assert!(matches!(DataDirectory::take_existing(&path, "check"), Err(DataDirectoryError::Absent { .. })));
        assert!(!path.exists());
    }
}
