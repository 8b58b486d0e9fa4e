//! Tools for pages that come from npm: fetched once, in the version that is named, into the target folder.

use std::path::PathBuf;
use std::process::Command;

/// A file of a package such as `axe-core@4.10.3`.
pub(crate) fn package(name: &str, file: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name.replace(['@', '/'], "-"));
    let file = folder.join("node_modules").join(file);
    if !file.is_file() {
        std::fs::create_dir_all(&folder).unwrap();
        let mut npm = Command::new(madang_test_servers::program("npm"));
        npm.args(["install", "--no-save", "--no-audit", "--no-fund", "--prefix"]).arg(&folder).arg(name);
        let output = npm.output().expect("npm starts");
        assert!(output.status.success(), "npm cannot fetch {name}: {}", String::from_utf8_lossy(&output.stderr));
    }
    file
}
