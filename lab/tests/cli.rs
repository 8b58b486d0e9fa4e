//! The real binary on its command line. That it has a test of its own also means that every test run builds it.

use std::process::{Command, Output};

fn lab(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_madang-lab")).args(args).output().expect("the binary is built")
}

#[test]
fn the_list_has_a_line_for_every_experiment() {
    let listed = lab(&["list"]);
    assert!(listed.status.success());
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert_eq!(listed.lines().count(), madang_lab::experiments::all().len());
}

#[test]
fn an_unknown_experiment_is_refused_before_anything_is_started() {
    let run = ["run", "no-such-experiment", "--stack", "/nowhere", "--xtask", "/nowhere"];
    for refused in [lab(&run), lab(&["list", "no-such-experiment"])] {
        assert_eq!(refused.status.code(), Some(1));
        let told = String::from_utf8(refused.stderr).unwrap();
        assert!(told.contains("there is no experiment `no-such-experiment`") && told.contains("There are:"), "{told}");
    }
}
