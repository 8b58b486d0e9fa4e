//! How much of a write-ahead log belongs to a database: the file is used again from its start, and keeps old frames behind
//! the new ones.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

const HEADER_BYTES: usize = 32;
const FRAME_HEADER_BYTES: usize = 24;
/// Whichever way round checksums are computed.
const MAGICS: [u32; 2] = [0x377f_0682, 0x377f_0683];

/// The bytes up to the end of the last transaction whose frames are all of the log's present use. One that is just being
/// written may be among them: it was not acknowledged, and its checksums tell.
pub(super) fn used_bytes(file: &File) -> io::Result<u64> {
    let length = file.metadata()?.len();
    let mut header = [0; HEADER_BYTES];
    if length < HEADER_BYTES as u64 {
        return Ok(0);
    }
    file.read_exact_at(&mut header, 0)?;
    if !MAGICS.contains(&number(&header, 0)) {
        return Ok(0);
    }
    let frame_bytes = FRAME_HEADER_BYTES as u64 + u64::from(number(&header, 8));
    let (mut at, mut used) = (HEADER_BYTES as u64, 0);
    let mut frame = [0; FRAME_HEADER_BYTES];
    while at + frame_bytes <= length {
        file.read_exact_at(&mut frame, at)?;
        if frame[8..16] != header[16..24] {
            break;
        }
        at += frame_bytes;
        // The last frame of a transaction says how many pages the database has.
        if number(&frame, 4) > 0 {
            used = at;
        }
    }
    Ok(used)
}

fn number(bytes: &[u8], at: usize) -> u32 {
    bytes[at..].first_chunk().map_or(0, |four| u32::from_be_bytes(*four))
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    #[test]
    fn frames_of_an_earlier_use_are_left_out() {
        let directory = tempfile::tempdir().unwrap();
        let database = Connection::open(directory.path().join("a.db")).unwrap();
        database.pragma_update(None, "journal_mode", "wal").unwrap();
        let log = || File::open(directory.path().join("a.db-wal")).unwrap();
        assert_eq!(used_bytes(&tempfile::tempfile().unwrap()).unwrap(), 0);
        database.execute_batch("CREATE TABLE t (a BLOB); INSERT INTO t VALUES (zeroblob(100000))").unwrap();
        let first = log().metadata().unwrap().len();
        assert_eq!(used_bytes(&log()).unwrap(), first);
        database.query_row("PRAGMA wal_checkpoint(RESTART)", [], |_| Ok(())).unwrap();
        database.execute_batch("INSERT INTO t VALUES (1)").unwrap();
        let second = used_bytes(&log()).unwrap();
        assert!(0 < second && second < first && log().metadata().unwrap().len() == first, "{second} of {first}");
    }
}
