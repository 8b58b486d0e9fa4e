//! Reads an archive back: every file is compared with its digest, and an archive without its last file is refused.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use sha2::{Digest as _, Sha256};

use super::manifest::{DATABASE, FORMAT, KEYS, MANIFEST, Manifest, SUMS, WAL, sum_line};

const FILE_MODE: u32 = 0o600;
/// The files beside the database are far shorter.
const SMALL_MAX_BYTES: u64 = 64 * 1_024;
const BUFFER_BYTES: usize = 128 * 1_024;

/// Why nothing was restored.
#[derive(Debug, thiserror::Error)]
pub(super) enum ExtractError {
    /// It ends before its end.
    #[error("the backup {} is not whole: it ends too early. Restore another one", path.display())]
    Incomplete {
        /// The backup.
        path: PathBuf,
    },
    /// Its bytes are not those that were written.
    #[error("the backup {} is damaged ({reason}): restore another one", path.display())]
    Damaged {
        /// The backup.
        path: PathBuf,
        /// What was found.
        reason: String,
    },
    /// It is something else.
    #[error("{} is not a backup made by madang: {reason}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What was found.
        reason: String,
    },
    /// This version does not know the format.
    #[error("the backup {} was written by a newer version of madang ({version}): restore it with that version", path.display())]
    Newer {
        /// The backup.
        path: PathBuf,
        /// The version that wrote it.
        version: String,
    },
    /// The file cannot be read.
    #[error("cannot read the backup {}", path.display())]
    Unreadable {
        /// The backup.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// What is in it cannot be written.
    #[error("cannot write to {}", path.display())]
    Unwritable {
        /// Where to.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// What was in a backup, besides the files that were written.
pub(super) struct Extracted {
    pub(super) manifest: Manifest,
    /// The keys, by their names.
    pub(super) keys: Vec<(String, Vec<u8>)>,
}

/// Where the large files go.
pub(super) struct Targets {
    pub(super) database: PathBuf,
    pub(super) wal: PathBuf,
}

/// Reads a whole backup. What it wrote when it fails is for the caller to remove.
pub(super) fn extract(path: &Path, targets: &Targets) -> Result<Extracted, ExtractError> {
    let file = File::open(path).map_err(|source| ExtractError::Unreadable { path: path.to_owned(), source })?;
    let mut archive = tar::Archive::new(GzDecoder::new(BufReader::with_capacity(BUFFER_BYTES, file)));
    let mut reading = Reading { path, sums: BTreeMap::new(), manifest: None, keys: Vec::new(), last: None };
    for entry in archive.entries().map_err(|error| reading.broken(&error))? {
        let entry = entry.map_err(|error| reading.broken(&error))?;
        reading.take(entry, targets)?;
    }
    // The last bytes hold the check sum of all others.
    io::copy(&mut archive.into_inner(), &mut io::sink()).map_err(|error| reading.broken(&error))?;
    reading.finish()
}

struct Reading<'a> {
    path: &'a Path,
    sums: BTreeMap<String, String>,
    manifest: Option<Manifest>,
    keys: Vec<(String, Vec<u8>)>,
    last: Option<String>,
}

impl Reading<'_> {
    fn take(&mut self, entry: tar::Entry<'_, impl Read>, targets: &Targets) -> Result<(), ExtractError> {
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        if self.last.is_some() || self.sums.contains_key(&name) {
            return Err(self.foreign(format!("it holds {name} where no file is expected")));
        }
        if self.manifest.is_none() && name != MANIFEST {
            return Err(self.foreign(format!("it begins with {name}")));
        }
        let key = name.strip_prefix(KEYS).filter(|key| is_key_name(key)).map(str::to_owned);
        match (name.as_str(), key) {
            (DATABASE, _) => self.large(&name, entry, &targets.database),
            (WAL, _) => self.large(&name, entry, &targets.wal),
            (MANIFEST, _) => {
                let text = self.small(&name, entry)?;
                let manifest: Manifest =
                    serde_json::from_slice(&text).map_err(|error| self.foreign(error.to_string()))?;
                if manifest.format > FORMAT {
                    return Err(ExtractError::Newer { path: self.path.to_owned(), version: manifest.version });
                }
                self.manifest = Some(manifest);
                Ok(())
            }
            (SUMS, _) => {
                let text = self.small(&name, entry)?;
                self.sums.remove(SUMS);
                self.last = Some(String::from_utf8_lossy(&text).into_owned());
                Ok(())
            }
            (_, Some(key)) => {
                let bytes = self.small(&name, entry)?;
                self.keys.push((key, bytes));
                Ok(())
            }
            _ => Err(self.foreign(format!("it holds {name}"))),
        }
    }

    fn small(&mut self, name: &str, entry: impl Read) -> Result<Vec<u8>, ExtractError> {
        let mut bytes = Vec::new();
        entry.take(SMALL_MAX_BYTES).read_to_end(&mut bytes).map_err(|error| self.broken(&error))?;
        self.sums.insert(name.to_owned(), sum_line(&Sha256::digest(&bytes), name));
        Ok(bytes)
    }

    fn large(&mut self, name: &str, mut entry: impl Read, into: &Path) -> Result<(), ExtractError> {
        let unwritable = |source| ExtractError::Unwritable { path: into.to_owned(), source };
        let opened = OpenOptions::new().write(true).create(true).truncate(true).mode(FILE_MODE).open(into);
        let mut file = opened.map_err(unwritable)?;
        let (mut digest, mut buffer) = (Sha256::new(), vec![0; BUFFER_BYTES]);
        loop {
            let read = entry.read(&mut buffer).map_err(|error| self.broken(&error))?;
            if read == 0 {
                break;
            }
            digest.update(&buffer[..read]);
            file.write_all(&buffer[..read]).map_err(unwritable)?;
        }
        file.sync_all().map_err(unwritable)?;
        self.sums.insert(name.to_owned(), sum_line(&digest.finalize(), name));
        Ok(())
    }

    fn finish(self) -> Result<Extracted, ExtractError> {
        let Some(said) = &self.last else { return Err(ExtractError::Incomplete { path: self.path.to_owned() }) };
        let mut said: Vec<&str> = said.split_inclusive('\n').collect();
        said.sort_unstable();
        let mut found: Vec<&str> = self.sums.values().map(String::as_str).collect();
        found.sort_unstable();
        if said != found {
            return Err(self.damaged("a file in it does not have the check sum that it was written with".to_owned()));
        }
        match self.manifest {
            Some(manifest) if self.sums.contains_key(DATABASE) => Ok(Extracted { manifest, keys: self.keys }),
            _ => Err(ExtractError::Incomplete { path: self.path.to_owned() }),
        }
    }

    /// What a decoder could not read is cut off, damaged, or was never a backup.
    fn broken(&self, error: &io::Error) -> ExtractError {
        if error.raw_os_error().is_some() {
            let source = io::Error::from(error.kind());
            return ExtractError::Unreadable { path: self.path.to_owned(), source };
        }
        match (error.kind(), self.manifest.is_some()) {
            (io::ErrorKind::UnexpectedEof, _) => ExtractError::Incomplete { path: self.path.to_owned() },
            (_, true) => self.damaged(error.to_string()),
            (_, false) => self.foreign(error.to_string()),
        }
    }

    fn damaged(&self, reason: String) -> ExtractError {
        ExtractError::Damaged { path: self.path.to_owned(), reason }
    }

    fn foreign(&self, reason: String) -> ExtractError {
        ExtractError::Foreign { path: self.path.to_owned(), reason }
    }
}

/// Nothing that leads anywhere else.
fn is_key_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte == b'_' || byte == b'-';
    name.strip_suffix(".key").is_some_and(|stem| !stem.is_empty() && stem.bytes().all(plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_of_a_key_leads_out_of_its_directory() {
        assert!(is_key_name("token.key") && is_key_name("guest.key"));
        for name in ["", ".key", "../token.key", "/etc/a.key", "a/b.key", "token.key.new", "a..key"] {
            assert!(!is_key_name(name), "{name}");
        }
    }
}
