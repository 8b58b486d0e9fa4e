//! A small disk, and a certificate: what a site can run out of.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Result, ensure};

/// The size of the disk in MiB: room for a site, and soon filled.
const DISK_MIB: u32 = 64;
/// What of it is taken up to fill it nearly.
const FILLER_MIB: u32 = 59;

/// A disk in memory; gone with this. Making one needs root.
pub(crate) struct Tmpfs {
    path: PathBuf,
}

impl Tmpfs {
    pub(super) fn mount(path: &Path) -> Result<Self> {
        std::fs::create_dir_all(path)?;
        let size = format!("size={DISK_MIB}m,mode=0700");
        let status = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(path).status()?;
        ensure!(status.success(), "could not mount a small disk, which needs root");
        Ok(Self { path: path.to_owned() })
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Takes up nearly all of it.
    pub(crate) fn fill(&self) -> Result<()> {
        let mut file = std::fs::File::create(self.filler())?;
        let block = vec![0; 1_024 * 1_024];
        for _ in 0..FILLER_MIB {
            std::io::Write::write_all(&mut file, &block)?;
        }
        Ok(())
    }

    /// Gives that back.
    pub(crate) fn empty(&self) -> Result<()> {
        Ok(std::fs::remove_file(self.filler())?)
    }

    fn filler(&self) -> PathBuf {
        self.path.join("filler")
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        // Lazily: a process that still has files there ends a moment later.
        let _ = Command::new("umount").arg("--lazy").arg(&self.path).status();
    }
}

/// Writes `certificate.pem` and `key.pem` into a folder; the certificate ends in so many days.
pub(super) fn certificate(folder: &Path, days: u32) -> Result<()> {
    let mut openssl = Command::new("openssl");
    openssl.args([
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-subj",
        "/CN=localhost",
    ]);
    openssl.args(["-days", &days.to_string(), "-keyout"]).arg(folder.join("key.pem"));
    openssl.arg("-out").arg(folder.join("certificate.pem")).stdout(Stdio::null()).stderr(Stdio::null());
    ensure!(openssl.status()?.success(), "openssl could not make a certificate");
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(folder.join("key.pem"), std::fs::Permissions::from_mode(0o600))?;
    Ok(())
}
