//! What a backup is made of: the files in it, in their order, and what it says about itself.
//!
//! A backup is a gzipped tar archive, so that it can be opened without this program. First comes `manifest.json`; then the
//! database file, its write-ahead log if there is one, and the keys if they were asked for; last `SHA256SUMS`, without
//! which it is not whole.

use serde::{Deserialize, Serialize};

/// The first file in a backup.
pub(super) const MANIFEST: &str = "manifest.json";
/// The database.
pub(super) const DATABASE: &str = madang_sqlite::DATABASE_FILE;
/// The part of its write-ahead log that belongs to it.
pub(super) const WAL: &str = "madang.db-wal";
/// In front of the names of keys.
pub(super) const KEYS: &str = "keys/";
/// The last file in a backup.
pub(super) const SUMS: &str = "SHA256SUMS";
/// The format that this version writes, and the newest one that it reads.
pub(super) const FORMAT: u32 = 1;

/// What a backup says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Manifest {
    /// How the archive is laid out.
    pub(super) format: u32,
    /// The version that wrote it.
    pub(super) version: String,
    /// Tells this site from every other, and nothing about its keys.
    pub(super) site: String,
    /// When it was begun: everything acknowledged before is in it.
    pub(super) begun_at: String,
    /// The name that it was given.
    pub(super) name: String,
    /// Whether the keys are in it.
    pub(super) keys: bool,
}

/// A line of `SHA256SUMS`, as `sha256sum -c` reads it.
pub(super) fn sum_line(digest: &[u8], name: &str) -> String {
    format!("{}  {name}\n", hex::encode(digest))
}
