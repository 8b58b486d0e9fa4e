//! A full disk is told as what it is: by `/readyz` while it lasts and no longer, and by a start that finds one. The disk is a
//! file system in memory, in a namespace of the server's own.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::command::{clean, madang};
use crate::http::{Answer, Call};
use crate::people::{ADMIN, PASSWORD};
use crate::server::eventually;

/// Mounts a disk of so many bytes on the directory, runs a step there, and becomes the server.
fn serve_on_disk(data: &Path, size_kib: usize, step: &str) -> Command {
    let mut command = Command::new("unshare");
    clean(&mut command).args(["--user", "--map-root-user", "--mount", "sh", "-ec"]);
    command.arg(format!(
        "mount -t tmpfs -o size={size_kib}k,mode=700 none {data}; {step}
         exec {madang} serve --listen 127.0.0.1:0 --data {data} --set operations_listen=public --set hash_memory_kib=8 \
             --set hash_passes=1",
        data = data.display(),
        madang = madang(),
    ));
    command.env("MADANG_ADMIN_NAME", ADMIN).env("MADANG_ADMIN_PASSWORD", PASSWORD).env("MADANG_RATE_LIMIT", "off");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

struct Server {
    child: Child,
    address: String,
    /// A file on its disk, as seen from here.
    filler: PathBuf,
}

impl Server {
    fn start(data: &Path) -> Self {
        let mut child = serve_on_disk(data, 24 * 1_024, "true;").spawn().expect("unshare runs");
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = lines.next().expect("says where it listens").unwrap();
        let address = first.strip_prefix("listening on http://").unwrap_or_else(|| panic!("{first}")).to_owned();
        // What else it says is of no interest, but must not keep it waiting.
        std::thread::spawn(move || lines.count());
        let errors = child.stderr.take().unwrap();
        std::thread::spawn(move || BufReader::new(errors).lines().count());
        let filler = PathBuf::from(format!("/proc/{}/root{}/filler", child.id(), data.display()));
        Self { child, address, filler }
    }

    fn call(&self, method: &str, path: &str) -> Call {
        Call::new(&self.address, method, path)
    }

    fn store(&self) -> (u16, Value) {
        let answer = self.call("GET", "/readyz").send();
        let ready: Value = serde_json::from_slice(&answer.body).unwrap();
        let parts = ready["parts"].as_array().unwrap();
        (answer.status, parts.iter().find(|part| part["name"] == "store").unwrap().clone())
    }

    fn fill(&self) {
        let mut filler = File::create(&self.filler).unwrap();
        let block = [0; 4_096];
        while filler.write_all(&block).is_ok() {}
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn readiness_tells_of_a_full_disk_for_as_long_as_it_is_full() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::start(directory.path());
    let body = json!({"name": ADMIN, "password": PASSWORD});
    let token = server.call("POST", "/api/v1/sessions").json(&body).send().json(201)["token"].clone();
    let boards = server.call("GET", "/api/v1/boards").send().json(200);
    let path = format!("/api/v1/boards/{}/articles", boards["items"][0]["board_id"].as_str().unwrap());
    let write = || -> Answer {
        let body = json!({"title": "t", "content": "x".repeat(20_000)});
        server.call("POST", &path).token(token.as_str().unwrap()).json(&body).send()
    };
    assert_eq!(write().status, 201);
    let (status, store) = server.store();
    assert_eq!((status, &store["detail"]), (200, &json!("takes writes")));

    server.fill();
    eventually("a write fails", || (write().status == 503).then_some(()));
    eventually("readiness says so", || {
        let (status, store) = server.store();
        let is_told = store["ok"] == false && store["detail"].as_str().unwrap().contains("is full");
        (status == 503 && is_told).then_some(())
    });

    std::fs::remove_file(&server.filler).unwrap();
    eventually("writes are taken again", || (write().status == 201).then_some(()));
    eventually("readiness says so", || (server.store().0 == 200).then_some(()));
}

#[test]
fn a_start_on_a_full_disk_says_so_in_words() {
    let directory = tempfile::tempdir().unwrap();
    for left_kib in [0, 8, 64] {
        let fill = format!(
            "dd if=/dev/zero of={}/filler bs=1k count={} 2>/dev/null || true;",
            directory.path().display(),
            2_048 - left_kib
        );
        let ended = serve_on_disk(directory.path(), 2_048, &fill).output().expect("unshare runs");
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(!ended.status.success(), "{left_kib} KiB: {said}");
        assert!(said.contains("is full") || said.contains("No space left on device"), "{left_kib} KiB: {said}");
    }
}
