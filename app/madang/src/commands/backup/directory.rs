//! Where backups are: their names, the file that one is written to before it has its name, and which of them are too many.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use flate2::read::GzDecoder;
use jiff::Timestamp;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use super::manifest::{MANIFEST, Manifest};

const DIRECTORY_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;
const SUFFIX: &str = ".tar.gz";
/// What a backup is called until it is whole.
const PARTIAL: &str = ".partial";
/// A directory in which a backup is looked at.
const VERIFYING: &str = ".verifying";
/// Characters of a site's mark in names.
const SITE_SHOWN: usize = 8;
/// A manifest is far shorter.
const MANIFEST_MAX_BYTES: u64 = 64 * 1_024;

/// Where backups of a site go.
pub(super) enum Destination {
    /// Into a directory, each under a name of its own.
    Directory(PathBuf),
    /// To a file.
    File(PathBuf),
}

impl Destination {
    /// What the operator meant: a directory if there is one, or if it is written as one.
    pub(super) fn of(to: &Path, repeats: bool) -> anyhow::Result<Self> {
        let written_as_directory = to.as_os_str().as_encoded_bytes().ends_with(b"/");
        let is_archive = to.to_string_lossy().ends_with(".gz");
        if to.is_dir() || written_as_directory || (repeats && !is_archive) {
            let made = DirBuilder::new().recursive(true).mode(DIRECTORY_MODE).create(to);
            made.with_context(|| format!("cannot create the directory {}", to.display()))?;
            return Ok(Self::Directory(to.to_owned()));
        }
        if repeats {
            bail!("--every and --keep need a directory to put backups into, and {} is a file", to.display());
        }
        if to.symlink_metadata().is_ok() {
            bail!("{} exists already, and a backup never replaces a file: name another", to.display());
        }
        Ok(Self::File(to.to_owned()))
    }

    /// The directory that holds the file.
    pub(super) fn directory(&self) -> &Path {
        match self {
            Self::Directory(directory) => directory,
            Self::File(file) => file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new(".")),
        }
    }

    /// The name of a backup that is begun now.
    pub(super) fn name(&self, site: &str, now: Timestamp) -> String {
        match self {
            Self::Directory(_) => format!("{}{}{SUFFIX}", prefix(site), now.strftime("%Y%m%dT%H%M%SZ")),
            Self::File(file) => file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        }
    }

    /// The backups of a site in the directory, oldest first: only files that say of themselves that this site made them
    /// under this name.
    pub(super) fn backups_of(&self, site: &str) -> anyhow::Result<Vec<(PathBuf, Timestamp)>> {
        let mut found = Vec::new();
        for (name, path) in names_in(self.directory())? {
            if !name.starts_with(&prefix(site)) || !name.ends_with(SUFFIX) {
                continue;
            }
            let made_here = manifest_of(&path).ok().filter(|made| made.site == site && made.name == name);
            if let Some(begun_at) = made_here.and_then(|made| made.begun_at.parse().ok()) {
                found.push((path, begun_at));
            }
        }
        found.sort_unstable_by_key(|(_, begun_at)| *begun_at);
        Ok(found)
    }

    /// Removes what an interrupted run of this site left: nobody holds the lock of a file that nobody writes.
    pub(super) fn remove_leftovers(&self, site: &str) -> anyhow::Result<()> {
        for (name, path) in names_in(self.directory())? {
            let ours = name.strip_prefix('.').is_some_and(|name| name.starts_with(&prefix(site)));
            let is_free = |path: &Path| File::open(path).is_ok_and(|file| file.try_lock().is_ok());
            if ours && name.ends_with(PARTIAL) && is_free(&path) {
                std::fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
            }
            if ours && name.ends_with(VERIFYING) && is_free(&path) {
                std::fs::remove_dir_all(&path).with_context(|| format!("cannot remove {}", path.display()))?;
            }
        }
        Ok(())
    }
}

/// A backup that is being written; removed unless it gets its name.
pub(super) struct Partial {
    file: File,
    path: PathBuf,
    named: PathBuf,
    is_named: bool,
}

impl Partial {
    /// Begins a file beside the one it is to become.
    pub(super) fn begin(directory: &Path, site: &str, name: &str) -> anyhow::Result<Self> {
        let named = directory.join(name);
        let own = name.strip_prefix(&prefix(site)).unwrap_or(name);
        let path = directory.join(format!(".{}{own}{PARTIAL}", prefix(site)));
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(FILE_MODE).open(&path);
        let file = file.with_context(|| format!("cannot write to {}", directory.display()))?;
        let partial = Self { file, path, named, is_named: false };
        partial.file.try_lock().with_context(|| format!("cannot lock {}", partial.path.display()))?;
        Ok(partial)
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// A directory beside it, for its contents.
    pub(super) fn directory_beside(&self) -> PathBuf {
        self.path.with_extension(&VERIFYING[1..])
    }

    /// Gives it its name, which no other file has.
    pub(super) fn into_named(mut self) -> anyhow::Result<PathBuf> {
        let named = self.named.clone();
        rename_to_new(&self.path, &named).with_context(|| format!("cannot name the backup {}", named.display()))?;
        self.is_named = true;
        let parent = named.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        File::open(parent)?.sync_all()?;
        Ok(named)
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.is_named {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn rename_to_new(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // Not every file system can do both at once.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => match to.symlink_metadata() {
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => std::fs::rename(from, to),
        },
        outcome => outcome.map_err(io::Error::from),
    }
}

fn prefix(site: &str) -> String {
    format!("madang-{}-", &site[..site.len().min(SITE_SHOWN)])
}

fn names_in(directory: &Path) -> anyhow::Result<Vec<(String, PathBuf)>> {
    let cannot = || format!("cannot read the directory {}", directory.display());
    let mut names = Vec::new();
    for entry in directory.read_dir().with_context(cannot)? {
        let entry = entry.with_context(cannot)?;
        names.extend(entry.file_name().into_string().ok().map(|name| (name, entry.path())));
    }
    Ok(names)
}

/// What a file says about itself, if it is a backup.
fn manifest_of(path: &Path) -> anyhow::Result<Manifest> {
    let mut archive = tar::Archive::new(GzDecoder::new(File::open(path)?));
    let Some(entry) = archive.entries()?.next() else { bail!("nothing in it") };
    let entry = entry?;
    if entry.path_bytes() != MANIFEST.as_bytes() {
        bail!("no manifest in it");
    }
    Ok(serde_json::from_reader(entry.take(MANIFEST_MAX_BYTES))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SITE: &str = "0123456789abcdef0123456789abcdef";

    fn begin(directory: &Path, name: &str) -> Partial {
        Partial::begin(directory, SITE, name).unwrap()
    }

    #[test]
    fn a_backup_that_is_not_named_leaves_nothing_and_one_that_is_replaces_nothing() {
        let directory = tempfile::tempdir().unwrap();
        drop(begin(directory.path(), "a.tar.gz"));
        assert_eq!(names_in(directory.path()).unwrap().len(), 0);
        begin(directory.path(), "a.tar.gz").into_named().unwrap();
        std::fs::write(directory.path().join("a.tar.gz"), "kept").unwrap();
        assert!(begin(directory.path(), "a.tar.gz").into_named().is_err());
        assert_eq!(std::fs::read(directory.path().join("a.tar.gz")).unwrap(), b"kept");
        assert_eq!(names_in(directory.path()).unwrap().len(), 1);
    }

    #[test]
    fn what_a_killed_run_left_is_removed_and_what_another_writes_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let destination = Destination::of(directory.path(), false).unwrap();
        let running = begin(directory.path(), "b.tar.gz");
        let left = directory.path().join(".madang-01234567-c.tar.gz.partial");
        let other = directory.path().join(".madang-76543210-c.tar.gz.partial");
        for path in [&left, &other] {
            std::fs::write(path, "").unwrap();
        }
        destination.remove_leftovers(SITE).unwrap();
        assert_eq!([left.exists(), other.exists(), running.path().exists()], [false, true, true]);
    }

    #[test]
    fn only_what_says_it_is_ours_counts_as_a_backup() {
        let directory = tempfile::tempdir().unwrap();
        let destination = Destination::of(directory.path(), true).unwrap();
        let now: Timestamp = "2026-11-18T01:02:03Z".parse().unwrap();
        let name = destination.name(SITE, now);
        assert_eq!(name, "madang-01234567-20261118T010203Z.tar.gz");
        std::fs::write(directory.path().join(&name), "somebody's own file").unwrap();
        assert_eq!(destination.backups_of(SITE).unwrap().len(), 0);
    }

    #[test]
    fn what_is_meant_by_a_path() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        assert!(matches!(Destination::of(&path("new/"), false).unwrap(), Destination::Directory(_)));
        assert!(matches!(Destination::of(&path("hourly"), true).unwrap(), Destination::Directory(_)));
        assert!(matches!(Destination::of(&path("one.tar.gz"), false).unwrap(), Destination::File(_)));
        assert!(Destination::of(&path("one.tar.gz"), true).is_err());
        std::fs::write(path("there"), "").unwrap();
        assert!(Destination::of(&path("there"), false).is_err());
    }
}
