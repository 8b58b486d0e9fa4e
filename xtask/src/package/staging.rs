//! The tree of files that becomes a Debian package: what goes where, and what dpkg-deb is told of it.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::workspace;

/// The settings file, which is the administrator's once it is installed.
pub(super) const SETTINGS: &str = "etc/madang/madang.toml";
/// The unit.
pub(super) const UNIT: &str = "usr/lib/systemd/system/madang.service";
/// How a package is compressed that people download, and one that is gone in a minute.
pub(super) const SMALL: &[&str] = &["-Zxz"];
pub(super) const QUICK: &[&str] = &["-Zgzip", "-z1"];
/// What the unit of deploy/systemd starts, for those who copy it by hand, and what that of the package starts.
const STARTED_BY_HAND: &str = "ExecStart=/usr/local/bin/madang serve --data /var/lib/madang\n";
const STARTED_BY_PACKAGE: &str =
    "ExecStart=/usr/bin/madang serve --config /etc/madang/madang.toml --data /var/lib/madang\n";
/// Pages that an operator reads on the machine.
const PAGES: [&str; 7] = [
    "docs/backup.md",
    "docs/cluster.md",
    "docs/configuration.md",
    "docs/metrics.md",
    "docs/operations.md",
    "docs/runbooks.md",
    "docs/security.md",
];
/// What of deploy/ an operator copies and changes.
const EXAMPLES: [&str; 6] =
    ["cluster.toml", "fail2ban", "grafana", "mariadb/account.sql", "nginx.conf", "prometheus/rules"];

/// A tree of files, gone with this.
pub(super) struct Staging {
    folder: tempfile::TempDir,
    /// When the commit was made that it is of, so that the same commit gives the same bytes.
    epoch_s: String,
}

impl Staging {
    /// Everything that a package of this binary has.
    pub(super) fn of(binary: &Path, libraries: &str) -> Result<Self> {
        let staging = Self { folder: tempfile::tempdir()?, epoch_s: commit_time()? };
        let deploy = workspace::root().join("deploy");
        staging.copy(binary, "usr/bin/madang", 0o755)?;
        staging.copy(&deploy.join("debian/madang.toml"), SETTINGS, 0o640)?;
        staging.copy(&deploy.join("systemd/madang.sysusers.conf"), "usr/lib/sysusers.d/madang.conf", 0o644)?;
        staging.write(UNIT, &unit(&fs::read_to_string(deploy.join("systemd/madang.service"))?)?)?;
        staging.manual(binary)?;
        staging.documents(&deploy, libraries)?;
        Ok(staging)
    }

    /// Adds to a file.
    pub(super) fn append(&self, file: &str, text: &str) -> Result<()> {
        let path = self.path(file);
        let whole = fs::read_to_string(&path)? + text;
        Ok(fs::write(path, whole)?)
    }

    /// Makes the package, in the target directory.
    pub(super) fn build(&self, version: &str, compression: &[&str]) -> Result<PathBuf> {
        let architecture = architecture()?;
        self.control(version, &architecture)?;
        let file = workspace::target().join(format!("debian/madang_{version}_{architecture}.deb"));
        fs::create_dir_all(file.parent().context("a folder")?)?;
        let mut build = Command::new("dpkg-deb");
        build.env("SOURCE_DATE_EPOCH", &self.epoch_s);
        build.arg("--root-owner-group").args(compression).arg("--build").arg(self.folder.path()).arg(&file);
        let output = build.output().context("`dpkg-deb` could not be started")?;
        ensure!(output.status.success(), "dpkg-deb: {}", String::from_utf8_lossy(&output.stderr));
        Ok(file)
    }

    /// The package's own files: what it is called and needs, and what is run when.
    fn control(&self, version: &str, architecture: &str) -> Result<()> {
        let debian = workspace::root().join("deploy/debian");
        let installed_kib = size(self.folder.path())?.div_ceil(1_024);
        let control = fs::read_to_string(debian.join("control"))?
            .replace("@VERSION@", version)
            .replace("@ARCHITECTURE@", architecture)
            .replace("@INSTALLED_KIB@", &installed_kib.to_string())
            .replace("@GLIBC@", &newest_glibc(&fs::read(self.path("usr/bin/madang"))?)?);
        let sums = self.sums()?;
        self.write("DEBIAN/control", &control)?;
        self.write("DEBIAN/md5sums", &sums)?;
        self.write("DEBIAN/conffiles", &format!("/{SETTINGS}\n"))?;
        for script in ["postinst", "prerm", "postrm"] {
            self.copy(&debian.join(script), &format!("DEBIAN/{script}"), 0o755)?;
        }
        Ok(())
    }

    /// Man pages and completions, which the binary writes itself.
    fn manual(&self, binary: &Path) -> Result<()> {
        let folder = tempfile::tempdir()?;
        workspace::run(Command::new(binary).arg("manual").arg(folder.path()))?;
        for page in files(&folder.path().join("man1"))? {
            let name = page.file_name().unwrap_or_default().to_string_lossy().into_owned();
            self.copy_compressed(&page, &format!("usr/share/man/man1/{name}"))?;
        }
        for (from, to) in [
            ("madang.bash", "usr/share/bash-completion/completions/madang"),
            ("_madang", "usr/share/zsh/vendor-completions/_madang"),
            ("madang.fish", "usr/share/fish/vendor_completions.d/madang.fish"),
        ] {
            self.copy(&folder.path().join("completions").join(from), to, 0o644)?;
        }
        Ok(())
    }

    fn documents(&self, deploy: &Path, libraries: &str) -> Result<()> {
        let (root, documents) = (workspace::root(), "usr/share/doc/madang");
        self.copy(&deploy.join("debian/copyright"), &format!("{documents}/copyright"), 0o644)?;
        self.copy(&root.join("LICENSE-MIT"), &format!("{documents}/LICENSE-MIT"), 0o644)?;
        self.copy_compressed(&root.join("CHANGELOG.md"), &format!("{documents}/changelog"))?;
        for page in PAGES {
            let name = page.rsplit('/').next().unwrap_or(page);
            self.copy_compressed(&root.join(page), &format!("{documents}/{name}"))?;
        }
        let list = tempfile::NamedTempFile::new()?;
        fs::write(list.path(), libraries)?;
        self.copy_compressed(list.path(), &format!("{documents}/libraries.txt"))?;
        for example in EXAMPLES {
            let from = deploy.join(example);
            for file in files(&from)? {
                let below = file.strip_prefix(deploy)?.to_string_lossy().into_owned();
                self.copy(&file, &format!("{documents}/examples/{below}"), 0o644)?;
            }
        }
        Ok(())
    }

    /// What dpkg compares installed files with; settings are the administrator's to change.
    fn sums(&self) -> Result<String> {
        let folder = self.folder.path();
        let mut names = Vec::new();
        for file in files(folder)? {
            let name = file.strip_prefix(folder)?.to_string_lossy().into_owned();
            if name != SETTINGS && !name.starts_with("DEBIAN/") {
                names.push(name);
            }
        }
        let output = Command::new("md5sum").args(&names).current_dir(folder).output()?;
        ensure!(output.status.success(), "md5sum: {}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?)
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    fn write(&self, to: &str, text: &str) -> Result<()> {
        let path = self.made(to)?;
        fs::write(&path, text)?;
        Ok(fs::set_permissions(path, Permissions::from_mode(0o644))?)
    }

    fn copy(&self, from: &Path, to: &str, mode: u32) -> Result<()> {
        let path = self.made(to)?;
        fs::copy(from, &path).with_context(|| from.display().to_string())?;
        Ok(fs::set_permissions(path, Permissions::from_mode(mode))?)
    }

    fn copy_compressed(&self, from: &Path, to: &str) -> Result<()> {
        self.copy(from, to, 0o644)?;
        workspace::run(Command::new("gzip").args(["-9", "--no-name", "--force"]).arg(self.path(to)))
    }

    /// A place in the tree, with the folders above it open to everybody, whatever the mask of who builds.
    fn made(&self, to: &str) -> Result<PathBuf> {
        let path = self.path(to);
        for folder in Path::new(to).ancestors().skip(1) {
            let folder = self.folder.path().join(folder);
            fs::create_dir_all(&folder)?;
            fs::set_permissions(folder, Permissions::from_mode(0o755))?;
        }
        Ok(path)
    }
}

/// The unit of deploy/systemd as a package has it: the program where packages put it, the settings file, and no word on
/// how to copy it.
fn unit(by_hand: &str) -> Result<String> {
    ensure!(by_hand.matches(STARTED_BY_HAND).count() == 1, "deploy/systemd/madang.service starts something else");
    let (_, unit) = by_hand.split_once("\n\n").context("the unit has a head")?;
    Ok(unit.replace(STARTED_BY_HAND, STARTED_BY_PACKAGE))
}

/// The newest version of glibc whose symbols a program asks for.
fn newest_glibc(program: &[u8]) -> Result<String> {
    const MARK: &[u8] = b"\0GLIBC_2.";
    let versions =
        program.windows(MARK.len()).enumerate().filter(|(_, window)| *window == MARK).filter_map(|(at, _)| {
            let digits = program[at + MARK.len()..].iter().take_while(|byte| byte.is_ascii_digit());
            String::from_utf8(digits.copied().collect()).ok()?.parse::<u32>().ok()
        });
    Ok(format!("2.{}", versions.max().context("the program does not ask for glibc")?))
}

fn architecture() -> Result<String> {
    let output = Command::new("dpkg").arg("--print-architecture").output().context("packages are made on Debian")?;
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// When the last commit was made.
fn commit_time() -> Result<String> {
    let output = Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(workspace::root()).output()?;
    ensure!(output.status.success(), "git: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// Every file below a folder, in order; of a file, itself.
fn files(below: &Path) -> Result<Vec<PathBuf>> {
    if below.is_file() {
        return Ok(vec![below.to_owned()]);
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(below).with_context(|| below.display().to_string())? {
        found.extend(files(&entry?.path())?);
    }
    found.sort();
    Ok(found)
}

fn size(below: &Path) -> Result<u64> {
    files(below)?.iter().map(|file| Ok(fs::metadata(file)?.len())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_of_a_package_starts_its_program_with_its_settings() {
        let by_hand = fs::read_to_string(workspace::root().join("deploy/systemd/madang.service")).unwrap();
        let unit = unit(&by_hand).unwrap();
        assert!(unit.starts_with("[Unit]\n") && unit.contains(STARTED_BY_PACKAGE), "{unit}");
        assert!(!unit.contains("/usr/local"), "{unit}");
        assert!(super::unit(&unit).is_err(), "already changed");
    }

    #[test]
    fn a_program_needs_the_newest_glibc_that_it_names() {
        let program = b"\x7fELF\0GLIBC_2.4\0GLIBC_2.34\0GLIBC_2.9\0GLIBC_PRIVATE\0";
        assert_eq!(newest_glibc(program).unwrap(), "2.34");
        assert!(newest_glibc(b"\x7fELF").is_err());
    }

    #[test]
    fn every_file_that_the_package_takes_is_there() {
        let root = workspace::root();
        for file in
            PAGES.map(|page| root.join(page)).into_iter().chain(EXAMPLES.map(|one| root.join("deploy").join(one)))
        {
            assert!(file.exists(), "{}", file.display());
        }
        let control = fs::read_to_string(root.join("deploy/debian/control")).unwrap();
        assert_eq!(control.matches('@').count(), 2 * 4 + 1, "four values to fill in, and an address");
    }
}
