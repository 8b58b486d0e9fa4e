//! What the log and the figures tell of requests: pages by the names of their addresses, and a sign-in that failed with where
//! it came from, in a line that a tool such as fail2ban reads and nobody can forge.

use serde_json::json;

use crate::http::Call;
use crate::logged::{Logged, PASSWORD};
use crate::waiting::eventually;

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
    let found: Vec<_> = failures(&log).into_iter().map(|line| line.split(" request_id=").next().unwrap()).collect();
    assert_eq!(found, [&expected[..], &[nobody; 4]].concat(), "{log}");
    assert!(log.contains("signed in from 198.51.100.4 member="), "{log}");
    for secret in ["not the password", "not+the+password", "Tr0ub4dor", "192.0.2.1"] {
        assert!(!log.contains(secret), "{secret} is in {log}");
    }
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
    let line = "request method=\"GET\" route=\"/b/{slug}/write\" status=401 ";
    eventually("the refusal is logged", || server.log().contains(line).then_some(()));
}
