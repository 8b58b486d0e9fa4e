//! Reading as a guest: every page is there, says what it should, and nothing else.

use crate::support::TestSite;

#[tokio::test]
async fn the_front_page_leads_to_the_boards() {
    let site = TestSite::open().await;
    let page = site.guest().get("/").await;
    page.assert(200).says("href=\"/b/general\"").says("href=\"/b/trees\"").says("0 articles").says("href=\"/hot\"");
    page.says("<html lang=\"en\"").says("Skip to content").says("<main id=\"main\"");
}

#[tokio::test]
async fn a_board_shows_its_newest_first_with_the_count_of_comments() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let older = ann.write("general", "older one", "text").await;
    ann.write("general", "newer one", "text").await;
    ann.comment(&older, "hello", "").await;
    let page = site.guest().get("/b/general").await;
    let text = page.assert(200).says("[1]").text();
    assert!(text.find("newer one").unwrap() < text.find("older one").unwrap());
    site.guest().get("/b/nothing").await.assert(404).says("Not found");
}

#[tokio::test]
async fn pages_are_numbered_in_tens_and_the_end_is_empty() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    for number in 0..31 {
        ann.write("general", &format!("article number {number}"), "text").await;
    }
    let guest = site.guest();
    let first = guest.get("/b/general").await;
    first.assert(200).says("aria-current=\"page\">1</a>").says("href=\"/b/general?page=2\"").is_silent_about("page=3");
    guest.get("/b/general?page=2").await.assert(200).says("article number 0<").is_silent_about("article number 1<");
    let past = guest.get("/b/general?page=9").await;
    past.assert(200)
        .says("There are no articles on this page")
        .says("href=\"/b/general?page=2\">Go to the last page (2)");
    let far = guest.get("/b/general?page=1000000000").await;
    far.assert(200)
        .says("Go to the last page (2)")
        .says("noindex")
        .is_silent_about("href=\"/b/general?page=9")
        .is_silent_about("href=\"/b/general?page=10");
    for page in ["0", "-1", "x", "1000000001", "99999999999999999999"] {
        guest.get(&format!("/b/general?page={page}")).await.assert(404);
    }
}

#[tokio::test]
async fn endless_scroll_is_a_choice_that_is_remembered() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    for number in 0..31 {
        ann.write("general", &format!("article number {number}"), "text").await;
    }
    let guest = site.guest();
    let chosen = guest.post("/preferences", &[("list", "scroll"), ("return", "/b/general")]).await;
    assert_eq!(chosen.leads_to(), "/b/general");
    let top = guest.get("/b/general").await;
    let next = top.assert(200).is_silent_about("class=\"pager\"").text();
    let next = next
        .split("href=\"")
        .find(|part| part.starts_with("/b/general?before="))
        .unwrap()
        .split('"')
        .next()
        .unwrap()
        .to_owned();
    guest.get(&next).await.assert(200).says("article number 0<").says("Newest");
    assert!(site.guest().get("/b/general").await.text().contains("class=\"pager\""), "only this reader's choice");
}

#[tokio::test]
async fn an_article_shows_text_facts_and_comments() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let article = ann.write("general", "A title", "Some **bold** text").await;
    ann.comment(&article, "a *comment*", "").await;
    let page = site.guest().get(&article).await;
    page.assert(200).says("<strong>bold</strong>").says("a <em>comment</em>").says("<bdi itemprop=\"name\">ann</bdi>");
    page.says("Sign in to comment").is_silent_about("<form class=\"like\"");
    // Whose address this is, is not for a reader's Host to say.
    page.is_silent_about("board.example").is_silent_about("canonical").is_silent_about("og:image");
    page.says("property=\"og:title\" content=\"A title\"").says("property=\"og:type\" content=\"article\"");
    for path in ["/articles/1", "/articles/x", "/articles/-1", "/articles/99999999999999999999"] {
        site.guest().get(path).await.assert(404).says("Not found");
    }
}

#[tokio::test]
async fn a_view_counts_once_for_a_guest_and_not_for_a_look_ahead() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let article = ann.write("general", "A title", "text").await;
    let guest = site.guest();
    guest.get_with(&article, &[("sec-purpose", "prefetch")]).await.assert(200);
    let id = article.rsplit('/').next().unwrap().parse().unwrap();
    assert_eq!(site.state.views.count(id).await.unwrap(), 0);
    for _ in 0..3 {
        guest.get(&article).await.assert(200);
    }
    assert_eq!(site.state.views.count(id).await.unwrap(), 1);
    ann.get(&article).await.assert(200);
    assert_eq!(site.state.views.count(id).await.unwrap(), 2);
}

#[tokio::test]
async fn what_lies_deeper_than_five_levels_is_continued_elsewhere() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let article = ann.write("trees", "A tree", "text").await;
    let mut parent = String::new();
    let mut comments = Vec::new();
    for depth in 1..=7 {
        parent = ann.comment(&article, &format!("at depth {depth}"), &parent).await;
        comments.push(parent.clone());
    }
    let page = site.guest().get(&article).await;
    page.assert(200).says("at depth 5").is_silent_about("at depth 6");
    let thread = format!("{article}?thread={}", comments[4]);
    page.says(&format!("href=\"{thread}#comments\""));
    site.guest().get(&thread).await.assert(200).says("at depth 7").is_silent_about("at depth 4").says("All comments");
    let other = ann.write("trees", "Another", "text").await;
    site.guest().get(&format!("{other}?thread={}", comments[4])).await.assert(404);
}

#[tokio::test]
async fn comments_go_on_where_the_first_step_ends() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let article = ann.write("general", "Busy", "text").await;
    for number in 0..31 {
        ann.comment(&article, &format!("comment number {number}."), "").await;
    }
    let first = site.guest().get(&article).await;
    let text = first.assert(200).says("comment number 29.").is_silent_about("comment number 30.").text();
    let next =
        text.split("href=\"").find(|part| part.contains("?after=")).unwrap().split('"').next().unwrap().to_owned();
    site.guest().get(&next).await.assert(200).says("comment number 30.").is_silent_about("comment number 29.");
    site.guest().get(&format!("{article}?after=nonsense")).await.assert(404);
}

#[tokio::test]
async fn feeds_sitemap_and_robots_tell_of_what_there_is() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let article = ann.write("general", "A <title> & more", "text").await;
    let guest = site.guest();
    let feed = guest.get("/b/general/feed.atom").await;
    feed.assert(200).says("<title>A &lt;title&gt; &amp; more</title>").says(&format!("http://board.example{article}"));
    assert_eq!(feed.header("content-type"), "application/atom+xml; charset=utf-8");
    guest.get("/hot/feed.atom").await.assert(200).says("<feed xmlns");
    guest.get("/sitemap.xml").await.assert(200).says(&format!("<loc>http://board.example{article}</loc>"));
    guest.get("/robots.txt").await.assert(200).says("Sitemap: http://board.example/sitemap.xml");
}

#[tokio::test]
async fn the_formula_of_hot_articles_is_one_click_away() {
    let site = TestSite::open().await;
    let page = site.guest().get("/hot").await;
    page.assert(200).says("score = 3 × likes + 2 × comments + 1 × views");
    assert_eq!(page.text().matches("<section class=\"day\"").count(), 7);
}

#[tokio::test]
async fn readers_choose_language_and_light() {
    let site = TestSite::open().await;
    let korean = site.guest().speaking("ko-KR,ko;q=0.9,en;q=0.5");
    korean.get("/").await.assert(200).says("<html lang=\"ko\"").says("로그인");
    korean.post("/preferences", &[("lang", "en"), ("return", "/hot")]).await.leads_to();
    korean.post("/preferences", &[("theme", "dark"), ("return", "//evil.example")]).await.leads_to();
    korean.get("/").await.assert(200).says("<html lang=\"en\" data-theme=\"dark\"").says("Sign in");
}

#[tokio::test]
async fn lost_readers_get_a_page() {
    let site = TestSite::open().await;
    for path in ["/nowhere", "/nowhere/at-all", "/nowhere/at/all", "/articles/1/two/three/four"] {
        site.guest().get(path).await.assert(404).says("<h1>Not found</h1>");
    }
}

#[tokio::test]
async fn a_site_that_knows_its_address_says_so() {
    let site = TestSite::open().await.with(|state| state.policy.site_url = Some("https://madang.example".into()));
    let ann = site.member("ann").await;
    let article = ann.write("general", "A title", "Some **bold**\ntext & <b>more</b>").await;
    let page = site.guest().get(&article).await;
    page.says(&format!("<link rel=\"canonical\" href=\"https://madang.example{article}\">"));
    page.says(&format!("property=\"og:url\" content=\"https://madang.example{article}\""));
    page.says("name=\"description\" content=\"Some bold text &amp; &lt;b&gt;more&lt;/b&gt;\"");
    page.says("property=\"article:published_time\"").says("property=\"article:modified_time\"");
    let text = page.text();
    let picture = text.split("og:image\" content=\"https://madang.example").nth(1).unwrap().split('"').next().unwrap();
    let picture = site.guest().get(picture).await;
    assert_eq!(picture.assert(200).header("content-type"), "image/png");
    assert!(picture.body.starts_with(b"\x89PNG"));
    site.guest().get("/").await.says("name=\"description\" content=\"Discussion boards on Madang: ").says("Trees");
    site.guest().get("/b/general").await.says("name=\"description\" content=\"").says("Recent articles: A title\"");
    site.guest().get("/b/trees").await.says("a discussion board on Madang.\"");
}

#[tokio::test]
async fn search_engines_are_told_of_the_discussion_without_anything_inline() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let article = ann.write("general", "A </script> title", "text").await;
    ann.comment(&article, "a comment", "").await;
    let page = site.guest().get(&article).await;
    page.says("itemtype=\"https://schema.org/DiscussionForumPosting\"").says("itemref=\"comment-list\"");
    page.says("<bdi itemprop=\"headline\">A &lt;/script&gt; title</bdi>").says("itemprop=\"datePublished\"");
    page.says("itemtype=\"https://schema.org/Comment\"").says("itemprop=\"dateModified\"");
    page.says("<meta itemprop=\"interactionType\" content=\"https://schema.org/LikeAction\">");
    page.is_silent_about("ld+json");
}

#[tokio::test]
async fn line_breaks_are_kept_and_what_no_document_may_hold_is_not() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let article = ann.write("general", "t", "one\ntwo\u{1}\u{fffe}").await;
    ann.comment(&article, "three\nfour", "").await;
    let page = ann.get(&article).await;
    page.says("one<br>\ntwo</p>").says("three<br>\nfour");
    for path in [article.clone(), format!("{article}/edit"), "/b/general/feed.atom".to_owned()] {
        let text = ann.get(&path).await.assert(200).text();
        assert!(!text.contains(['\u{1}', '\u{fffe}']), "{path}");
    }
}

#[tokio::test]
async fn markdown_is_shown_nowhere_as_it_was_typed() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let article = ann.write("general", "t", "# Head\n\n**bold** [link](https://a.example)").await;
    ann.comment(&article, "**words** of [hers](https://a.example)", "").await;
    let member = site
        .state
        .members
        .sign_in("ann", crate::support::PASSWORD, madang_member::Client::default())
        .await
        .unwrap()
        .member
        .member_id;
    let page = site.guest().get(&format!("/members/{member}")).await;
    page.says("<bdi>words of hers</bdi>").is_silent_about("**");
    site.guest().get(&article).await.says("content=\"Head bold link\"").is_silent_about("**");
}

#[tokio::test]
async fn the_hot_feed_has_texts_true_times_and_each_article_once() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let article = ann.write("general", "t", "first").await;
    let edit = format!("{article}/edit");
    ann.submit(&edit, &edit, &[("title", "t"), ("content", "the *second* text")]).await.leads_to();
    let id: madang_board::ArticleId = article.rsplit('/').next().unwrap().parse().unwrap();
    let read = site.state.articles.get(id).await.unwrap();
    site.make_hot(id).await;
    let feed = site.guest().get("/hot/feed.atom").await;
    feed.assert(200)
        .says("the &lt;em&gt;second&lt;/em&gt; text")
        .says(&format!("<updated>{}</updated>", read.modified_at));
    feed.says(&format!("<published>{}</published>", read.created_at));
    assert_eq!(feed.text().matches("<entry>").count(), 1);
}

#[tokio::test]
async fn feeds_have_a_link_that_everybody_sees() {
    let site = TestSite::open().await;
    site.guest().get("/b/general").await.says("<a class=\"feed\" href=\"/b/general/feed.atom\"");
    site.guest().get("/hot").await.says("<a class=\"feed\" href=\"/hot/feed.atom\"");
}

#[tokio::test]
async fn a_feed_of_long_texts_tells_how_the_later_ones_begin() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let long = "마당 ".repeat(6_600);
    for number in 0..8 {
        ann.write("general", &format!("number {number}"), &format!("start {number} {long}")).await;
    }
    let feed = site.guest().get("/b/general/feed.atom").await;
    feed.assert(200).says("<content type=\"html\">&lt;p&gt;start 7").says("<summary>start 0 마당");
    assert!(feed.body.len() < 400_000, "{} bytes", feed.body.len());
}
