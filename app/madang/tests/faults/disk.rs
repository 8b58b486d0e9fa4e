//! A small disk under the files of one database, which a test fills and frees.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What keeps room from the database.
const BALLAST: &str = "ballast";
/// Written at once while it is filled.
const PIECE: usize = 4_096;

/// A file system of its own under a directory, gone with the test.
pub(crate) struct SmallDisk {
    at: PathBuf,
}

impl SmallDisk {
    /// Puts a disk of so many bytes under a directory, with what the directory holds. Whoever uses the files must be stopped.
    pub(crate) fn under(at: &Path, bytes: u64) -> Self {
        let owner = std::fs::metadata(at).expect("a directory");
        let beside = at.with_extension("beside");
        std::fs::rename(at, &beside).expect("moved aside");
        std::fs::create_dir(at).expect("a directory");
        let options = format!("size={bytes},uid={},gid={},mode=0750", owner.uid(), owner.gid());
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(at).status();
        assert!(mounted.expect("mount runs").success(), "a small disk can be mounted; that takes root");
        let disk = Self { at: at.to_owned() };
        let copied = Command::new("cp").arg("-a").arg(beside.join(".")).arg(at).status().expect("cp runs");
        assert!(copied.success(), "the files of the database are copied");
        disk
    }

    /// Leaves no room.
    pub(crate) fn fill(&self) {
        use std::io::Write as _;
        let mut ballast = std::fs::File::create(self.at.join(BALLAST)).expect("a file");
        while ballast.write_all(&[0; PIECE]).is_ok() {}
    }

    /// Gives the room back.
    pub(crate) fn free(&self) {
        std::fs::remove_file(self.at.join(BALLAST)).expect("removed");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: a server may still have files open, and is gone a moment later.
        let _ = Command::new("umount").arg("--lazy").arg(&self.at).status();
    }
}
