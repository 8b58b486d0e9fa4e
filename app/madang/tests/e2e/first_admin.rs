//! The three ways to the first administrator.

use serde_json::json;

use crate::command::run;
use crate::server::{ADMIN, PASSWORD, Start, TestServer};

fn role(server: &TestServer, name: &str) -> String {
    let token = server.sign_in(name);
    let me = server.call("GET", "/api/v1/members/me").token(&token).send().json(200);
    me["role"].as_str().unwrap().to_owned()
}

#[test]
fn by_the_environment_once() {
    let directory = tempfile::tempdir().unwrap();
    let server = Start::in_directory(directory.path()).with_admin().start();
    assert_eq!(role(&server, ADMIN), "admin");
    server.stop();
    // With an administrator there, the variables are no way to make another.
    let second = Start::in_directory(directory.path());
    let second = second.environment("MADANG_ADMIN_NAME", "second_one").environment("MADANG_ADMIN_PASSWORD", PASSWORD);
    let server = second.start();
    let body = json!({"name": "second_one", "password": PASSWORD});
    server.call("POST", "/api/v1/sessions").json(&body).send().problem(401, "never made");
}

#[test]
fn by_the_command_beside_the_server_and_before_its_first_start() {
    let directory = tempfile::tempdir().unwrap();
    let create = ["member", "create", "--role", "admin", "--password-stdin", "--name"];
    let data = directory.path().join("new");
    let said = run(&data, &[&create[..], &["before"]].concat(), &format!("{PASSWORD}\n")).expect(0);
    assert!(said.stdout.contains("created member before (admin)"), "{said:?}");
    let server = Start::in_directory(&data).start();
    assert_eq!(role(&server, "before"), "admin");
    run(&data, &[&create[..], &["beside"]].concat(), PASSWORD).expect(0);
    assert_eq!(role(&server, "beside"), "admin");
    let taken = run(&data, &[&create[..], &["beside"]].concat(), PASSWORD).expect(1);
    assert!(taken.stderr.contains("taken"), "{taken:?}");
    let short = run(&data, &[&create[..], &["short"]].concat(), "short").expect(1);
    assert!(short.stderr.contains("password"), "{short:?}");
    run(&data, &[&create[..], &["nobody"]].concat(), "").expect(1);
}

#[test]
fn by_the_set_up_token_and_only_while_there_is_none() {
    let directory = tempfile::tempdir().unwrap();
    let server = Start::in_directory(directory.path()).start();
    let told: Vec<String> = (0..4).map(|_| server.line()).collect();
    assert!(told[1].contains("madang member create --role admin"), "{told:?}");
    assert!(told[2].contains("MADANG_ADMIN_NAME") && told[2].contains("MADANG_ADMIN_PASSWORD"), "{told:?}");
    let (_, set_up) = told[3].split_once(&server.address).expect("a link to this server");
    let token = set_up.strip_prefix("/setup and enter the token ").expect("the set-up page");

    let form = |server: &TestServer, token: &str| {
        let body = format!("token={token}&name=first_one&password={}", PASSWORD.replace(' ', "+"));
        let call = server.call("POST", "/setup").header("sec-fetch-site", "same-origin");
        call.text("application/x-www-form-urlencoded", body).send()
    };
    assert_eq!(server.get("/setup").status, 200);
    assert_eq!(form(&server, "wrong").status, 403);
    assert!((200..400).contains(&form(&server, token).status));
    assert_eq!(role(&server, "first_one"), "admin");
    assert_eq!(server.get("/setup").status, 410, "there is one set-up");
    assert_eq!(form(&server, token).status, 410, "the token works once");
    server.stop();
    let server = Start::in_directory(directory.path()).start();
    assert_eq!(role(&server, "first_one"), "admin");
    assert_eq!((server.get("/setup").status, form(&server, token).status), (410, 410));
}
