//! What the script adds to writing: an editor that keeps its shape, replies that are sent and left by keys, forms that say what
//! is wrong with them.

use fantoccini::key::Key;

use crate::browser::{Browser, Kind};
use crate::driver::Driver;
use crate::pictures::{picture, picture_here};
use crate::server::TestServer;

const LONG_LINE: &str = "```\nlet a_line_that_is_much_longer_than_any_window_is_wide = \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\";\n```";

#[tokio::test]
async fn a_long_line_in_the_preview_moves_nothing() {
    let driver = Driver::start();
    let server = TestServer::fresh();
    for (phone_px, width) in [(Some(320), 320), (Some(375), 375), (None, 1280)] {
        let browser = Browser::open(&driver, &server.address, Kind { phone_px, ..Kind::default() }).await;
        browser.sign_up(&format!("writer_{width}")).await;
        browser.go("/b/general/write").await.fill("#f-content", "short").await.see_text("#preview", "short").await;
        let field = "return document.querySelector('#f-content').offsetWidth";
        let before = browser.run(field).await;
        browser.run(&format!("const f = document.querySelector('#f-content'); f.value = {}; f.dispatchEvent(new Event('input', {{ bubbles: true }}))", serde_json::json!(LONG_LINE))).await;
        browser.see("#preview pre").await;
        assert_eq!(browser.run(field).await, before, "at {width} px");
        picture_here(&browser, &format!("editor-long-line-{width}")).await;
        browser.run("document.querySelector('#f-content').value = ''").await;
        browser.close().await;
    }
    server.stop();
}

#[tokio::test]
async fn replies_are_sent_and_left_by_keys() {
    let driver = Driver::start();
    let server = TestServer::fresh();
    let browser = Browser::open(&driver, &server.address, Kind::default()).await;
    browser.sign_up("ann").await;
    browser.write("general", "Keys", "text").await;
    browser.comment("the root").await;
    let send = format!("{}{}", Key::Control, Key::Enter);
    let id = browser.comment_id("the root").await;
    let (open, field) = (format!("#{id} > .actions .reply"), format!("#{id} .reply-place textarea"));

    // Escape leaves an empty reply at once, and the way in has the focus again.
    browser.press(&open).await.see(&field).await.send_keys(&Key::Escape).await.unwrap();
    browser.see_no(".reply-place").await.until("return document.activeElement.matches('a.reply')").await;
    // With text it asks first; who stays keeps the text.
    browser.press(&open).await.fill(&field, "half a thought").await;
    browser.see(&field).await.send_keys(&Key::Escape).await.unwrap();
    browser.client.dismiss_alert().await.unwrap();
    assert_eq!(browser.see(&field).await.prop("value").await.unwrap().as_deref(), Some("half a thought"));
    picture_here(&browser, "reply-open-1280").await;
    browser.press(".reply-place .cancel").await.client.accept_alert().await.unwrap();
    browser.see_no(".reply-place").await;
    // What was left is forgotten, and Ctrl+Enter sends.
    browser.press(&open).await;
    assert_eq!(browser.see(&field).await.prop("value").await.unwrap().as_deref(), Some(""));
    browser.fill(&field, "by keys alone").await.see(&field).await.send_keys(&send).await.unwrap();
    browser.see_text(".comment[data-level='2'] .text", "by keys alone").await;
    browser.fill("#comment-form textarea", "a comment by keys").await;
    browser.see("#comment-form textarea").await.send_keys(&send).await.unwrap();
    browser.see_text(".comment .text", "a comment by keys").await;
    browser.close().await;
    server.stop();
}

#[tokio::test]
async fn what_is_invalid_looks_so_and_plain_links_are_plain() {
    let driver = Driver::start();
    let server = TestServer::fresh();
    let browser = Browser::open(&driver, &server.address, Kind::default()).await;
    browser.go("/sign-up").await.run("document.querySelectorAll('form').forEach(form => form.noValidate = true)").await;
    browser.fill("#f-name", "a b").await.fill("#f-password", "short").await.press("form.write button").await;
    browser.see("#f-name[aria-invalid]").await;
    picture_here(&browser, "sign-up-refused-1280").await;
    let colour = |css: &str| format!("return getComputedStyle(document.querySelector('{css}')).borderTopColor");
    let invalid = browser.run(&colour("#f-name")).await;
    let wrong = browser.run("return getComputedStyle(document.querySelector('.wrong')).color").await;
    assert_eq!(invalid, wrong, "an invalid field has the colour of what is wrong");
    browser.press(".problem a[href='#f-password']").await;
    browser.until("return location.hash === '#f-password'").await;

    browser.sign_up("ann").await;
    browser.write("general", "Plain", "A [link](https://example.org/).").await;
    browser.comment("words").await;
    let decoration = |css: &str| format!("return getComputedStyle(document.querySelector('{css}')).textDecorationLine");
    for (css, expected) in [
        (".crumb a", "none"),
        (".reading > .facts a", "none"),
        (".comment .facts a", "none"),
        (".comment .actions a", "none"),
        (".more a", "none"),
        (".reading .text a", "underline"),
    ] {
        assert_eq!(browser.run(&decoration(css)).await, expected, "{css}");
    }
    browser.close().await;
    server.stop();
}

#[tokio::test]
async fn tables_keep_their_words_and_are_scrolled_by_keyboard() {
    let driver = Driver::start();
    let server = TestServer::fresh();
    let (_, token) = server.member("writer");
    let board = server.general();
    let table = "| Engine | Throughput | Durability |\n|---|--:|:-:|\n| SQLite | 32,000/s | synchronous |\n| MariaDB | 21,000/s | innodb_flush_log_at_trx_commit |";
    let path = format!("/api/v1/boards/{board}/articles");
    let draft = serde_json::json!({"title": "A table", "content": format!("{table}\n\n{LONG_LINE}")});
    let written = server.call("POST", &path).token(&token).json(&draft).send().json(201);
    let article = format!("/articles/{}", written["article_id"].as_str().unwrap());
    let browser = Browser::open(&driver, &server.address, Kind { phone_px: Some(320), ..Kind::default() }).await;
    picture(&browser, &article, "table-320").await;
    // One line each: no word is broken.
    let heights = "return [...document.querySelectorAll('.text th')].map(cell => cell.getClientRects()[0].height)";
    let heights = browser.run(heights).await;
    assert!(heights.as_array().unwrap().iter().all(|height| height.as_f64().unwrap() < 40.0), "{heights}");
    for css in [".text table", ".text pre"] {
        let scroll = format!(
            "const box = document.querySelector('{css}'); box.focus(); return box === document.activeElement && box.scrollWidth > box.clientWidth"
        );
        assert_eq!(browser.run(&scroll).await, true, "{css}");
    }
    browser.see(".text pre").await.send_keys(&Key::Right).await.unwrap();
    browser.until("return document.querySelector('.text pre').scrollLeft > 0").await;
    browser.close().await;
    server.stop();
}

#[tokio::test]
async fn drafts_are_given_to_nobody_else() {
    let driver = Driver::start();
    let server = TestServer::fresh();
    let browser = Browser::open(&driver, &server.address, Kind::default()).await;
    browser.sign_up("bob").await;
    browser.sign_out().await;
    browser.sign_up("ann").await;
    let article = browser.write("general", "Drafts", "text").await;
    let kept = |part: &str| format!("return Object.keys(localStorage).some(key => key.includes('{part}'))");
    let none = "return !Object.keys(localStorage).some(key => key.startsWith('draft:'))";
    let type_both = async || {
        browser.go(&article).await.fill("#comment-form textarea", "a secret comment").await;
        browser.until(&kept(":comment-")).await.go("/b/general/write").await;
        browser.fill("#f-content", "a secret article").await.until(&kept(":/b/general/write")).await;
    };
    let finds_none = async || {
        browser.go("/b/general/write").await.see("#draft-notice[hidden]").await;
        assert_eq!(browser.see("#f-content").await.prop("value").await.unwrap().as_deref(), Some(""));
        let field = browser.go(&article).await.see("#comment-form textarea").await;
        assert_eq!(field.prop("value").await.unwrap().as_deref(), Some(""));
    };
    // Signing out removes them, also what the form says that is left by it.
    type_both().await;
    browser.sign_out().await;
    browser.until(none).await;
    browser.sign_in("bob").await;
    finds_none().await;
    browser.sign_out().await;
    // A session that ended by itself keeps them, out of sight, until somebody else signs in.
    browser.sign_in("ann").await;
    type_both().await;
    browser.client.delete_all_cookies().await.unwrap();
    browser.go(&article).await.until(&kept(":comment-")).await.see_no("#comment-form").await;
    browser.sign_in("ann").await;
    browser.go("/b/general/write").await.see("#draft-notice:not([hidden])").await;
    browser.client.delete_all_cookies().await.unwrap();
    browser.sign_in("bob").await;
    finds_none().await;
    browser.until(none).await;
    browser.close().await;
    server.stop();
}
