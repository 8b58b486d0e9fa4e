//! Hostile text in every field: shown as text, harmless, and quickly.

use std::time::{Duration, Instant};

use crate::support::TestSite;
use madang_board::Role;

/// Generous for a slow machine, and far below what a blow-up would take.
const PAGE_TIME_MAX: Duration = Duration::from_secs(5);

const TEXTS: [&str; 10] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "</textarea><script>alert(1)</script>",
    "</title></head><script>alert(1)</script>",
    "[a](javascript:alert(1)) [b](data:text/html,x) [c](vbscript:x) <javascript:alert(1)>",
    "![x](https://elsewhere.example/spy.png)",
    "\u{202e}txet desrever\u{2066} and {{7*7}} ${7*7} &lt; &amp;",
    "<svg onload=alert(1)><math><mi xlink:href=\"data:x\">",
    "<!-- --><![CDATA[x]]><?xml?><iframe src=//evil.example>",
];

/// What no page may contain, whatever anybody wrote.
#[track_caller]
fn assert_harmless(page: &str, case: &str) {
    let without_ours = page.replace("<script src=\"/assets/", "");
    for bad in ["<script", "<img", "<iframe", "<svg", "<math"] {
        assert!(!without_ours.contains(bad), "{bad} after {case}: {page}");
    }
    // An attribute of somebody else's inside one of our tags.
    for tag in page.split('<').skip(1).filter_map(|part| part.split('>').next()) {
        for scheme in ["href=\"javascript", "href=\"data", "href=\"vbscript"] {
            assert!(!tag.contains(scheme), "{tag} after {case}");
        }
        let outside: String = tag.split('"').step_by(2).collect();
        assert!(
            !outside.contains("onerror") && !outside.contains("onmouseover") && !outside.contains("onload"),
            "{tag} after {case}"
        );
    }
}

#[tokio::test]
async fn nothing_that_moderators_and_reporters_write_does_either() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let moderator = site.with_role("mo", Role::Moderator).await;
    let member = site
        .state
        .members
        .sign_in("ann", "correct horse", madang_member::Client::default())
        .await
        .unwrap()
        .member
        .member_id;
    for text in TEXTS {
        let article = ann.write("general", text, text).await;
        let comment = format!("/comments/{}", ann.comment(&article, text, "").await);
        for path in [format!("{article}/report"), format!("{comment}/report")] {
            assert_harmless(&moderator.get(&path).await.assert(200).text(), &format!("{text} on {path}"));
            moderator.submit(&path, &path, &[("reason", text)]).await.assert(201);
        }
        let open = moderator.get("/moderation").await.text();
        let report = open.split("action=\"").find(|part| part.starts_with("/moderation/reports/")).unwrap();
        let settle = report.split('"').next().unwrap();
        moderator.submit("/moderation", settle, &[("note", text)]).await.leads_to();
        let delete = format!("{comment}/delete");
        moderator.submit(&delete, &delete, &[("reason", text)]).await.leads_to();
        let pages = ["/moderation", "/moderation?settled=true", "/moderation/log"].map(str::to_owned);
        let members = ["", "/articles", "/comments"].map(|list| format!("/members/{member}{list}"));
        for path in pages.into_iter().chain(members) {
            let page = moderator.get(&path).await;
            assert_harmless(&page.assert(200).text(), &format!("{text} on {path}"));
        }
    }
}

#[tokio::test]
async fn nothing_that_people_write_becomes_markup_of_ours() {
    let site = TestSite::open().await;
    let root = site.with_role("root", Role::Admin).await;
    for (number, text) in TEXTS.iter().enumerate() {
        let board = [("slug", &*format!("b{number}x")), ("title", *text), ("comment_mode", "tree")];
        let board = root.submit("/admin", "/admin/boards", &board).await.leads_to();
        let article = root.write(&board[3..], text, text).await;
        let comment = root.comment(&article, text, "").await;
        let pages = [
            "/".to_owned(),
            board.clone(),
            format!("{board}/write"),
            article.clone(),
            format!("{article}/edit"),
            format!("{article}/delete"),
            format!("/comments/{comment}/reply"),
            format!("/comments/{comment}/delete"),
            "/admin".to_owned(),
        ];
        for path in pages {
            let page = root.get(&path).await;
            assert_harmless(&page.assert(200).text(), &format!("{text} on {path}"));
        }
        let feed = root.get(&format!("{board}/feed.atom")).await.text();
        let titles: Vec<_> = feed.split("<title>").skip(1).filter_map(|part| part.split('<').next()).collect();
        assert!(!feed.contains("<script") && !feed.contains("<img"), "{feed}");
        assert!(!titles.is_empty() && titles.iter().all(|title| !title.contains('\u{202e}')), "{feed}");
    }
}

#[tokio::test]
async fn what_comes_back_into_a_form_is_text() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    for text in TEXTS {
        let wrong = ann.submit("/b/general/write", "/b/general/write", &[("title", text), ("content", "")]).await;
        assert_harmless(&wrong.assert(422).text(), text);
        let wrong = ann.submit("/b/general/write", "/b/general/write", &[("title", ""), ("content", text)]).await;
        assert_harmless(&wrong.assert(422).text(), text);
        let guest = site.guest();
        let wrong = guest.post("/sign-in", &[("name", text), ("password", text), ("return", text)]).await;
        assert_harmless(&wrong.assert(401).text(), text);
        let wrong = guest.post("/setup", &[("token", "right"), ("name", text), ("password", "short")]).await;
        assert_harmless(&wrong.assert(422).text(), text);
    }
}

#[tokio::test]
async fn addresses_are_text_as_well() {
    let site = TestSite::open().await;
    let guest = site.guest();
    let ann = site.member("ann").await;
    let article = ann.write("general", "t", "c").await;
    let bad = "%22%3E%3Cscript%3Ealert(1)%3C/script%3E";
    for path in [
        format!("/sign-in?return={bad}"),
        format!("/b/general?page={bad}"),
        format!("/b/general?before={bad}"),
        format!("/b/general?x={bad}"),
        format!("{article}?after={bad}"),
        format!("{article}?x={bad}"),
        format!("/b/{bad}"),
        format!("/{bad}"),
        format!("/hot?{bad}"),
    ] {
        assert_harmless(&guest.get(&path).await.text(), &path);
    }
    let poisoned = guest.get_with(&article, &[("host", "evil.example\"><script>")]).await;
    assert_harmless(&poisoned.text(), "a host");
}

#[tokio::test]
async fn deep_quotes_are_shown_quickly() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    for text in [format!("{} deep", ">".repeat(10_000)), "> ".repeat(10_000), "[".repeat(10_000), "*a **".repeat(4_000)]
    {
        let started = Instant::now();
        let article = ann.write("general", "deep", &text).await;
        let start: String = text.chars().take(3_000).collect();
        ann.comment(&article, &start, "").await;
        let page = site.guest().get(&article).await;
        page.assert(200);
        assert!(page.body.len() < 400_000, "{} bytes", page.body.len());
        assert!(started.elapsed() < PAGE_TIME_MAX, "{:?} for {:.10}", started.elapsed(), text);
    }
}
