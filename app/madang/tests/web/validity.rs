//! The Nu validator finds no error in the HTML of any main page. It is a program in Java that comes from npm, once, into the
//! target folder.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::npm::package;
use crate::pictures::furnish;
use crate::server::{ADMIN, Start};

const VALIDATOR: &str = "vnu-jar@26.9.27";

/// Everything that Markdown can become, and characters that no document may hold.
const CONTENT: &str = "# Head\n\nOne\ntwo *em* **strong** ~~del~~ `code`\u{1}\u{85}\u{fffe}\n\n> quote\n\n1. a\n2. b\n\n\
    - c\n  - d\n\n```rust\nfn main() {}\n```\n\n| left | mid | right |\n|:--|:-:|--:|\n| 1 | 2 | 3 |\n\n---\n\n\
    ![](https://example.org/a.png) [](https://example.org/) [a](https://example.org/ \"<b>\") <b>raw</b> &amp; \u{202e}x";

#[test]
fn the_html_of_every_page_is_valid() {
    let server = Start::fresh().set("site_url", "https://board.example").start();
    let article = furnish(&server);
    let (_, writer) = server.member("validated");
    let board = server.general();
    let path = format!("/api/v1/boards/{board}/articles");
    let draft = json!({"title": "A <title> & \"more\"", "content": CONTENT});
    let hostile = server.call("POST", &path).token(&writer).json(&draft).send().json(201);
    let hostile = format!("/articles/{}", hostile["article_id"].as_str().unwrap());
    let comment = json!({"content": CONTENT});
    server.call("POST", &format!("/api/v1{hostile}/comments")).token(&writer).json(&comment).send().json(201);

    let folder = tempfile::tempdir().unwrap();
    let admin = format!("madang_session={}", server.sign_in(ADMIN));
    let (edit, delete, report) = (format!("{hostile}/edit"), format!("{hostile}/delete"), format!("{article}/report"));
    for path in
        ["/", "/b/rust", "/b/general?page=9", &article, &hostile, "/hot", "/sign-in", "/sign-up", "/nowhere/at/all"]
    {
        save(&server, folder.path(), "guest", path, "");
    }
    for path in [
        article.as_str(),
        &hostile,
        "/b/rust",
        "/b/rust/write",
        &edit,
        &delete,
        &report,
        "/admin",
        "/admin/dead-letters",
        "/admin/health",
        "/password",
        "/moderation",
        "/moderation?settled=true",
        "/moderation/log",
        "/docs/",
    ] {
        save(&server, folder.path(), "admin", path, &admin);
    }
    let found = errors(folder.path());
    assert!(found.is_empty(), "{}", serde_json::to_string_pretty(&found).unwrap());
    server.stop();

    // And it does find what is wrong.
    let wrong = tempfile::tempdir().unwrap();
    std::fs::write(wrong.path().join("wrong.html"), "<!doctype html><title>x</title><table><td align=left>x</table>")
        .unwrap();
    assert!(!errors(wrong.path()).is_empty());
}

fn save(server: &crate::server::TestServer, folder: &Path, who: &str, path: &str, cookie: &str) {
    let answer = server.call("GET", path).header("accept", "text/html").header("cookie", cookie).send();
    let text = answer.text();
    assert!(text.contains("<html"), "{path}: {} {text}", answer.status);
    std::fs::write(folder.join(format!("{who}{}.html", path.replace(['/', '?'], "-"))), text).unwrap();
}

/// What the validator has to say of the pages in a folder.
fn errors(folder: &Path) -> Vec<Value> {
    let jar = package(VALIDATOR, "vnu-jar/build/dist/vnu.jar");
    let mut java = Command::new(madang_test_servers::program("java"));
    java.arg("-jar").arg(jar).args(["--errors-only", "--skip-non-html", "--format", "json"]).arg(folder);
    let output = java.output().expect("java starts");
    let said = String::from_utf8_lossy(&output.stderr);
    let report: Value = serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"));
    report["messages"].as_array().expect("messages").clone()
}
