//! Searching as people do: from any page, in both languages, and also when it does not work.

use std::sync::Arc;

use madang_search::SearchService;

use crate::support::TestSite;

/// 축제, as an address has it.
const FESTIVAL: &str = "%EC%B6%95%EC%A0%9C";

#[tokio::test]
async fn every_page_has_a_field_and_tells_browsers_how_to_search() {
    let site = TestSite::open().await;
    for path in ["/", "/hot", "/b/general", "/search", "/sign-in"] {
        let page = site.guest().get(path).await;
        page.assert(200).says("role=\"search\"").says("action=\"/search\"").says("rel=\"search\"");
    }
    let description = site.guest().get("/opensearch.xml").await;
    description.assert(200).says("<OpenSearchDescription").says("://board.example/search?q={searchTerms}");
    assert_eq!(description.header("content-type"), "application/opensearchdescription+xml");
    site.guest().get("/robots.txt").await.says("Disallow: /search");
}

#[tokio::test]
async fn what_is_found_is_marked_escaped_and_links_to_its_place() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let article = ann.write("general", "대학교 축제 <b>", "모두 <script>alert(1)</script> 축제에서 만나요").await;
    ann.comment(&article, "축제 좋아요", "").await;
    site.state.search.rebuild().await.unwrap();
    let page = site.guest().get(&format!("/search?q={FESTIVAL}")).await;
    page.assert(200).says("대학교 <mark>축제</mark> &lt;b&gt;").says("<mark>축제</mark>에서").says("in a comment");
    page.says("noindex").is_silent_about("<script>alert").says(">ann<").says(&format!("value=\"{}\"", "축제"));
    let comments = site.guest().speaking("ko").get(&format!("/search?q={FESTIVAL}&kind=comment&sort=newest")).await;
    comments.assert(200).says("<mark>축제</mark> 좋아요").is_silent_about("에서 만나요").says("최신순");
    // Deleted, and found by nobody from the next request on, whatever the index holds.
    ann.submit(&format!("{article}/delete"), &format!("{article}/delete"), &[]).await.leads_to();
    site.guest().get(&format!("/search?q={FESTIVAL}")).await.assert(200).says("Nothing was found");
}

#[tokio::test]
async fn a_list_goes_on_with_its_filters() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    for number in 0..31 {
        ann.write("general", &format!("축제 {number}"), "글").await;
    }
    site.state.search.rebuild().await.unwrap();
    let page = site.guest().get(&format!("/search?q={FESTIVAL}&sort=newest&kind=article")).await;
    let text = page.assert(200).says("</mark> 30<").is_silent_about("</mark> 0<").text();
    let next = text.split_once("rel=\"next nofollow\" href=\"").unwrap().1.split_once('"').unwrap().0;
    let next = next.replace("&amp;", "&");
    assert!(next.contains("sort=newest") && next.contains("kind=article"), "{next}");
    site.guest()
        .get(&next)
        .await
        .assert(200)
        .says("</mark> 0<")
        .is_silent_about("</mark> 30<")
        .is_silent_about("rel=\"next");
}

#[tokio::test]
async fn empty_and_failed_searches_say_what_to_do() {
    let site = TestSite::open().await;
    let guest = site.guest();
    guest.get("/search").await.assert(200).says("Type words to find");
    guest.get("/search?q=nowhere").await.assert(200).says("Nothing was found for “nowhere”").says("Try other or fewer");
    guest.get("/search?q=!!!").await.assert(200).says("Nothing was found");
    guest.get(&format!("/search?q={}", "x".repeat(101))).await.assert(422).says("at most 100 characters");
    site.guest().speaking("ko").get("/search?q=nowhere").await.assert(200).says("검색 결과가 없습니다");
    // The index of a new site is still to be filled.
    guest.get("/search?q=nowhere").await.says("index is being built");
    let site = site.with(|state| state.search = Arc::new(SearchService::not_configured()));
    let away = site.guest().get("/search?q=a").await;
    away.assert(503).says("has no search engine").says("value=\"a\"");
    assert_eq!(away.header("retry-after"), "3600");
    site.guest().get("/search").await.assert(200);
}

#[tokio::test]
async fn a_members_page_leads_to_a_search_of_their_posts() {
    let site = TestSite::open().await;
    let (ann, ben) = (site.member("ann").await, site.member("ben").await);
    ann.write("general", "축제 하나", "글").await;
    let article = ben.write("general", "축제 둘", "글").await;
    site.state.search.rebuild().await.unwrap();
    let text = site.guest().get(&article).await.text();
    let member = text.split_once("href=\"/members/").unwrap().1.split_once('"').unwrap().0.to_owned();
    site.guest().get(&format!("/members/{member}")).await.says(&format!("/search?sort=newest&amp;writer_id={member}"));
    let page = site.guest().get(&format!("/search?q={FESTIVAL}&writer_id={member}")).await;
    page.assert(200).says("</mark> 둘").is_silent_about("</mark> 하나").says("Only by").says("checked");
}
