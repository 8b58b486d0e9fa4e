//! `madang restore`: a data directory from a backup, whole or not at all.

use std::fs::{DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use rusqlite::{Connection, OpenFlags};

use super::extract::{self, Extracted, Targets};
use super::manifest::{DATABASE, Manifest};
use super::{RestoreArgs, refuse_cluster};
use crate::config::Settings;
use crate::config::data_directory::DataDirectory;

const KEYS_MODE: u32 = 0o700;
const KEY_MODE: u32 = 0o600;
/// What the database is called until it is whole: a server does not take it for one.
const RESTORING: &str = "madang.db.restoring";
/// What may be in a directory that is restored to: the lock, and what an interrupted run left.
const OURS: [&str; 4] = ["madang.lock", RESTORING, "madang.db.restoring-wal", "madang.db.restoring-shm"];

/// Restores a backup into the data directory, which must be new or empty.
pub(crate) fn restore(args: &RestoreArgs, settings: &Settings) -> anyhow::Result<u8> {
    refuse_cluster(settings)?;
    let directory = &settings.data;
    if !args.from.is_file() {
        bail!("there is no file {}: name a backup with --from", args.from.display());
    }
    is_free(directory)?;
    let data = DataDirectory::take(directory, "restore")?;
    let restored = extract_into(&args.from, data.path());
    let manifest = restored.map_err(|error| super::in_words(error, directory))?;
    println!("restored {} from the backup begun at {}", directory.join(DATABASE).display(), manifest.begun_at);
    println!(
        "{}",
        match manifest.keys {
            true => "the keys were in it: sign-ins from before the backup stay valid",
            false => "the keys were not in it: new ones are made at the next start, and everybody has to sign in again",
        }
    );
    println!("`madang check --full` compares every counter with the rows it counts");
    Ok(0)
}

/// Refuses a directory that is in use, or holds anything.
fn is_free(directory: &Path) -> anyhow::Result<()> {
    let entries = match directory.read_dir() {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", directory.display())),
    };
    let names = entries.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>()?;
    if names.iter().any(|name| name == DATABASE) {
        // Says who uses it, if anybody does.
        drop(DataDirectory::take_existing(directory, "restore")?);
    }
    match names.iter().find(|name| OURS.iter().all(|ours| *name != ours)) {
        Some(name) => bail!(
            "{} is not empty (it holds {}): restore into a new directory, named by --data",
            directory.display(),
            name.display()
        ),
        None => Ok(()),
    }
}

/// Puts the files of a backup into a directory. What was written is removed again when it fails.
pub(super) fn extract_into(from: &Path, directory: &Path) -> anyhow::Result<Manifest> {
    let targets = Targets { database: directory.join(RESTORING), wal: directory.join(format!("{RESTORING}-wal")) };
    let restored = settle(from, directory, &targets);
    if restored.is_err() {
        for name in &OURS[1..] {
            let _ = std::fs::remove_file(directory.join(name));
        }
    }
    restored
}

fn settle(from: &Path, directory: &Path, targets: &Targets) -> anyhow::Result<Manifest> {
    // A log that an interrupted run left belongs to another database.
    for name in &OURS[1..] {
        let _ = std::fs::remove_file(directory.join(name));
    }
    let Extracted { manifest, keys } = extract::extract(from, targets)?;
    recover(&targets.database)?;
    if !keys.is_empty() {
        write_keys(&directory.join("keys"), &keys)?;
    }
    std::fs::rename(&targets.database, directory.join(DATABASE))?;
    File::open(directory)?.sync_all()?;
    Ok(manifest)
}

/// Has SQLite take the log into the file, as after a crash, and look at every page.
fn recover(database: &Path) -> anyhow::Result<()> {
    let cannot = || "cannot open the database in the backup";
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let file = Connection::open_with_flags(database, flags).with_context(cannot)?;
    let busy: i64 = file.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0)).with_context(cannot)?;
    let state: String = file.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).with_context(cannot)?;
    if busy != 0 || state != "ok" {
        bail!("the database in the backup is not intact ({state}): restore another one");
    }
    if let Some(found) = madang_sqlite::newer_schema(&file).with_context(cannot)? {
        bail!(
            "the backup is of a newer version of madang (schema {found}, this version knows {}): restore it with that \
             version",
            madang_sqlite::known_schema()
        );
    }
    file.close().map_err(|(_, error)| error).with_context(cannot)?;
    File::open(database)?.sync_all()?;
    Ok(())
}

fn write_keys(directory: &Path, keys: &[(String, Vec<u8>)]) -> anyhow::Result<()> {
    let cannot = || format!("cannot write the keys to {}", directory.display());
    DirBuilder::new().recursive(true).mode(KEYS_MODE).create(directory).with_context(cannot)?;
    for (name, bytes) in keys {
        let mut options = std::fs::OpenOptions::new();
        let file = options.write(true).create(true).truncate(true).mode(KEY_MODE).open(directory.join(name));
        let mut file = file.with_context(cannot)?;
        file.write_all(bytes).and_then(|()| file.sync_all()).with_context(cannot)?;
    }
    File::open(directory)?.sync_all()?;
    Ok(())
}

/// A directory that is removed with this. Its lock tells others that somebody uses it.
pub(super) struct Scratch {
    path: PathBuf,
    _lock: File,
}

impl Scratch {
    pub(super) fn make(path: PathBuf) -> anyhow::Result<Self> {
        let cannot = || format!("cannot create {}", path.display());
        DirBuilder::new().mode(KEYS_MODE).create(&path).with_context(cannot)?;
        let lock = File::open(&path).with_context(cannot)?;
        lock.try_lock().with_context(cannot)?;
        Ok(Self { path, _lock: lock })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}
