//! `cargo xtask package`: the binary that is shipped, and a Debian package of it; `--test` installs it into a fresh Debian.

mod container;
mod debian_root;
mod image;
mod network;
mod scenario;
mod staging;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::interrupt::Interrupt;
use crate::steps::Steps;
use crate::{libraries, program, workspace};
pub(crate) use image::Image;
use staging::Staging;

/// Builds the binary that is shipped, and a Debian package of it.
///
/// The binary is built by the profile `dist`: optimized across crates, without symbols. The package has it with the
/// hardened unit of deploy/systemd, a system user, a settings file that upgrades leave alone, man pages, completions, and
/// the files of deploy/ as examples. It is made by dpkg-deb, which every Debian has, without root. The same commit gives
/// the same bytes.
///
/// With --test (root; debootstrap and systemd-nspawn, which are installed if missing) a fresh Debian is made and booted
/// with systemd, without a network but its own loopback; the package is installed there, the site used, upgraded to a
/// higher version, installed again, removed and purged.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Package {
    /// Also installs, uses, upgrades, removes and purges it in a fresh Debian.
    #[arg(long)]
    test: bool,
    /// Uses the binary as it was built last.
    #[arg(long)]
    no_build: bool,
}

/// The most that the binary may take.
const BINARY_MAX_BYTES: u64 = 40 * 1_024 * 1_024;

/// A package that was made.
pub(crate) struct Made {
    pub(crate) file: PathBuf,
    pub(crate) binary: PathBuf,
}

impl Package {
    /// Runs it.
    pub(crate) fn run(&self) -> Result<()> {
        let mut steps = Steps::of("package");
        let binary = steps.run("build", || build(self.no_build))?;
        let made = steps.run("package", || make(&binary, &version()?))?;
        say_sizes(&made)?;
        steps.run("unit", || exposure(&made.file))?;
        if self.test {
            let interrupt = Interrupt::listen()?;
            let higher = steps.run("higher version", || make_higher(&binary))?;
            let root = steps.run("fresh Debian", || debian_root::fresh(&interrupt))?;
            steps.run("install to purge", || scenario::run(root.path(), &made.file, &higher, &interrupt))?;
        }
        steps.summarize();
        Ok(())
    }
}

/// Builds the binary that is shipped.
pub(crate) fn build(no_build: bool) -> Result<PathBuf> {
    if !no_build {
        let mut cargo = workspace::cargo();
        cargo.args(["build", "--profile", "dist", "--locked", "--package", "madang", "--bin", "madang"]);
        workspace::run(&mut cargo)?;
    }
    let binary = workspace::target().join("dist/madang");
    let size = std::fs::metadata(&binary).with_context(|| binary.display().to_string())?.len();
    ensure!(size <= BINARY_MAX_BYTES, "{} has {size} bytes, more than {BINARY_MAX_BYTES}", binary.display());
    Ok(binary)
}

/// Makes a package of a binary.
pub(crate) fn make(binary: &Path, version: &str) -> Result<Made> {
    let staging = Staging::of(binary, &libraries::table(&libraries::of_binary()?))?;
    Ok(Made { file: staging.build(version, staging::SMALL)?, binary: binary.to_owned() })
}

/// A package of a version to come: the same program, and a settings file that says something else.
fn make_higher(binary: &Path) -> Result<PathBuf> {
    let staging = Staging::of(binary, &libraries::table(&libraries::of_binary()?))?;
    staging.append(staging::SETTINGS, "\n# A line of the next version.\n")?;
    staging.build(&format!("{}+next1", version()?), staging::QUICK)
}

/// The version of the workspace.
pub(crate) fn version() -> Result<String> {
    let manifest = std::fs::read_to_string(workspace::root().join("Cargo.toml"))?;
    let line = manifest.lines().find_map(|line| line.strip_prefix("version = \""));
    Ok(line.and_then(|line| line.strip_suffix('"')).context("Cargo.toml has no version")?.to_owned())
}

fn say_sizes(made: &Made) -> Result<()> {
    let megabytes = |file: &Path| -> Result<f64> { Ok(std::fs::metadata(file)?.len() as f64 / 1e6) };
    println!("{:>6.1} MB  {}", megabytes(&made.binary)?, made.binary.display());
    println!("{:>6.1} MB  {}", megabytes(&made.file)?, made.file.display());
    Ok(())
}

/// What systemd says of the unit as it is in the package.
fn exposure(package: &Path) -> Result<()> {
    crate::stack::ensure_installed(&[("systemd-analyze", "systemd")], &workspace::target().join("apt.log"))?;
    let folder = tempfile::tempdir()?;
    workspace::run(Command::new("dpkg-deb").arg("--extract").arg(package).arg(folder.path()))?;
    let unit = folder.path().join(staging::UNIT);
    let mut analyze = Command::new(program::get("systemd-analyze")?);
    analyze.args(["security", "--no-pager", "--offline=true", "--threshold=20"]).arg(unit);
    let output = analyze.output()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let level = said.lines().find(|line| line.contains("Overall exposure level")).unwrap_or_default();
    println!("{}", level.trim_start_matches(|letter: char| !letter.is_ascii_alphabetic()));
    ensure!(output.status.success(), "the unit is exposed too much:\n{said}");
    Ok(())
}
