//! Two people with the same article open: what one does, the other sees without doing anything.

use std::time::Duration;

use crate::browser::{Browser, Kind};
use crate::driver::Driver;
use crate::server::TestServer;

/// What readers are promised.
const SEEN_WITHIN: Duration = Duration::from_secs(1);
/// A busy machine may miss it now and then; all of them it does not.
const TRIES: usize = 5;

/// Notes when a comment with a text appears, by the clock that both browsers share.
const NOTE: &str = "window.seen = {}; new MutationObserver(() => { for (const c of document.querySelectorAll('.comment .text')) \
    window.seen[c.textContent.trim()] ??= Date.now(); }).observe(document.querySelector('#comment-list'), { childList: true });";

#[tokio::test]
async fn a_comment_in_one_browser_appears_in_the_other_within_a_second() {
    let driver = Driver::start();
    let server = TestServer::fresh();
    let writer = Browser::open(&driver, &server.address, Kind::default()).await;
    let reader = Browser::open(&driver, &server.address, Kind::default()).await;
    writer.sign_up("writer").await;
    let article = writer.write("general", "Open twice", "text").await;
    reader.go(&article).await.see("#comments").await;
    reader.run(NOTE).await;

    let mut quickest = Duration::MAX;
    for number in 0..TRIES {
        let text = format!("words number {number}.");
        writer.fill("#comment-form textarea", &text).await;
        let sent = writer.run("return Date.now()").await.as_u64().unwrap();
        writer.press("#comment-form button").await;
        reader.see_text(".comment", &text).await;
        let seen = reader.run(&format!("return window.seen['{text}']")).await.as_u64().unwrap();
        quickest = quickest.min(Duration::from_millis(seen.saturating_sub(sent)));
    }
    assert!(quickest < SEEN_WITHIN, "the quickest of {TRIES} took {quickest:?}");
    reader.see_text("#comment-count", &TRIES.to_string()).await;

    writer.press("#like button").await;
    reader.see_text(".facts .like-count", "1").await;

    // While somebody types, nothing is put in above: a quiet word tells of it.
    let other = Browser::open(&driver, &server.address, Kind::default()).await;
    other.sign_up("other").await;
    other.go(&article).await.fill("#comment-form textarea", "still thinking").await;
    writer.comment("one more while you type").await;
    other.see_text("#live-notice", "1 new comment").await.press("#live-notice button").await;
    other.see_text(".comment", "one more while you type").await;
    let typed = other.see("#comment-form textarea").await.prop("value").await.unwrap();
    assert_eq!(typed.as_deref(), Some("still thinking"));
    for browser in [writer, reader, other] {
        browser.close().await;
    }
    // Open streams do not hold a stopping server.
    server.stop();
}
