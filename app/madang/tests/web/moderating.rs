//! From a report to a suspension, as the people on both sides see it.

use crate::browser::{Browser, Kind};
use crate::driver::Driver;
use crate::pictures::picture_here;
use crate::server::{ADMIN, PASSWORD, TestServer};

#[tokio::test]
async fn from_a_report_to_a_suspension_and_back() {
    let driver = Driver::start();
    let server = TestServer::fresh();
    let browser = Browser::open(&driver, &server.address, Kind::default()).await;
    browser.sign_up("ann").await;
    let article = browser.write("general", "Buy this", "Again and again.").await;
    browser.sign_out().await;

    browser.sign_up("bob").await;
    browser.go(&article).await.press(".actions a[href$='/report']").await;
    browser.fill("#f-reason", "an advertisement").await.press("form.write button").await;
    browser.see_text(".notice", "sent to the moderators").await.sign_out().await;

    browser.sign_in(ADMIN).await;
    browser.press("a[href='/moderation']").await.see_text(".entries", "an advertisement").await;
    browser.see_text(".reported", "Buy this").await.see_text(".reported", "ann").await;
    picture_here(&browser, "moderation-report-1280").await;
    browser.fill("input[name='note']", "suspended them").await.press(".settle button").await;
    browser.see_text(".notice", "The report was closed").await.see_text(".empty", "No open reports").await;
    browser.go(&article).await.press("a[rel~='author']").await.see_text("#their-articles", "Articles").await;
    browser
        .fill("#f-reason", "advertising")
        .await
        .press("section button.danger")
        .await
        .see_text(".notice", "The member is suspended")
        .await;
    browser.go("/moderation/log").await.see_text(".entries", "advertising").await.sign_out().await;

    browser.sign_in("ann").await;
    browser.go(&article).await.see_text(".discussion .notice", "Reason: advertising").await;
    browser.see_no("#like, #comment-form").await;
    picture_here(&browser, "suspended-article-1280").await;
    browser.go("/b/general").await.see_no("a[href$='/write']").await;
    browser.go("/b/general/write").await.see_text("h1", "Your account is suspended").await;
    picture_here(&browser, "suspended-1280").await;
    browser.go("/password").await.fill("#f-current", PASSWORD).await.fill("#f-new", "another long one").await;
    browser.press("form.write button").await.see_text(".notice", "Your password was changed").await.sign_out().await;
    browser.close().await;
    server.stop();
}
