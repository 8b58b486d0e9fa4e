//! What the log and the figures tell of requests: pages by the names of their addresses, and a sign-in that failed with where
//! it came from, in a line that a tool such as fail2ban reads and nobody can forge.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::json;
use tempfile::TempDir;

use crate::command::{clean, madang};
use crate::http::{Answer, Call};
use crate::server::eventually;

const PASSWORD: &str = "correct horse battery";
/// What is known of bans is in this page, and must fit the lines.
const OPERATIONS: &str = include_str!("../../../../docs/operations.md");

/// A server whose log is in a file.
struct Logged {
    child: Child,
    address: String,
    directory: TempDir,
}

impl Logged {
    fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let log = File::create(directory.path().join("log")).unwrap();
        let said = File::create(directory.path().join("said")).unwrap();
        let mut command = Command::new(madang());
        clean(&mut command).args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(directory.path().join("data"));
        command.args(["--set", "hash_memory_kib=8", "--set", "hash_passes=1", "--set", "operations_listen=public"]);
        command.args(["--set", "trusted_proxies=127.0.0.1", "--set", "rate_limit=off"]);
        command.env("MADANG_ADMIN_NAME", "keeper").env("MADANG_ADMIN_PASSWORD", PASSWORD);
        let child = command.stdin(Stdio::null()).stdout(said).stderr(log).spawn().expect("starts");
        let address = eventually("it listens", || {
            let said = read(&directory.path().join("said"));
            Some(said.lines().next()?.strip_prefix("listening on http://")?.to_owned())
        });
        Self { child, address, directory }
    }

    fn log(&self) -> String {
        read(&self.directory.path().join("log"))
    }

    fn page(&self, path: &str) -> Answer {
        Call::new(&self.address, "GET", path).header("accept", "text/html").send()
    }

    /// Tries to sign in by API from an address.
    fn sign_in(&self, name: &str, from: &str) -> u16 {
        let body = json!({"name": name, "password": "not the password"});
        Call::new(&self.address, "POST", "/api/v1/sessions").header("x-forwarded-for", from).json(&body).send().status
    }
}

impl Drop for Logged {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// The lines about sign-ins that failed, from their beginning on.
fn failures(log: &str) -> Vec<&str> {
    log.lines().filter_map(|line| Some(&line[line.find("sign-in failed")?..])).collect()
}

#[test]
fn a_failed_sign_in_is_logged_with_its_address_and_the_account_by_api_and_by_page() {
    let server = Logged::start();
    assert_eq!(server.sign_in("keeper", "203.0.113.9"), 401);
    let form = Call::new(&server.address, "POST", "/sign-in").header("sec-fetch-site", "same-origin");
    let form = form.header("accept", "text/html").header("x-forwarded-for", "2001:db8::7");
    let form = form.text("application/x-www-form-urlencoded", "name=nobody_here&password=not+the+password");
    assert_eq!(form.send().status, 401);
    // Whatever is typed in place of a name is in the line only if a name can be so.
    for typed in ["keeper\nsign-in failed from 192.0.2.1: \"x\"", "Tr0ub4dor&3-secret", "", &"x".repeat(5_000)] {
        assert_eq!(server.sign_in(typed, "203.0.113.9"), 401);
    }
    let body = json!({"name": "keeper", "password": PASSWORD});
    let right = Call::new(&server.address, "POST", "/api/v1/sessions").header("x-forwarded-for", "198.51.100.4");
    right.json(&body).send().json(201);
    eventually("every failure has its line", || (failures(&server.log()).len() >= 6).then_some(()));
    let log = server.log();
    let nobody = "sign-in failed from 203.0.113.9: no account can have the name that was typed";
    let expected = ["sign-in failed from 203.0.113.9: \"keeper\"", "sign-in failed from 2001:db8::7: \"nobody_here\""];
    assert_eq!(failures(&log), [&expected[..], &[nobody; 4]].concat(), "{log}");
    assert!(log.contains("signed in from 198.51.100.4 member="), "{log}");
    for secret in ["not the password", "not+the+password", "Tr0ub4dor", "192.0.2.1"] {
        assert!(!log.contains(secret), "{secret} is in {log}");
    }
}

#[test]
fn the_filter_for_fail2ban_in_the_documents_finds_the_address_of_every_failure() {
    let rule = OPERATIONS.lines().find_map(|line| line.strip_prefix("failregex = ")).expect("a rule for fail2ban");
    let (before, after) = rule.split_once("<HOST>").expect("where the address stands");
    let (before, after) = (before.trim_start_matches('^').trim_start_matches(".*"), after.trim_end_matches(".*$"));
    assert!(!(before.to_owned() + after).contains(['\\', '*', '+', '?', '(', '[']), "{rule} is plain text here");
    let server = Logged::start();
    for address in ["203.0.113.9", "2001:db8::7"] {
        server.sign_in("keeper", address);
    }
    eventually("both have their line", || (failures(&server.log()).len() == 2).then_some(()));
    let log = server.log();
    let found = log.lines().filter_map(|line| line.split_once(before)?.1.split_once(after));
    assert_eq!(found.map(|(address, _)| address).collect::<Vec<_>>(), ["203.0.113.9", "2001:db8::7"], "{log}");
}

#[test]
fn pages_are_counted_and_logged_by_the_names_of_their_addresses() {
    let server = Logged::start();
    for (path, status) in [("/", 200), ("/b/general", 200), ("/hot", 200), ("/b/general/write", 401), ("/docs/", 200)] {
        assert_eq!(server.page(path).status, status, "{path}");
    }
    assert_eq!([server.page("/nowhere/at/all").status, server.page("/articles/1").status], [404, 404]);
    let figures = Call::new(&server.address, "GET", "/metrics").send().text();
    let count = |route: &str, status: &str| {
        let labels = format!("route=\"{route}\",method=\"GET\",status=\"{status}\"");
        let line = figures.lines().find(|line| line.contains(&labels)).unwrap_or_else(|| panic!("{labels}: {figures}"));
        line.rsplit(' ').next().unwrap().to_owned()
    };
    for (route, status) in [
        ("/", "2xx"),
        ("/b/{slug}", "2xx"),
        ("/hot", "2xx"),
        ("/docs/", "2xx"),
        ("/b/{slug}/write", "4xx"),
        ("/articles/{article}", "4xx"),
        ("other", "4xx"),
    ] {
        assert_eq!(count(route, status), "1", "{route}");
    }
    eventually("the refusal is logged", || {
        server.log().contains("refused with 401: GET /b/{slug}/write").then_some(())
    });
}
