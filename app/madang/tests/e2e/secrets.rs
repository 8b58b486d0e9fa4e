//! Secrets stay where they belong: with everything logged that can be, nothing a server prints, answers or shows in the
//! process list holds a password, a token or a key.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::json;

use crate::command::{clean, madang};
use crate::http::Call;
use crate::server::eventually;

const ADMIN: &str = "keeper";
const ADMIN_PASSWORD: &str = "admin-secret-4711-password";
const MEMBER_PASSWORD: &str = "member-secret-0815-password";
const WRONG_PASSWORD: &str = "wrong-secret-2323-password";

/// What each is, and how it would show.
type Secrets = Vec<(&'static str, String)>;

/// Collects everything that is printed.
fn collect(mut from: impl std::io::Read + Send + 'static, into: &Arc<Mutex<Vec<u8>>>) {
    let into = into.clone();
    std::thread::spawn(move || {
        let mut buffer = [0; 4_096];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            into.lock().expect("whole").extend_from_slice(&buffer[..count]);
        }
    });
}

#[test]
fn no_secret_is_printed_answered_or_shown() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let mut command = Command::new(madang());
    clean(&mut command).args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(&data);
    command.args(["--set", "log_level=trace", "--set", "hash_memory_kib=8", "--set", "hash_passes=1"]);
    command.env("MADANG_ADMIN_NAME", ADMIN).env("MADANG_ADMIN_PASSWORD", ADMIN_PASSWORD);
    let mut server = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let printed = Arc::new(Mutex::new(Vec::new()));
    collect(server.stdout.take().unwrap(), &printed);
    collect(server.stderr.take().unwrap(), &printed);
    let text = || String::from_utf8_lossy(&printed.lock().expect("whole")).into_owned();
    let address = eventually("it listens", || {
        let text = text();
        let line = text.lines().find_map(|line| line.strip_prefix("listening on http://"))?;
        Some(line.to_owned())
    });

    let mut answered = String::new();
    let mut secrets: Secrets = Vec::from([
        ("the administrator's password", ADMIN_PASSWORD.to_owned()),
        ("a member's password", MEMBER_PASSWORD.to_owned()),
        ("a wrong password", WRONG_PASSWORD.to_owned()),
    ]);
    let sign_in = |name: &str, password: &str| {
        let body = json!({"name": name, "password": password});
        Call::new(&address, "POST", "/api/v1/sessions").json(&body).send()
    };
    let token_of = |answer: crate::http::Answer| answer.json(201)["token"].as_str().unwrap().to_owned();
    let admin = token_of(sign_in(ADMIN, ADMIN_PASSWORD));
    let member = json!({"name": "somebody", "password": MEMBER_PASSWORD});
    answered += &Call::new(&address, "POST", "/api/v1/members").json(&member).send().text();
    let token = token_of(sign_in("somebody", MEMBER_PASSWORD));
    answered += &sign_in("somebody", WRONG_PASSWORD).text();
    answered += &sign_in("nobody_here", WRONG_PASSWORD).text();
    // Typed into the wrong field.
    answered += &sign_in(WRONG_PASSWORD, "somebody").text();
    let boards = Call::new(&address, "GET", "/api/v1/boards").send().json(200);
    let articles = format!("/api/v1/boards/{}/articles", boards["items"][0]["board_id"].as_str().unwrap());
    let article = json!({"title": "a", "content": "b"});
    for bearer in [admin.as_str(), &token, &format!("{token}x"), &token[..token.len() - 4]] {
        for (method, path) in
            [("POST", articles.as_str()), ("GET", "/api/v1/members/me"), ("GET", "/admin"), ("GET", "/")]
        {
            let call = Call::new(&address, method, path).token(bearer).header("connection", "close");
            answered += &if method == "POST" { call.json(&article) } else { call }.send().text();
            let cookie = format!("madang_session={bearer}");
            let call = Call::new(&address, method, path).header("cookie", &cookie).header("connection", "close");
            answered += &if method == "POST" { call.json(&article) } else { call }.send().text();
        }
    }
    // What is no HTTP ends in a line for whoever debugs.
    let mut garbled = TcpStream::connect(&address).unwrap();
    garbled.write_all(format!("{token}\r\n\r\n").as_bytes()).unwrap();
    let _ = garbled.read_to_end(&mut Vec::new());
    for path in ["/metrics", "/readyz", "/healthz", "/openapi.json", "/api/v1/nothing", "/sign-in"] {
        answered += &Call::new(&address, "GET", path).send().text();
    }
    secrets.push(("the administrator's token", admin));
    secrets.push(("a member's token", token));
    for file in std::fs::read_dir(data.join("keys")).unwrap().filter_map(Result::ok) {
        let key = std::fs::read(file.path()).unwrap();
        assert!(key.len() >= 16, "{} is no key", file.path().display());
        secrets.push(("a key", hex::encode(&key)));
        secrets.push(("a key, as numbers", key[..8].iter().map(u8::to_string).collect::<Vec<_>>().join(", ")));
    }
    let process = |name: &str| {
        std::fs::read(format!("/proc/{}/{name}", server.id())).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    };
    let listed = process("cmdline").unwrap_or_default() + &process("comm").unwrap_or_default();
    let told = Command::new("kill").args(["-TERM", &server.id().to_string()]).status();
    assert!(told.unwrap().success() && server.wait().unwrap().success());

    let places = [("the log", text()), ("an answer", answered), ("the process list", listed)];
    assert!(places[0].1.contains("TRACE") || places[0].1.contains("DEBUG"), "everything was logged");
    for (secret, value) in &secrets {
        for (place, shown) in &places {
            let at = shown.find(value.as_str());
            let near = at.map(|at| {
                shown[..at].chars().rev().take(200).collect::<Vec<_>>().into_iter().rev().collect::<String>()
            });
            assert!(at.is_none(), "{secret} is in {place}, after: {}", near.unwrap_or_default());
        }
    }
}
