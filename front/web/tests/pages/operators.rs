//! What administrators and those who run the site see: dead letters, addresses of forms, the site's own address.

use bytes::Bytes;
use madang_board::Role;
use madang_kernel::{EventId, Id, ShardId, Timestamp};
use madang_messaging::{Message, PublishOutcome};

use crate::support::TestSite;

/// A message that a group gave up.
async fn bury(site: &TestSite, event: i64, reason: &str) {
    let headers = [("original-topic", "madang.article.v1"), ("group", "hot-article"), ("reason", reason)];
    let message = Message {
        event_id: EventId::from_raw(event),
        topic: "madang.article.v1.hot-article.dlq".to_owned(),
        key: "77".to_owned(),
        shard: ShardId::HOME,
        occurred_at: Timestamp::from_millis(1),
        headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        payload: Bytes::from_static(b"<script>raw</script>"),
    };
    assert_eq!(site.state.log.publish(&[message]).await.unwrap(), [PublishOutcome::Published]);
}

#[tokio::test]
async fn dead_letters_are_shown_to_administrators_and_sent_again() {
    let site = TestSite::open().await;
    let (root, moderator) = (site.with_role("root", Role::Admin).await, site.with_role("mo", Role::Moderator).await);
    let path = "/admin/dead-letters";
    root.get("/admin").await.assert(200).says(path);
    root.get(path).await.assert(200).says("No failed messages");
    for event in 1..=3 {
        bury(&site, event, "<b>undecodable</b>").await;
    }
    root.get(path).await.assert(200).says("3 of 3").says("&lt;b&gt;undecodable&lt;/b&gt;").is_silent_about("<b>und");
    for (person, status) in [(&moderator, 403), (&site.guest(), 401)] {
        person.get(path).await.assert(status);
        person.submit("/", path, &[]).await.assert(status);
    }
    root.post(path, &[("letter", "1")]).await.assert(403).says("Please send it again");
    assert_eq!(site.state.dead_letters.count().await.unwrap(), 3, "nobody without the form's token sends anything");

    root.submit(path, path, &[("letter", "1")]).await.assert(200).says("1 sent again.").says("2 of 2");
    root.submit(path, path, &[("letter", "1")]).await.assert(200).says("0 sent again, 1 failed");
    root.submit(path, path, &[]).await.assert(200).says("2 sent again.").says("No failed messages");
}

#[tokio::test]
async fn the_address_of_a_form_is_a_page_for_people_and_a_problem_for_programs() {
    let site = TestSite::open().await;
    let html = [("accept", "text/html,*/*;q=0.8")];
    for path in ["/preferences", "/preview", "/sign-out", "/articles/1/like", "/articles/1/comments", "/admin/boards"] {
        let page = site.guest().get_with(path, &html).await;
        page.assert(405).says("This address only receives a form").says("<main");
        assert!(page.header("allow").contains("POST"), "{path}");
        let problem = site.guest().get_with(path, &[("accept", "application/json")]).await;
        assert_eq!((problem.assert(405).header("content-type")), "application/problem+json");
    }
}

#[tokio::test]
async fn links_that_leave_the_site_carry_its_own_address() {
    let site = TestSite::open().await;
    let article = site.member("ann").await.write("general", "t", "c").await;
    let mut state = site.state.clone();
    state.policy.site_url = Some("https://board.example".into());
    let known = crate::support::Person::new(crate::support::served(state));
    let elsewhere = [("host", "evil.example")];
    for (path, part) in [
        (article.as_str(), format!("rel=\"canonical\" href=\"https://board.example{article}\"")),
        (&article, format!("property=\"og:url\" content=\"https://board.example{article}\"")),
        ("/b/general/feed.atom", format!("<id>https://board.example{article}</id>")),
        ("/sitemap.xml", format!("<loc>https://board.example{article}</loc>")),
        ("/robots.txt", "Sitemap: https://board.example/sitemap.xml".to_owned()),
    ] {
        known.get_with(path, &elsewhere).await.assert(200).says(&part).is_silent_about("evil.example");
    }
}
