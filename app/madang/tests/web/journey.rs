//! The whole way through the site with a script: from the set-up link to signing out.

use serde_json::json;

use crate::browser::{Browser, Kind};
use crate::driver::Driver;
use crate::server::{PASSWORD, Start, TestServer};

#[tokio::test]
async fn from_the_set_up_token_to_signing_out() {
    let driver = Driver::start();
    let directory = tempfile::tempdir().unwrap();
    let server = Start::in_directory(directory.path()).start();
    let told: Vec<String> = (0..4).map(|_| server.line()).collect();
    let token = told[3].split_once("/setup and enter the token ").expect("a token for this server").1.to_owned();
    let browser = Browser::open(&driver, &server.address, Kind::default()).await;

    browser.go("/setup").await.fill("#f-token", &token).await.fill("#f-name", "first_admin").await;
    browser.fill("#f-password", PASSWORD).await.press("form.write button").await.see_text(".who", "first_admin").await;
    browser.see_text(".notice", "You are the administrator").await.see_text("#health-title", "Health").await;
    browser.fill("#f-slug", "trees").await.fill("#f-title", "Trees").await;
    browser.run("document.querySelector('#f-mode').value = 'tree'").await;
    browser.press("form[action='/admin/boards'] button").await.see_text("h1", "Trees").await.sign_out().await;

    browser.sign_up("ann").await;
    write_and_edit(&browser).await;
    discuss(&browser).await;
    like_and_unlike(&browser).await;
    let article = browser.path().await;
    browser.sign_out().await;

    browser.sign_in("first_admin").await;
    moderate(&browser, &article).await;
    browser.sign_out().await;
    browser.go(&article).await.see_text("main", "Not found").await;
    browser.close().await;
    server.stop();
}

async fn write_and_edit(browser: &Browser) {
    browser.go("/b/trees").await.press("a[href='/b/trees/write']").await;
    browser.fill("#f-title", "A first article").await.fill("#f-content", "Some **bold** words").await;
    browser.see_text("#preview strong", "bold").await;
    // A closed tab does not lose the draft.
    browser.until("return Object.values(localStorage).join().includes('**bold** words')").await;
    browser.go("/hot").await.go("/b/trees/write").await.see("#draft-notice:not([hidden])").await;
    assert_eq!(browser.see("#f-title").await.prop("value").await.unwrap().as_deref(), Some("A first article"));
    browser.press("#article-form button.strong").await.see_text(".reading strong", "bold").await;
    browser.press("a[href$='/edit']").await.fill("#f-content", "Other *words*").await;
    browser.press("#article-form button.strong").await.see_text(".reading em", "words").await;
    browser.see_text(".reading .facts", "edited").await;
    let article = browser.path().await;
    browser.go("/b/trees/write").await.see("#draft-notice[hidden]").await;
    browser.go(&article).await;
}

async fn discuss(browser: &Browser) {
    browser.comment("at the first level").await;
    for (parent, reply, level) in [
        ("at the first level", "at the second level", 2),
        ("at the second level", "at the third level", 3),
        ("at the first level", "another reply", 2),
    ] {
        let id = browser.comment_id(parent).await;
        browser.press(&format!("#{id} > .actions .reply")).await;
        browser.fill(&format!("#{id} .reply-place textarea"), reply).await;
        browser.press(&format!("#{id} .reply-place button")).await;
        browser.see_text(&format!(".comment[data-level='{level}'] .text"), reply).await;
    }
    let script = "return [...document.querySelectorAll('.comment .text')].map(text => text.textContent.trim())";
    let order = ["at the first level", "at the second level", "at the third level", "another reply"];
    assert_eq!(browser.run(script).await, json!(order), "each reply stands below what it answers");
    browser.client.refresh().await.unwrap();
    browser.see_text(".comment[data-level='3']", "at the third level").await;
    assert_eq!(browser.run(script).await, json!(order), "as the server has it");
    browser.fill("#comment-form textarea", "\u{2003}").await.press("#comment-form button").await;
    browser.see_text("#comment-form .problem", "must not be blank").await.fill("#comment-form textarea", "").await;
}

async fn like_and_unlike(browser: &Browser) {
    for (pressed, count) in [("true", "1"), ("false", "0"), ("true", "1")] {
        browser.press("#like button").await;
        browser.see(&format!("#like button[aria-pressed='{pressed}']:not([aria-busy])")).await;
        browser.see_text("#like .like-count", count).await.see_text(".facts .like-count", count).await;
    }
    browser.client.refresh().await.unwrap();
    browser.see("#like button[aria-pressed='true']").await;
    browser.press("#like button").await.see("#like button[aria-pressed='false']:not([aria-busy])").await;
}

async fn moderate(browser: &Browser, article: &str) {
    browser.go(article).await;
    let id = browser.comment_id("another reply").await;
    browser.press(&format!("#{id} .actions a[href$='/delete']")).await;
    browser.fill("#f-reason", "rule 3").await.press("button.danger").await.see(".discussion").await;
    // Its mark stays for as long as moderators can bring it back.
    browser.see_text(&format!("#{id} .gone"), "This comment was deleted").await;
    browser.see_text(".notice", "The comment was deleted").await;
    browser.press(".reading .actions a[href$='/delete']").await;
    browser.fill("#f-reason", "rule 1").await.press("button.danger").await.see_text("h1", "Trees").await;
}

#[tokio::test]
async fn pages_are_numbered_or_go_on_without_end() {
    let driver = Driver::start();
    let server = TestServer::fresh();
    let (_, token) = server.member("writer");
    let board = server.general();
    for number in 0..95 {
        server.article(&board, &token, &format!("article number {number}."));
    }
    let browser = Browser::open(&driver, &server.address, Kind::default()).await;
    browser.go("/b/general").await.see_text("#articles", "article number 94.").await;
    browser.press(".pager a[href='/b/general?page=3']").await.see_text(".pager [aria-current]", "3").await;
    browser.see_text("#articles", "article number 5.").await;
    assert_eq!(browser.count("#articles > tr").await, 30);

    browser.press("button[value='scroll']").await.see("#older").await;
    browser.see_no(".pager").await;
    browser.run("scrollTo(0, document.body.scrollHeight)").await;
    browser.until("return document.querySelectorAll('#articles > tr').length >= 60").await;
    browser.run("scrollTo(0, document.body.scrollHeight)").await;
    browser
        .until(
            "scrollTo(0, document.body.scrollHeight); return document.querySelectorAll('#articles > tr').length === 95",
        )
        .await;
    browser.see_no("#older").await.arrive("?before=").await;
    let place = browser.path().await;
    browser.go("/hot").await.go(&place).await;
    let shown = browser.see("#articles > tr:first-child").await.text().await.unwrap();
    assert!(!shown.contains("article number 94."), "the address says where one was: {shown}");
    browser.close().await;
    server.stop();
}
