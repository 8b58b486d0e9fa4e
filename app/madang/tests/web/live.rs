//! Two people with the same article open: what one does, the other sees without doing anything.

use std::time::Duration;

use crate::browser::{Browser, Kind};
use crate::driver::Driver;
use crate::server::TestServer;
use crate::stream::{EventStream, Lateness, TOLD_WITHIN};

/// Comments of which each is timed.
const SAMPLES: usize = 5;

/// Notes when each comment appears, by the clock that all processes share, and how late the page lets anything be.
const NOTE: &str = "window.seen = {}; window.late = 0; \
    let due = performance.now() + 10; setInterval(() => { const now = performance.now(); \
    window.late = Math.max(window.late, now - due); due = now + 10; }, 10); \
    new MutationObserver(() => { for (const c of document.querySelectorAll('.comment')) window.seen[c.id] ??= Date.now(); }) \
    .observe(document.querySelector('#comment-list'), { childList: true });";

/// Notes when the server answers that a comment is written.
const NOTE_ANSWER: &str = "const send = window.fetch; window.fetch = async (...asked) => { const answer = await send(...asked); \
    if (answer.status === 201) window.answered = Date.now(); return answer; };";

/// Milliseconds by the clock that all processes share.
fn now_ms() -> u64 {
    u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap()
}

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

    writer.run(NOTE_ANSWER).await;

    // A stream of the test's own is told too, so that it is known what the server takes and what the browsers.
    let id = article.strip_prefix("/articles/").unwrap();
    let (stream, lateness) = (EventStream::open(&server.address, id, None), Lateness::watch());
    stream.next();
    for number in 0..SAMPLES {
        let text = format!("words number {number}.");
        writer.comment(&text).await;
        let answered_ms = writer.run("return window.answered").await.as_u64().unwrap();
        let comment = writer.comment_id(&text).await;
        let heard = stream.until_created(comment.strip_prefix('c').unwrap());
        let told_ms = now_ms().saturating_sub(u64::try_from(heard.at.elapsed().as_millis()).unwrap());
        let told = Duration::from_millis(told_ms.saturating_sub(answered_ms));
        reader.see(&format!("#{comment}")).await;
        let seen_ms = reader.run(&format!("return window.seen['{comment}']")).await.as_u64().unwrap();
        let seen = Duration::from_millis(seen_ms.saturating_sub(answered_ms));
        let page_late = reader.run("const late = window.late; window.late = 0; return late").await.as_f64().unwrap();
        let late = lateness.most();
        // On a quiet machine both are a few milliseconds. The way to the page has three hops: told, asks, is answered.
        let allowance = 3 * (late + Duration::from_secs_f64(page_late.max(0.0) / 1_000.0));
        eprintln!("comment {number}: told after {told:?}, seen after {seen:?}, late by {late:?} and {page_late:.0} ms");
        assert!(told < TOLD_WITHIN + late, "comment {number} was told after {told:?}");
        assert!(seen < TOLD_WITHIN + allowance, "comment {number} was seen after {seen:?}");
    }
    reader.see_text("#comment-count", &SAMPLES.to_string()).await;

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
    // What is corrected elsewhere changes in its place. The reply that somebody writes to it stays open with what was typed.
    let first = other.comment_id("words number 0.").await;
    let reply = format!("#{first} .reply-place textarea");
    other.press(&format!("#{first} a.reply")).await.fill(&reply, "half a reply").await;
    let top = format!("return document.querySelector('{reply}').getBoundingClientRect().top");
    let before = other.run(&top).await.as_f64().unwrap();
    let long = format!("corrected words.{}", "\n\nAnother line.".repeat(8));
    writer.press(&format!("#{first} .actions a[href$='/edit']")).await.fill("#comment-edit textarea", &long).await;
    writer.press("#comment-edit button.strong").await.see_text(&format!("#{first} .text"), "corrected words.").await;
    for page in [&reader, &other] {
        page.see_text(&format!("#{first} .text"), "corrected words.")
            .await
            .see(&format!("#{first} .edited time[title]"))
            .await;
    }
    assert_eq!(other.see(&reply).await.prop("value").await.unwrap().as_deref(), Some("half a reply"));
    let moved = other.run(&top).await.as_f64().unwrap() - before;
    assert!(moved.abs() < 2.0, "the field somebody types into moved by {moved} px");
    other.run(&format!("document.querySelector('{reply}').value = ''")).await;
    writer
        .press(&format!("#{first} .actions a[href$='/edit']"))
        .await
        .fill("#comment-edit textarea", "words number 0.")
        .await;
    writer.press("#comment-edit button.strong").await.see_text(&format!("#{first} .text"), "words number 0.").await;
    reader.see_text(&format!("#{first} .text"), "words number 0.").await;
    // What is deleted elsewhere loses its text in every open page, and keeps its place.
    let gone = reader.comment_id("words number 0.").await;
    writer.press(&format!("#{gone} .actions a[href$='/delete']")).await.press("button.danger").await;
    reader.see_text(&format!("#{gone} .gone"), "This comment was deleted").await;
    reader.see_no(&format!("#{gone} .text")).await;
    reader.see_text("#comment-count", &SAMPLES.to_string()).await;
    for browser in [writer, reader, other] {
        browser.close().await;
    }
    // Open streams do not hold a stopping server.
    server.stop();
}
