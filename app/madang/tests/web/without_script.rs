//! The first steps with scripts off: everything is a page and a form.

use crate::browser::{Browser, Kind};
use crate::driver::Driver;
use crate::server::TestServer;

#[tokio::test]
async fn everything_works_without_a_script() {
    let driver = Driver::start();
    let server = TestServer::fresh();
    let kind = Kind { script: false, ..Kind::default() };
    let browser = Browser::open(&driver, &server.address, kind).await;
    browser.sign_up("plain_ann").await;
    browser.write("general", "Written by hand", "Some **bold** words").await;
    browser.see_text(".reading strong", "bold").await;
    browser.press("a[href$='/edit']").await.fill("#f-content", "Other words").await;
    browser.press("#article-form button.strong").await.see_text(".reading .text", "Other words").await;

    browser.comment("a comment by hand").await;
    browser.press(".comment .reply").await.arrive("/reply").await;
    browser.fill("#reply-form textarea", "a reply by hand").await.press("#reply-form button").await;
    browser.see_text(".comment[data-level='2']", "a reply by hand").await;

    browser.press(".comment .actions a[href$='/edit']").await.fill("#comment-edit textarea", "better by hand").await;
    browser.press("#comment-edit button.strong").await.see_text(".comment .text", "better by hand").await;
    browser.see_text(".comment .edited", "edited").await;

    browser.press("#like button").await.see("#like button[aria-pressed='true']").await;
    browser.press("#like button").await.see("#like button[aria-pressed='false']").await;

    browser
        .go("/b/general")
        .await
        .press("button[value='scroll']")
        .await
        .see("button[value='scroll'][aria-pressed='true']")
        .await;
    browser.press("footer button[value='ko']").await.see("html[lang='ko']").await;
    browser.press("footer button[value='dark']").await.see("html[data-theme='dark']").await;
    browser.press("form[action='/sign-out'] button").await.see("a[href^='/sign-in']").await;
    browser.close().await;
    server.stop();
}
