//! What travels beside the pages: policies, tags, compression, assets, and what happens when the store is away.

use std::io::Read as _;
use std::time::Duration;

use crate::support::TestSite;

#[tokio::test]
async fn no_page_loads_or_runs_anything_of_another_host() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let article = ann.write("general", "t", "[a](https://elsewhere.example/)").await;
    for path in ["/", "/b/general", &article, "/hot", "/sign-up", "/nowhere", "/b/general/write"] {
        let page = ann.get(path).await;
        let policy = page.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self'"), "{path}: {policy}");
        assert!(!policy.contains("unsafe"), "{path}");
        assert_eq!(page.header("x-content-type-options"), "nosniff");
        assert_eq!(page.header("cross-origin-opener-policy"), "same-origin", "{path}");
        assert!(page.header("permissions-policy").contains("camera=(), "), "{path}");
        let text = page.text();
        for inline in ["style=\"", " onclick", "<style", "javascript:"] {
            assert!(!text.contains(inline), "{path} has {inline}");
        }
        assert!(!text.replace("<script src=\"/assets/", "").contains("<script"), "{path}");
        for part in text.split("src=\"").skip(1) {
            assert!(part.starts_with("/assets/"), "{path} loads {part:.60}");
        }
    }
    ann.get(&article).await.says("rel=\"nofollow ugc noopener\"");
}

#[tokio::test]
async fn a_form_that_does_not_arrive_in_time_is_answered_with_a_page_that_says_so() {
    let site = TestSite::open().await.with(|state| state.policy.body_timeout = Duration::from_millis(50));
    let page = site.guest().post_without_end("/sign-in").await;
    page.assert(408).says("<h1>It did not arrive in time</h1>").says("nothing was saved");
    assert_eq!(page.header("connection"), "close");
    site.guest().speaking("ko").post_without_end("/sign-in").await.assert(408).says("저장되지 않았습니다");
}

#[tokio::test]
async fn no_page_is_kept_by_a_cache_that_others_share() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let article = ann.write("general", "t", "c").await;
    for path in ["/", "/b/general", &article, "/sessions", "/password", "/b/general/write"] {
        let page = ann.get(path).await;
        let directives = page.assert(200).header("cache-control");
        assert!(directives.contains("private") || directives.contains("no-store"), "{path}: {directives}");
        assert!(page.header("vary").contains("cookie") || directives.contains("no-store"), "{path}");
    }
}

#[tokio::test]
async fn a_page_that_did_not_change_is_not_sent_again() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let article = ann.write("general", "t", "c").await;
    let guest = site.guest();
    guest.get(&article).await.assert(200);
    let page = guest.get(&article).await;
    let tag = page.header("etag").to_owned();
    let again = guest.get_with(&article, &[("if-none-match", &tag)]).await;
    assert!(again.assert(304).body.is_empty());
    assert!(guest.get_with(&article, &[("if-none-match", "*")]).await.assert(304).body.is_empty());
    ann.comment(&article, "new words", "").await;
    guest.get_with(&article, &[("if-none-match", &tag)]).await.assert(200).says("new words");
}

#[tokio::test]
async fn people_read_what_they_wrote_at_once() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let article = ann.write("general", "t", "c").await;
    let guest = site.guest();
    for number in 0..20 {
        ann.comment(&article, &format!("words number {number}."), "").await;
        guest.get(&article).await.says(&format!("words number {number}."));
        guest.get(&article).await.says(&format!("words number {number}."));
    }
}

#[tokio::test]
async fn a_compressed_page_says_the_same() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let article = ann.write("general", "t", &"some text ".repeat(200)).await;
    for person in [&site.guest(), &ann] {
        person.get(&article).await.assert(200);
        let zipped = person.get_with(&article, &[("accept-encoding", "gzip")]).await;
        assert_eq!(zipped.header("content-encoding"), "gzip");
        let mut text = String::new();
        flate2::read::GzDecoder::new(&zipped.body[..]).read_to_string(&mut text).unwrap();
        assert!(text.contains("some text some text") && text.ends_with("</html>"));
        assert!(zipped.body.len() * 2 < text.len());
    }
}

#[tokio::test]
async fn an_article_with_thirty_comments_is_light() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let article = ann.write("general", "t", "Half a page of text. ").await;
    for number in 0..30 {
        ann.comment(&article, &format!("Comment {number} says a thing or two about the article above it."), "").await;
    }
    let zipped = ann.get_with(&article, &[("accept-encoding", "gzip")]).await;
    assert!(zipped.body.len() < 60 * 1_024, "{} bytes", zipped.body.len());
}

#[tokio::test]
async fn assets_are_named_by_what_they_contain_and_kept_for_good() {
    let site = TestSite::open().await;
    let page = site.guest().get("/").await.text();
    for (start, kind) in [("href=\"/assets/madang.", "text/css"), ("src=\"/assets/madang.", "text/javascript")] {
        let name = page.split(start).nth(1).unwrap().split('"').next().unwrap();
        let asset = site.guest().get_with(&format!("/assets/madang.{name}"), &[("accept-encoding", "gzip")]).await;
        assert!(asset.assert(200).header("content-type").starts_with(kind));
        assert_eq!(asset.header("cache-control"), "public, max-age=31536000, immutable");
        assert_eq!(asset.header("content-encoding"), "gzip");
    }
    site.guest().get("/assets/madang.css").await.assert(404);
    site.guest().get("/favicon.ico").await.assert(200);
}

#[tokio::test]
async fn a_store_that_is_away_is_a_page_as_well() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let token = ann.get("/b/general/write").await.hidden("form_token");
    site.lose_store().await;
    for path in ["/b/general", "/", "/hot", "/articles/9223372036854775807", "/setup"] {
        let page = site.guest().get(path).await;
        page.assert(503).says("One moment, please").is_silent_about("database");
        assert_eq!(page.header("retry-after"), "1", "{path}");
    }
    let fields = [("form_token", token.as_str()), ("title", "t"), ("content", "c")];
    ann.post("/b/general/write", &fields).await.assert(503);
}

#[tokio::test]
async fn forms_that_cannot_be_read_are_refused_with_a_page() {
    let site = TestSite::open().await;
    let guest = site.guest();
    let garbage = guest.post("/sign-in", &[]).await;
    garbage.assert(401).says("Name or password is wrong");
    let huge = "x".repeat(300_000);
    guest.post("/setup", &[("token", &huge)]).await.assert(413).says("Too large");
}
