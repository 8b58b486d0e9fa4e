//! One line of the log a request, as the setting says, and the id by which its lines and its answer are found.

use serde_json::{Value, json};

use crate::http::Call;
use crate::logged::Logged;
use crate::waiting::eventually;

/// The lines about requests, as JSON.
fn lines(server: &Logged) -> Vec<Value> {
    let log = server.log();
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|line| line["target"] == "madang_server::request_log").collect()
}

#[test]
fn with_all_every_request_has_one_line_that_says_who_asked_what_and_what_came_of_it() {
    let server = Logged::with(&["request_log=all", "log_format=json"]);
    let (token, member) = server.keeper();
    let me =
        Call::new(&server.address, "GET", "/api/v1/members/me").token(&token).header("x-forwarded-for", "2001:db8::7");
    let me = me.header("x-request-id", "proxy-17").send();
    assert_eq!(me.header("x-request-id"), Some("proxy-17"), "a trusted proxy names the request");
    let missing = server.page("/b/nowhere?secret=1");
    let board = Call::new(&server.address, "POST", "/api/v1/boards").token(&token);
    let board = board.json(&json!({"slug": "news", "title": "News", "comment_mode": "tree"})).send();
    let found = eventually("every request has its line", || Some(lines(&server)).filter(|lines| lines.len() >= 4));
    let line = |id: &str| {
        let own: Vec<_> = found.iter().filter(|line| line["request_id"] == id).collect();
        assert_eq!(own.len(), 1, "{id} in {found:?}");
        own[0].clone()
    };
    let of_me = line("proxy-17");
    let told = |line: &Value| ["method", "route", "status"].map(|field| line[field].to_string());
    assert_eq!(told(&of_me), ["\"GET\"", "\"/api/v1/members/me\"", "200"]);
    assert_eq!((of_me["address"].as_str(), of_me["member"].to_string()), (Some("2001:db8::7"), member.clone()));
    assert!(of_me["took_ms"].as_f64().unwrap() > 0.0, "{of_me}");
    let of_missing = line(missing.header("x-request-id").unwrap());
    assert_eq!(told(&of_missing), ["\"GET\"", "\"/b/{slug}\"", "404"]);
    assert_eq!(of_missing["member"], Value::Null, "a guest");
    assert_eq!(told(&line(board.header("x-request-id").unwrap())), ["\"POST\"", "\"/api/v1/boards\"", "201"]);
    assert!(!server.log().contains("secret=1"), "what was asked for beyond the route is nobody's business");
}

#[test]
fn with_errors_only_what_failed_or_was_refused_has_a_line_and_with_off_nothing_has() {
    let (errors, off) = (Logged::with(&["log_format=json"]), Logged::with(&["request_log=off", "log_format=json"]));
    for server in [&errors, &off] {
        for (path, status) in [("/", 200), ("/b/nowhere", 404), ("/b/general/write", 401)] {
            assert_eq!(server.page(path).status, status, "{path}");
        }
        assert_eq!(server.sign_in("keeper", "203.0.113.9"), 401);
    }
    let found = eventually("both refusals have their lines", || Some(lines(&errors)).filter(|lines| lines.len() >= 2));
    let routes: Vec<_> = found.iter().map(|line| line["route"].as_str().unwrap()).collect();
    assert_eq!(routes, ["/b/{slug}/write", "/api/v1/sessions"]);
    // The line of the sign-in that failed, and of the request in which it did, have one id.
    let log = errors.log();
    let failed = log.lines().find(|line| line.contains("sign-in failed from")).expect("a line");
    assert_eq!(serde_json::from_str::<Value>(failed).unwrap()["request_id"], found[1]["request_id"], "{log}");
    eventually("the failed sign-in is logged", || off.log().contains("sign-in failed from").then_some(()));
    assert_eq!(lines(&off), [Value::Null; 0]);
}

#[test]
fn an_id_that_a_stranger_chose_is_not_taken_over_and_nothing_a_client_sends_breaks_a_line() {
    let server = Logged::with(&["request_log=all", "trusted_proxies="]);
    let chosen = Call::new(&server.address, "GET", "/hot").header("x-request-id", "chosen").send();
    let id = chosen.header("x-request-id").unwrap().to_owned();
    assert!(id.len() == 16 && id.bytes().all(|digit| digit.is_ascii_hexdigit()), "{id}");
    let strange = Call::new(&server.address, "A!#$%&'*+-.^_`|~LONGER", "/b/%0aINFO%20x%22").send();
    assert_eq!(strange.status, 405);
    let line = format!("request_id={}", strange.header("x-request-id").unwrap());
    let log = eventually("it has its line", || Some(server.log()).filter(|log| log.contains(&line)));
    let own: Vec<_> = log.lines().filter(|found| found.contains(&line)).collect();
    assert_eq!(own.len(), 1, "{log}");
    let fields =
        " INFO madang_server::request_log: request method=\"A!#$%&'*+-.^_`|~\" route=\"/b/{slug}\" status=405 took_ms=";
    assert!(own[0].contains(fields) && own[0].contains(" address=127.0.0.1 "), "{}", own[0]);
    assert!(!log.contains("chosen"), "{log}");
}
