//! A fresh Debian in a folder, made by debootstrap; what it downloads is kept, so that only the first one takes minutes.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, ensure};

use crate::interrupt::Interrupt;
use crate::{program, stack, workspace};

/// What the package says that it runs on.
const SUITE: &str = "bookworm";
const MIRROR: &str = "http://deb.debian.org/debian";
/// How long downloading and unpacking may take.
const MAKE_MAX: Duration = Duration::from_secs(1_200);

/// Unpacks a fresh Debian with systemd and little else into a folder that goes with the answer.
pub(super) fn fresh(interrupt: &Interrupt) -> Result<tempfile::TempDir> {
    ensure!(rustix::process::getuid().is_root(), "a Debian is made and booted by root alone");
    let kept = archive(interrupt)?;
    let folder = tempfile::Builder::new().prefix("madang-debian-").tempdir()?;
    let mut unpack = Command::new("tar");
    unpack
        .args(["--extract", "--numeric-owner", "--xattrs", "--file"])
        .arg(&kept)
        .arg("--directory")
        .arg(folder.path());
    workspace::run(&mut unpack)?;
    Ok(folder)
}

/// The archive of a Debian that nobody has used, made unless it is there.
pub(super) fn archive(interrupt: &Interrupt) -> Result<PathBuf> {
    let kept = workspace::cache()?.join(format!("debian-{SUITE}.tar"));
    if kept.is_file() {
        return Ok(kept);
    }
    let log = workspace::target().join("debootstrap.log");
    stack::ensure_installed(&[("debootstrap", "debootstrap"), ("systemd-nspawn", "systemd-container")], &log)?;
    let folder = tempfile::Builder::new().prefix("madang-debootstrap-").tempdir()?;
    eprintln!("making a Debian {SUITE} (log: {})", log.display());
    let mut make = Command::new(program::get("debootstrap")?);
    make.args(["--variant=minbase", "--include=systemd-sysv", SUITE]).arg(folder.path()).arg(MIRROR);
    program::run(&mut make, &log, MAKE_MAX, interrupt)?;
    for name in ["var/cache/apt/archives", "var/lib/apt/lists"] {
        empty(&folder.path().join(name))?;
    }
    std::fs::create_dir_all(workspace::cache()?)?;
    let half = kept.with_extension("tar.half");
    let mut pack = Command::new("tar");
    pack.args(["--create", "--numeric-owner", "--xattrs", "--file"]).arg(&half).arg("--directory").arg(folder.path());
    workspace::run(pack.arg("."))?;
    std::fs::rename(&half, &kept)?;
    Ok(kept)
}

fn empty(folder: &Path) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_file() {
            std::fs::remove_file(path)?;
        }
    }
    Ok(())
}
