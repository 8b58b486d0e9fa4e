//! `cargo xtask release`: the checklist of a release as a command, and the files that would be published.

mod licences;
mod sbom;
mod versions;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::{libraries, package, workspace};

/// Goes through the checklist of a release, and makes the files that would be published.
///
/// Every point is looked at, also after one that is not met:
///   tree        nothing is uncommitted
///   versions    one version everywhere, and no tag of it yet
///   changelog   the version has a section with a date, and nothing is left under Unreleased
///   licences    every library in the binary has a licence that deny.toml allows
///   tests       cargo xtask lint and cargo xtask test pass
///   package     the binary and the Debian package (cargo xtask package)
///   sbom        every library in the binary, as CycloneDX 1.5
///   checksums   SHA-256 of all files, read back
///
/// The files are left in target/release-files/VERSION. Fails if a point is not met. Nothing is tagged or published: the last
/// line says how.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Release {
    /// Publishes nothing; there is no other way yet.
    #[arg(long, required = true)]
    dry_run: bool,
    /// Leaves out lint and tests, which take the better part of an hour.
    #[arg(long)]
    skip_tests: bool,
    /// Uses the binary as it was built last.
    #[arg(long)]
    no_build: bool,
}

/// How a point of the checklist was found.
enum Point {
    Met(String),
    Missing(anyhow::Error),
    LeftOut(&'static str),
}

impl Release {
    /// Runs it.
    pub(crate) fn run(&self) -> Result<()> {
        let version = package::version()?;
        let folder = workspace::target().join("release-files").join(&version);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder)?;
        let tests = || match self.skip_tests {
            true => Point::LeftOut("--skip-tests"),
            false => point(run_tests()),
        };
        let points = [
            ("tree", point(tree())),
            ("versions", point(versions::one(&version))),
            ("changelog", point(versions::told(&version))),
            ("licences", point(licences::allowed())),
            ("tests", tests()),
            ("package", point(self.package(&folder, &version))),
            ("sbom", point(sbom::write(&folder, &version))),
            ("checksums", point(checksums(&folder))),
        ];
        println!("\nrelease {version}, {}", if self.dry_run { "dry run" } else { "" });
        for (name, point) in &points {
            match point {
                Point::Met(what) => println!("  met      {name:<10} {what}"),
                Point::LeftOut(why) => println!("  LEFT OUT {name:<10} {why}"),
                Point::Missing(why) => println!("  MISSING  {name:<10} {why:#}"),
            }
        }
        let missing = points.iter().filter(|(_, point)| matches!(point, Point::Missing(_))).count();
        ensure!(missing == 0, "{missing} of {} points are not met", points.len());
        println!("files: {}", folder.display());
        println!("to release it: git tag --annotate v{version} --message 'Madang {version}', then publish these files");
        Ok(())
    }

    /// The package, and the binary by itself with its licences.
    fn package(&self, folder: &Path, version: &str) -> Result<String> {
        let binary = package::build(self.no_build)?;
        let made = package::make(&binary, version)?;
        std::fs::copy(&made.file, folder.join(made.file.file_name().context("a name")?))?;
        let (root, name) = (workspace::root(), format!("madang-{version}-{}", libraries::platform()?));
        let inside = tempfile::tempdir()?;
        let tree = inside.path().join(&name);
        std::fs::create_dir(&tree)?;
        std::fs::copy(&binary, tree.join("madang"))?;
        for file in ["README.md", "CHANGELOG.md", "SECURITY.md", "LICENSE-MIT", "LICENSE-APACHE"] {
            std::fs::copy(root.join(file), tree.join(file))?;
        }
        let archive = folder.join(format!("{name}.tar.gz"));
        let mut tar = Command::new("tar");
        tar.args([
            "--create",
            "--gzip",
            "--owner=0",
            "--group=0",
            "--numeric-owner",
            "--sort=name",
            "--mtime=@0",
            "--file",
        ]);
        workspace::run(tar.arg(&archive).arg("--directory").arg(inside.path()).arg(&name))?;
        Ok(format!("binary {}, package {}, archive {}", size(&binary)?, size(&made.file)?, size(&archive)?))
    }
}

fn point(result: Result<String>) -> Point {
    result.map_or_else(Point::Missing, Point::Met)
}

/// What a command says that must succeed.
fn said(program: &str, arguments: &[&str], folder: &Path) -> Result<String> {
    let output = Command::new(program).args(arguments).current_dir(folder).output();
    let output = output.with_context(|| format!("`{program}` did not start"))?;
    ensure!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr).trim());
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn tree() -> Result<String> {
    let changed = said("git", &["status", "--porcelain"], &workspace::root())?;
    ensure!(changed.is_empty(), "commit or remove these first: {}", changed.replace('\n', ", "));
    Ok(format!("commit {}", said("git", &["rev-parse", "--short", "HEAD"], &workspace::root())?))
}

fn run_tests() -> Result<String> {
    for task in ["lint", "test"] {
        workspace::run(workspace::cargo().args(["xtask", task]))?;
    }
    Ok("lint and tests passed".to_owned())
}

fn size(file: &Path) -> Result<String> {
    Ok(format!("{:.1} MB", std::fs::metadata(file)?.len() as f64 / 1e6))
}

/// Written in order of their names, and read back.
fn checksums(folder: &Path) -> Result<String> {
    let files = std::fs::read_dir(folder)?.map(|file| Ok(file?.path())).collect::<Result<Vec<PathBuf>>>()?;
    let mut names: Vec<_> = files.iter().filter_map(|file| file.file_name()?.to_str().map(str::to_owned)).collect();
    names.sort();
    ensure!(!names.is_empty(), "there are no files");
    let arguments: Vec<&str> = names.iter().map(String::as_str).collect();
    std::fs::write(folder.join("SHA256SUMS"), said("sha256sum", &arguments, folder)? + "\n")?;
    said("sha256sum", &["--check", "--strict", "SHA256SUMS"], folder)?;
    Ok(format!("{} files", names.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_of_every_file_and_found_again() {
        let folder = tempfile::tempdir().unwrap();
        assert!(checksums(folder.path()).is_err(), "of nothing");
        for name in ["b", "a"] {
            std::fs::write(folder.path().join(name), name).unwrap();
        }
        assert_eq!(checksums(folder.path()).unwrap(), "2 files");
        let sums = std::fs::read_to_string(folder.path().join("SHA256SUMS")).unwrap();
        assert!(sums.lines().map(|line| line.rsplit(' ').next().unwrap()).eq(["a", "b"]), "{sums}");
        assert!(sums.starts_with("ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"), "{sums}");
    }
}
