//! A small text that wants to be a huge page, written thirty times: the page stays small.

use serde_json::json;

use crate::server::{ADMIN, TestServer};

const COMMENTS: usize = 30;

/// 788 characters; without a bound, 196 KB of HTML.
pub(crate) fn sparse_table() -> String {
    format!("{}\n{}\n{}", "|a".repeat(99), "|-".repeat(99), "a\n".repeat(195))
}

/// An article under which a text stands thirty times.
pub(crate) fn attacked_article(server: &TestServer, text: &str) -> String {
    let token = server.sign_in(ADMIN);
    let article = server.article_id(&server.general(), &token);
    for _ in 0..COMMENTS {
        let path = format!("/api/v1/articles/{article}/comments");
        server.call("POST", &path).token(&token).json(&json!({"content": text})).send().json(201);
    }
    article
}

#[test]
fn thirty_small_comments_are_a_small_page_to_guests_and_members() {
    let server = TestServer::shared();
    let article = attacked_article(&server, &sparse_table());
    let (_, token) = server.member("reader");
    for cookie in [String::new(), format!("madang_session={token}")] {
        let page = server.call("GET", &format!("/articles/{article}")).header("cookie", &cookie).send();
        assert_eq!(page.status, 200);
        let text = page.text();
        assert_eq!(text.matches("<li class=\"comment\"").count(), COMMENTS);
        assert!(text.len() < 8 * COMMENTS * sparse_table().len() + 64 * 1_024, "{} bytes", text.len());
    }
}
