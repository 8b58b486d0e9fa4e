//! The doctor and the look before an upgrade, beside a server and without one: each thing that is wrong is named, with what
//! to do about it, and nothing is changed.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rusqlite::Connection;
use serde_json::Value;

use crate::command::{Ended, run};
use crate::server::Start;

/// A disk, where the directory for temporary files may be memory.
fn place() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn doctor(data: &Path) -> (i32, Vec<Value>) {
    let address = ["--set", "site_url=http://127.0.0.1:8080"];
    let Ended { code, stdout, stderr } = run(data, &[&["doctor", "--json"], &address[..]].concat(), "");
    let report: Value = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}"));
    (code, report["findings"].as_array().unwrap().clone())
}

/// What was found of a part, if it is at this level.
fn of<'a>(findings: &'a [Value], level: &str, part: &str) -> Option<&'a Value> {
    findings.iter().find(|finding| finding["level"] == level && finding["part"] == part)
}

#[test]
fn a_healthy_site_has_no_problem_beside_its_server_or_without() {
    let directory = place();
    let data = directory.path().join("data");
    let mut server = Some(Start::in_directory(&data).with_admin().start());
    for running in [true, false] {
        let (code, findings) = doctor(&data);
        assert!([0, 2].contains(&code), "{running}: {findings:?}");
        for part in ["configuration", "permissions", "schema", "clock"] {
            assert!(of(&findings, "ok", part).is_some(), "{part}: {findings:?}");
        }
        let parts: Vec<&str> = findings.iter().map(|finding| finding["part"].as_str().unwrap()).collect();
        assert!(["disk", "limits", "memory"].iter().all(|part| parts.contains(part)), "{parts:?}");
        if let Some(server) = server.take() {
            // Asked from outside: the server serves on.
            assert_eq!(server.get("/healthz").status, 200);
            server.stop();
        }
    }
    let said = run(&data, &["doctor"], "");
    assert!(said.stdout.contains("problems,") && said.stdout.contains("ok "), "{said:?}");
}

#[test]
fn what_others_can_read_is_a_problem_with_the_command_that_mends_it() {
    let directory = place();
    let data = directory.path().join("data");
    run(&data, &["seed", "--boards", "1"], "").expect(0);
    let file = data.join("keys/token.key");
    std::fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    let (code, findings) = doctor(&data);
    let found = of(&findings, "problem", "permissions").unwrap_or_else(|| panic!("{findings:?}"));
    let advice = found["advice"].as_str().unwrap();
    assert!(code == 1 && advice.contains(&format!("chmod 600 {}", file.display())), "{advice}");
    std::fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    assert!(of(&doctor(&data).1, "problem", "permissions").is_none());
}

#[test]
fn a_clock_that_went_back_and_a_file_that_is_no_database_are_found() {
    let directory = place();
    let data = directory.path().join("data");
    run(&data, &["seed", "--board", "talk", "--articles", "1"], "").expect(0);
    let file = Connection::open(data.join("madang.db")).unwrap();
    file.execute("UPDATE event_log SET occurred_at = occurred_at + 3600000", []).unwrap();
    drop(file);
    assert!(of(&doctor(&data).1, "problem", "clock").is_some());
    std::fs::remove_file(data.join("madang.db-wal")).ok();
    std::fs::write(data.join("madang.db"), "not a database, but some text that is as long as its header".repeat(20))
        .unwrap();
    std::fs::set_permissions(data.join("madang.db"), Permissions::from_mode(0o600)).unwrap();
    let (code, findings) = doctor(&data);
    assert!(code == 1 && of(&findings, "problem", "database").is_some(), "{findings:?}");
}

fn change_history(data: &Path, sql: &str) {
    let file = Connection::open(data.join("madang.db")).unwrap();
    assert_eq!(file.execute(sql, []).unwrap(), 1, "{sql}");
}

#[test]
fn what_an_upgrade_would_run_is_told_before_it_runs() {
    let directory = place();
    let data = directory.path().join("data");
    run(&data, &["seed", "--board", "talk", "--articles", "20"], "").expect(0);
    let said = run(&data, &["upgrade", "--check"], "").expect(0).stdout;
    assert!(said.contains("up to date") && said.contains("changes nothing"), "{said}");
    // As a file of the version before has it.
    let newest = madang_sqlite::known_schema();
    change_history(&data, &format!("DELETE FROM refinery_schema_history WHERE version = {newest}"));
    let said = run(&data, &["upgrade", "--check"], "").expect(2).stdout;
    assert!(said.contains(&format!("would run {newest} (")) && said.contains("make a backup first"), "{said}");
    let (_, findings) = doctor(&data);
    let found = of(&findings, "warning", "schema").unwrap_or_else(|| panic!("{findings:?}"));
    assert!(found["found"].as_str().unwrap().contains("1 migrations would run"), "{found}");
    assert!(run(&data, &["upgrade"], "").code == 2, "it only ever looks, and says so");
}

#[test]
fn a_site_of_a_newer_version_is_refused_everywhere_and_left_as_it_is() {
    let directory = place();
    let data = directory.path().join("data");
    run(&data, &["seed", "--board", "talk", "--articles", "3"], "").expect(0);
    let row = "INSERT INTO refinery_schema_history VALUES (999, 'later', '2030-01-01T00:00:00Z', '1')";
    change_history(&data, row);
    let before = std::fs::read(data.join("madang.db")).unwrap();
    for command in [&["serve"][..], &["check"], &["seed", "--boards", "1"]] {
        let refused = run(&data, command, "").expect(1).stderr;
        assert!(refused.contains("newer version") && refused.contains("999"), "{command:?}: {refused}");
    }
    let said = run(&data, &["upgrade", "--check"], "").expect(1).stdout;
    assert!(said.contains("newer version") && said.contains("refuses to start"), "{said}");
    let (code, findings) = doctor(&data);
    assert!(code == 1 && of(&findings, "problem", "schema").is_some(), "{findings:?}");
    assert_eq!(std::fs::read(data.join("madang.db")).unwrap(), before);

    // It can still be copied; the copy is refused as well.
    let file = directory.path().join("copy.tar.gz");
    run(&data, &["backup", "--to", file.to_str().unwrap()], "").expect(0);
    let restored = directory.path().join("restored");
    let refused = run(&restored, &["restore", "--from", file.to_str().unwrap()], "").expect(1).stderr;
    assert!(refused.contains("of a newer version of madang"), "{refused}");
    assert!(!restored.join("madang.db").exists());
}
