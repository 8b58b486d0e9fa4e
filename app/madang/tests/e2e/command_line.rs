//! The command line to somebody who mistypes: what is wrong is said once, in their words, with what was meant.

use std::fs::Permissions;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use crate::command::{clean, madang, run};

/// Runs a command with these variables beside nothing of ours.
fn with_environment(arguments: &[&str], environment: &[(&str, &str)]) -> (i32, String) {
    let mut command = Command::new(madang());
    let output = clean(&mut command).args(arguments).envs(environment.iter().copied()).output().expect("runs");
    told(&output)
}

fn told(output: &Output) -> (i32, String) {
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_level_that_does_not_exist_stops_the_command_and_names_those_there_are() {
    let levels = "must be off, error, warn, info, debug or trace";
    for (arguments, environment) in [
        (&["config", "--log-level", "blah"][..], &[][..]),
        (&["serve", "--log-level", "blah"], &[]),
        (&["config", "--set", "log_level=info,madang_web=loud"], &[]),
        (&["config"], &[("MADANG_LOG_LEVEL", "verbose")]),
    ] {
        let (code, stderr) = with_environment(arguments, environment);
        assert!(code == 1 && stderr.contains(levels), "{arguments:?}: {code} {stderr}");
    }
    assert_eq!(with_environment(&["config", "--log-level", "warn,madang_web=debug"], &[]).0, 0);
}

#[test]
fn a_misspelt_variable_stops_the_command_and_names_the_one_that_was_meant() {
    let (code, stderr) = with_environment(&["config"], &[("MADANG_LISTN", "127.0.0.1:1"), ("MADANG_TEST_LONG", "1")]);
    let expected =
        "madang: the environment variable MADANG_LISTN is not a setting: did you mean MADANG_LISTEN?\n".to_owned();
    assert_eq!((code, stderr), (1, expected));
    assert_eq!(with_environment(&["config"], &[("MADANG_TEST_LONG", "1"), ("MADANG_PORT", "tcp://10.0.0.1:80")]).0, 0);
    let mut command = Command::new(madang());
    let unreadable = std::ffi::OsStr::from_bytes(b"\xff");
    let (code, stderr) = told(&clean(&mut command).arg("config").env("MADANG_DATA", unreadable).output().unwrap());
    assert!(code == 1 && stderr.contains("MADANG_DATA is not UTF-8"), "{stderr}");
}

#[test]
fn a_wrong_number_is_told_its_range_and_not_a_type_of_the_program() {
    let (code, stderr) = with_environment(&["config"], &[("MADANG_HASH_PASSES", "-1")]);
    let expected = "madang: setting `hash_passes` must be a whole number from 1 to 100, not -1 (from environment variable \
         MADANG_HASH_PASSES)\n";
    assert_eq!((code, stderr.as_str()), (1, expected));
    let (code, stderr) = with_environment(&["seed", "--members", "0"], &[]);
    assert!(code == 2 && stderr.contains("write a whole number from 1 to 1000000"), "{stderr}");
}

#[test]
fn an_error_says_its_cause_once() {
    let missing = "No such file or directory (os error 2)";
    let (code, stderr) = with_environment(&["config", "--config", "/no/such/file.toml"], &[]);
    assert_eq!(
        (code, stderr),
        (1, format!("madang: cannot read the configuration file /no/such/file.toml: {missing}\n"))
    );
    let refused = run(Path::new("/proc/self/no_such_directory"), &["serve"], "").expect(1);
    assert_eq!(refused.stderr.matches(missing).count(), 1, "{refused:?}");
    let directory = tempfile::tempdir().unwrap();
    let refused = run(&directory.path().join("data"), &["seed", "--articles", "1"], "").expect(1);
    assert_eq!(refused.stderr, "madang: articles need a board to be on: add --boards N, or --board SLUG\n");
}

#[test]
fn what_is_no_data_directory_and_what_is_no_database_are_told_apart() {
    let (code, stderr) = with_environment(&["serve", "--data", "/dev/null"], &[]);
    let expected = "madang: /dev/null is not a directory: name one for the data with --data\n";
    assert_eq!((code, stderr.as_str()), (1, expected));
    let damaged = tempfile::Builder::new().permissions(Permissions::from_mode(0o700)).tempdir().unwrap();
    std::fs::write(damaged.path().join("madang.db"), "damaged".repeat(1_000)).unwrap();
    let (code, stderr) = with_environment(&["serve", "--data", damaged.path().to_str().unwrap()], &[]);
    assert!(
        code == 1 && stderr.contains("is damaged, or no database: put a copy from a backup in its place"),
        "{stderr}"
    );
}

#[test]
fn every_command_has_a_man_page_and_is_completed_and_what_is_hidden_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let (code, stderr) = with_environment(&["manual", folder.path().to_str().unwrap()], &[]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    let help = Command::new(madang()).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let listed = help.split("\nCommands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let commands: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|name| !name.is_empty() && *name != "help")
        .collect();
    assert!(commands.len() > 10 && !commands.contains(&"manual"), "{commands:?}");
    let completed = std::fs::read_to_string(folder.path().join("completions/madang.bash")).unwrap();
    for command in commands {
        let page = folder.path().join(format!("man1/madang-{command}.1"));
        assert!(std::fs::read_to_string(&page).unwrap().contains(".SH SYNOPSIS"), "{command}");
        assert!(completed.contains(&format!("madang,{command})")), "{command}");
    }
    assert!(!folder.path().join("man1/madang-manual.1").exists());
    let nested = std::fs::read_to_string(folder.path().join("man1/madang-shards-move.1")).unwrap();
    assert!(nested.contains("\\-\\-to"), "{nested}");
    for file in ["_madang", "madang.fish"] {
        assert!(folder.path().join("completions").join(file).is_file(), "{file}");
    }
}
