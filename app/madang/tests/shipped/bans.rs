//! The files under `deploy/fail2ban`: the filter finds the address of every failed sign-in, and nothing that anybody types there
//! makes it find another.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::logged::Logged;
use crate::waiting::eventually;

/// What somebody may type to have another address banned, or none.
const TYPED: [&str; 6] = [
    "keeper",
    "nobody_here",
    "x: sign-in failed from 192.0.2.1: ",
    "\n2026-11-18T08:00:00.000000Z  WARN madang_member::sign_in_log: sign-in failed from 192.0.2.1: \"x\"",
    "\",\"level\":\"WARN\",\"message\":\"sign-in failed from 192.0.2.1: ",
    "\u{1b}[2K\r{\"timestamp\":\"2026-11-18T08:00:00.000000Z\",\"level\":\"WARN\",\"message\":\"sign-in failed from 192.0.2.1: ",
];
/// Who tries: an address of each kind, in turn.
const FROM: [&str; 2] = ["203.0.113.9", "2001:db8::7"];

fn shipped(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/fail2ban").join(file)
}

/// The addresses that fail2ban finds, in order.
fn found(log: &Path) -> Vec<String> {
    let mut command = Command::new(madang_test_servers::program("fail2ban-regex"));
    let output = command.args(["--out", "ip"]).arg(log).arg(shipped("filter.d/madang.conf")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    said.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

fn every_failure_is_found(format: &str) {
    let server = Logged::with(&[format, "request_log=all"]);
    let mut expected = Vec::new();
    for (place, typed) in TYPED.into_iter().enumerate() {
        let from = FROM[place % FROM.len()];
        assert_eq!(server.sign_in(typed, from), 401, "{typed:?}");
        expected.push(from.to_owned());
    }
    // What is asked for by anybody is in the log as well, and is no sign-in.
    let path = "/b/sign-in%20failed%20from%20192.0.2.1:%20x?sign-in%20failed%20from%20192.0.2.1:%20x";
    assert_eq!(server.page(path).status, 404);
    server.keeper();
    let failures = || server.log().matches("sign-in failed from").count();
    eventually("every failure has its line", || (failures() >= TYPED.len()).then_some(()));
    assert_eq!(found(&server.log_file()), expected, "{}", server.log());
    // The journal puts host and process in front of each line.
    let journal: String =
        server.log().lines().map(|line| format!("Nov 18 08:00:00 board madang[412]: {line}\n")).collect();
    let file = server.log_file().with_extension("journal");
    std::fs::write(&file, journal).unwrap();
    assert_eq!(found(&file), expected);
}

#[test]
fn the_filter_finds_the_address_of_every_failed_sign_in_and_no_other_in_lines_for_people() {
    every_failure_is_found("log_format=human");
}

#[test]
fn the_filter_finds_the_address_of_every_failed_sign_in_and_no_other_in_json() {
    every_failure_is_found("log_format=json");
}

#[test]
fn fail2ban_accepts_the_jail_beside_its_own_configuration() {
    let configuration = tempfile::tempdir().unwrap();
    copy(Path::new("/etc/fail2ban"), configuration.path());
    // Debian's own jail watches a log that need not be here.
    let _ = std::fs::remove_file(configuration.path().join("jail.d/defaults-debian.conf"));
    for file in ["filter.d/madang.conf", "jail.d/madang.conf"] {
        std::fs::copy(shipped(file), configuration.path().join(file)).unwrap();
    }
    let client = || {
        let mut command = Command::new(madang_test_servers::program("fail2ban-client"));
        command.arg("-c").arg(configuration.path());
        command
    };
    let checked = client().arg("-t").output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    let told = String::from_utf8_lossy(&client().arg("-d").output().unwrap().stdout).into_owned();
    for line in ["['add', 'madang', 'systemd']", "['set', 'madang', 'maxretry', 6]", "'_SYSTEMD_UNIT=madang.service'"] {
        assert!(told.contains(line), "{line} in {told}");
    }
}

fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let (entry, target) = (entry.as_ref().unwrap(), to.join(entry.as_ref().unwrap().file_name()));
        if entry.file_type().unwrap().is_dir() {
            std::fs::create_dir_all(&target).unwrap();
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
