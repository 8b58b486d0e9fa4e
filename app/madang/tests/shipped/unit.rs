//! The unit under `deploy/systemd`, judged by systemd itself, and compared with the settings that it relies on.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command;

/// The most that `systemd-analyze security` may call the exposure of the service, in tenths.
const EXPOSURE_MAX_TENTHS: &str = "20";
/// Files that are open beside connections.
const OTHER_FILES: u64 = 256;

fn shipped(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/systemd").join(file)
}

/// What the unit says of a directive that it has once.
fn directive(name: &str) -> String {
    let unit = std::fs::read_to_string(shipped("madang.service")).unwrap();
    let found: Vec<_> = unit.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix('=')).collect();
    assert_eq!(found.len(), 1, "{name}: {found:?}");
    found[0].to_owned()
}

/// A number among the defaults of the settings.
fn setting(name: &str) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let told = command::run(&folder.path().join("data"), &["config"], "").expect(0).stdout;
    let line = told.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = ")).expect("a line");
    line.split_whitespace().next().unwrap().parse().unwrap()
}

#[test]
fn systemd_finds_little_that_a_broken_into_server_could_reach() {
    let mut command = Command::new(madang_test_servers::program("systemd-analyze"));
    command.args(["security", "--no-pager", "--offline=true", &format!("--threshold={EXPOSURE_MAX_TENTHS}")]);
    let output = command.arg(shipped("madang.service").canonicalize().unwrap()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("Overall exposure level for madang.service"), "{said}");
}

#[test]
fn the_unit_gives_the_server_what_its_settings_need() {
    let stop_s: u64 = directive("TimeoutStopSec").parse().unwrap();
    assert!(stop_s * 1_000 > setting("drain_timeout_ms"), "a stop is cut off after {stop_s} s");
    let files: u64 = directive("LimitNOFILE").parse().unwrap();
    assert!(files >= setting("connections_max") + OTHER_FILES, "{files} open files");
    let data = format!("/var/lib/{}", directive("StateDirectory"));
    assert!(directive("ExecStart").ends_with(&format!(" serve --data {data}")));
    // As the server itself asks for.
    assert_eq!((directive("StateDirectoryMode"), directive("UMask")), ("0700".to_owned(), "0077".to_owned()));
    let users = std::fs::read_to_string(shipped("madang.sysusers.conf")).unwrap();
    assert!(
        users.lines().any(|line| line.starts_with(&format!("u {} - ", directive("User"))) && line.ends_with(&data))
    );
}
