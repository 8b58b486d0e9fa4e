//! The data directory and the lock on it: one process at a time, and a second one learns who the first is. It is its
//! owner's alone, and so is every file in it: passwords' hashes and the keys of sessions are among them.

use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::Mode;

const LOCK_FILE: &str = "madang.lock";
const DIRECTORY_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;
/// What others than the owner may.
const OTHERS: u32 = 0o077;
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
    #[error("there is no data directory {}: `madang serve` creates it; name another with --data", path.display())]
    Absent {
        /// The directory.
        path: PathBuf,
    },
    /// Something else has its name.
    #[error("{} is not a directory: name one for the data with --data", path.display())]
    NotADirectory {
        /// What is there.
        path: PathBuf,
    },
    /// Others than its owner may look into it, or write to it.
    #[error(
        "other users can open the data directory {0} (mode {mode:03o}), which holds passwords and keys: run `chmod 700 {0}` and start again",
        path.display()
    )]
    Open {
        /// The directory.
        path: PathBuf,
        /// What it allows.
        mode: u32,
    },
    /// The file system refused.
    #[error("cannot use the data directory {}", path.display())]
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
        if path.exists() {
            return Self::take_existing(path, purpose);
        }
        let made = DirBuilder::new().recursive(true).mode(DIRECTORY_MODE).create(path);
        made.map_err(|source| DataDirectoryError::Unusable { path: path.to_owned(), source })?;
        Self::take_existing(path, purpose)
    }

    /// Takes a directory that must be there already.
    pub(crate) fn take_existing(path: &Path, purpose: &str) -> Result<Self, DataDirectoryError> {
        let unusable = |source| DataDirectoryError::Unusable { path: path.to_owned(), source };
        if !path.exists() {
            return Err(DataDirectoryError::Absent { path: path.to_owned() });
        }
        if !path.is_dir() {
            return Err(DataDirectoryError::NotADirectory { path: path.to_owned() });
        }
        let mode = path.metadata().map_err(unusable)?.permissions().mode() & 0o777;
        if mode & OTHERS != 0 {
            return Err(DataDirectoryError::Open { path: path.to_owned(), mode });
        }
        // Whatever this process makes from now on is its owner's: the database makes files of its own accord.
        rustix::process::umask(Mode::RWXG | Mode::RWXO);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(FILE_MODE);
        let mut lock = options.open(path.join(LOCK_FILE)).map_err(unusable)?;
        own_like(path, &path.join(LOCK_FILE)).map_err(unusable)?;
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
        close_files(path).map_err(unusable)?;
        Ok(Self { path: path.to_owned(), _lock: lock })
    }

    /// Gives the directory back and tells how it was last taken: whoever wants it need not wait for somebody who only reads
    /// and can tell afterwards whether anybody came.
    pub(crate) fn into_last_taken(self) -> Result<LastTaken, DataDirectoryError> {
        last_taken(&self.path)
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Gives what root has just made to the owner of the site: root may run any command on it, and the site must start afterwards.
pub(crate) fn own_like(directory: &Path, made: &Path) -> io::Result<()> {
    let (owner, ours) = (directory.metadata()?, made.metadata()?);
    let differs = (owner.uid(), owner.gid()) != (ours.uid(), ours.gid());
    if differs && rustix::process::geteuid().is_root() {
        chown(made, Some(owner.uid()), Some(owner.gid()))?;
    }
    Ok(())
}

/// How a directory was last taken: different after every time.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LastTaken {
    line: String,
    modified: SystemTime,
}

/// How a directory was last taken. Whoever takes it writes this down before they touch anything else.
pub(crate) fn last_taken(directory: &Path) -> Result<LastTaken, DataDirectoryError> {
    let lock = directory.join(LOCK_FILE);
    let read =
        std::fs::read_to_string(&lock).and_then(|line| Ok(LastTaken { line, modified: lock.metadata()?.modified()? }));
    read.map_err(|source| DataDirectoryError::Unusable { path: directory.to_owned(), source })
}

/// Takes from others what a version before this one, or a copy, has left to them.
fn close_files(directory: &Path) -> io::Result<()> {
    for entry in directory.read_dir()? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        if metadata.is_file() && metadata.permissions().mode() & OTHERS != 0 {
            std::fs::set_permissions(entry.path(), Permissions::from_mode(FILE_MODE))?;
        }
    }
    Ok(())
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
    use super::*;

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_directory_that_is_open_to_others_is_refused_with_how_to_close_it() {
        let root = tempfile::tempdir().unwrap();
        for open in [0o755, 0o750, 0o701, 0o770] {
            std::fs::set_permissions(root.path(), Permissions::from_mode(open)).unwrap();
            let error = DataDirectory::take(root.path(), "serve").unwrap_err().to_string();
            assert!(error.contains(&format!("chmod 700 {}", root.path().display())), "{error}");
            assert!(error.contains(&format!("{open:o}")) && root.path().read_dir().unwrap().next().is_none());
        }
    }

    /// As an operator makes one.
    fn closed_directory() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        std::fs::set_permissions(root.path(), Permissions::from_mode(DIRECTORY_MODE)).unwrap();
        root
    }

    #[test]
    fn every_file_is_its_owners() {
        let root = closed_directory();
        let before = root.path().join("madang.db");
        std::fs::write(&before, "").unwrap();
        std::fs::set_permissions(&before, Permissions::from_mode(0o644)).unwrap();
        let _data = DataDirectory::take(root.path(), "serve").unwrap();
        let made_later = root.path().join("madang.db-wal");
        std::fs::write(&made_later, "").unwrap();
        assert_eq!([&before, &made_later, &root.path().join("madang.lock")].map(|path| mode(path)), [FILE_MODE; 3]);
    }

    #[test]
    fn a_new_directory_is_for_its_owner_only() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("a/b");
        let data = DataDirectory::take(&path, "serve").unwrap();
        assert_eq!(std::fs::metadata(data.path()).unwrap().permissions().mode() & 0o777, DIRECTORY_MODE);
    }

    #[test]
    fn a_second_taker_learns_who_the_first_is() {
        let root = closed_directory();
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
