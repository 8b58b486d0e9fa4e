//! A data directory of the first release, opened by this version: migrated, answered as it was then, and written on.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::answered_then::{self, PASSWORD};
use crate::command::run;
use crate::server::Start;

fn fixture(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/first-release").join(file)
}

#[test]
fn a_site_of_the_first_release_is_answered_as_it_was_and_goes_on() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let unpacked = Command::new("tar").arg("-xzf").arg(fixture("data.tar.gz")).arg("-C").arg(&data).status().unwrap();
    assert!(unpacked.success());
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o700)).unwrap();

    let said = run(&data, &["upgrade", "--check"], "").expect(2).stdout;
    assert!(said.contains("would run") && said.contains("make a backup first"), "{said}");
    let server = Start::in_directory(&data).start();
    for (path, then) in answered_then::read(&fixture("data.answers.tsv")) {
        let now: Value = server.call("GET", &format!("/api/v1{path}")).send().json(200);
        answered_then::compare(&path, &then, &now);
    }
    let said = run(&data, &["check"], "").expect(0).stdout;
    assert!(said.contains("no differences"), "{said}");

    // People of then sign in, and write.
    let body = serde_json::json!({"name": "마당쇠", "password": PASSWORD});
    let session = server.call("POST", "/api/v1/sessions").json(&body).send().json(201);
    let token = session["token"].as_str().unwrap();
    let board = server.general();
    server.article(&board, token, "after the upgrade");
    server.stop();
    run(&data, &["check", "--full"], "").expect(0);
    run(&data, &["upgrade", "--check"], "").expect(0);
}
