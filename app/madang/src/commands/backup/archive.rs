//! Writes the files of a data directory into one archive.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use anyhow::Context as _;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};
use tar::{Builder, EntryType, Header};

use super::manifest::{DATABASE, KEYS, MANIFEST, Manifest, SUMS, WAL, sum_line};
use super::pace::{Pace, PacedFile};
use super::wal;

const FILE_MODE: u32 = 0o600;
/// Written to the disk at a time: a large heap of it would keep the commits of the server waiting.
const SYNC_EVERY_BYTES: usize = 4 * 1_024 * 1_024;
const BUFFER_BYTES: usize = 128 * 1_024;

/// How large the files are that were copied.
#[derive(Debug, Clone, Copy)]
pub(super) struct Copied {
    pub(super) database_bytes: u64,
    pub(super) wal_bytes: u64,
}

/// Copies a data directory into an archive. Nobody may start its write-ahead log anew meanwhile: the database file is
/// copied first, and the log, which has what changed in it since, after it.
pub(super) fn write(data: &Path, into: &File, manifest: &Manifest, pace: &mut Pace<'_>) -> anyhow::Result<Copied> {
    let mut archive = Archive::new(into, manifest)?;
    let path = data.join(DATABASE);
    let mut database = File::open(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let database_bytes = database.metadata()?.len();
    pace.expect_more(database_bytes);
    archive.add_file(DATABASE, &mut database, database_bytes, pace)?;

    let mut wal_bytes = 0;
    match File::open(data.join(WAL)) {
        Ok(mut log) => {
            wal_bytes = wal::used_bytes(&log).context("cannot read the write-ahead log")?;
            if wal_bytes > 0 {
                pace.expect_more(wal_bytes);
                archive.add_file(WAL, &mut log, wal_bytes, pace)?;
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error).context("cannot read the write-ahead log"),
    }
    if manifest.keys {
        archive.add_keys(data)?;
    }
    archive.finish()?;
    Ok(Copied { database_bytes, wal_bytes })
}

struct Archive<'a> {
    tar: Builder<GzEncoder<BufWriter<SyncedFile<'a>>>>,
    sums: String,
}

impl<'a> Archive<'a> {
    fn new(into: &'a File, manifest: &Manifest) -> anyhow::Result<Self> {
        let file = BufWriter::with_capacity(BUFFER_BYTES, SyncedFile { file: into, unsynced: 0 });
        let tar = Builder::new(GzEncoder::new(file, Compression::fast()));
        let mut archive = Self { tar, sums: String::new() };
        let mut text = serde_json::to_vec_pretty(manifest)?;
        text.push(b'\n');
        archive.add_bytes(MANIFEST, &text)?;
        Ok(archive)
    }

    fn add_file(&mut self, name: &str, file: &mut File, bytes: u64, pace: &mut Pace<'_>) -> anyhow::Result<()> {
        let mut paced = PacedFile::new(file, bytes, pace);
        self.append(name, bytes, &mut paced)?;
        let digest = paced.finish().with_context(|| format!("cannot copy {name}"))?;
        self.sums.push_str(&sum_line(&digest, name));
        Ok(())
    }

    fn add_bytes(&mut self, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
        self.append(name, bytes.len() as u64, bytes)?;
        self.sums.push_str(&sum_line(&Sha256::digest(bytes), name));
        Ok(())
    }

    fn add_keys(&mut self, data: &Path) -> anyhow::Result<()> {
        let directory = data.join("keys");
        let mut names = Vec::new();
        for entry in directory.read_dir().with_context(|| format!("cannot read {}", directory.display()))? {
            names.extend(entry?.file_name().into_string().ok().filter(|name| name.ends_with(".key")));
        }
        names.sort_unstable();
        for name in names {
            let path = directory.join(&name);
            let key = std::fs::read(&path).with_context(|| format!("cannot read the key {}", path.display()))?;
            self.add_bytes(&format!("{KEYS}{name}"), &key)?;
        }
        Ok(())
    }

    fn append(&mut self, name: &str, bytes: u64, content: impl Read) -> anyhow::Result<()> {
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_mode(FILE_MODE);
        header.set_size(bytes);
        self.tar.append_data(&mut header, name, content).with_context(|| format!("cannot copy {name}"))
    }

    /// Ends the archive and makes sure that it is on the disk.
    fn finish(mut self) -> anyhow::Result<()> {
        let sums = std::mem::take(&mut self.sums);
        self.append(SUMS, sums.len() as u64, sums.as_bytes())?;
        let file = self.tar.into_inner()?.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.file.sync_all()?;
        Ok(())
    }
}

/// Has the disk take what was written little by little.
struct SyncedFile<'a> {
    file: &'a File,
    unsynced: usize,
}

impl Write for SyncedFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.unsynced += written;
        if self.unsynced >= SYNC_EVERY_BYTES {
            self.unsynced = 0;
            self.file.sync_data()?;
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
