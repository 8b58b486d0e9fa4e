//! Pictures of the main pages on a phone and on a desk, light and dark, for people to look at.

use std::path::PathBuf;

use serde_json::json;

use crate::browser::{Browser, Kind};
use crate::driver::Driver;
use crate::server::{ADMIN, TestServer};

const CONTENT: &str = "마당은 마을 사람들이 모이는 곳입니다. This paragraph has **bold words**, `code` and a \
    [link](https://example.org/).\n\n> 인용은 이렇게 보입니다.\n\n- 하나\n- 둘\n\n```\nfn main() {}\n```\n\n| 엔진 | 초당 |\n|---|---|\n\
    | SQLite | 32,000 |\n\nA comfortable measure is about sixty-eight characters, and this paragraph is long enough to show it \
    on a desk and on a phone alike.";
const TITLES: [&str; 6] = [
    "오늘 점심 뭐 먹지?",
    "SQLite WAL 모드에서 synchronous=FULL이 왜 필요한가",
    "A week with group commit: what we measured",
    "주말 등산 같이 가실 분",
    "A title that is long enough that it has to wrap onto a second line on a phone, and does",
    "키보드 추천 부탁드립니다",
];

/// Where the pictures go.
fn folder() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("pictures");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// A site with something on it; gives the path of an article with a discussion.
pub(crate) fn furnish(server: &TestServer) -> String {
    let admin = server.sign_in(ADMIN);
    let board = json!({"slug": "rust", "title": "Rust 이야기", "comment_mode": "tree"});
    let board = server.call("POST", "/api/v1/boards").token(&admin).json(&board).send().json(201);
    let board = board["board_id"].as_str().unwrap().to_owned();
    let tokens: Vec<_> = ["민지", "jun_ho", "Ada"].iter().map(|name| server.member(name).1).collect();
    let mut last = String::new();
    for number in 0..36 {
        let (title, token) = (TITLES[number % TITLES.len()], &tokens[number % tokens.len()]);
        let draft = json!({"title": title, "content": CONTENT});
        let path = format!("/api/v1/boards/{board}/articles");
        let written = server.call("POST", &path).token(token).json(&draft).send().json(201);
        last = written["article_id"].as_str().unwrap().to_owned();
        for token in &tokens[..number % 4] {
            server.call("PUT", &format!("/api/v1/articles/{last}/like")).token(token).send().json(200);
        }
    }
    for (number, reason) in ["광고 글입니다. 같은 글이 여러 번 올라왔어요.", "Off topic."].iter().enumerate()
    {
        let path = format!("/api/v1/articles/{last}/reports");
        let report =
            server.call("POST", &path).token(&tokens[number]).json(&json!({"reason": reason})).send().json(201);
        if number == 1 {
            let path = format!("/api/v1/reports/{}/resolution", report["report_id"].as_str().unwrap());
            server.call("PUT", &path).token(&admin).json(&json!({"note": "It is not."})).send().json(200);
        }
    }
    let mut parent: Option<String> = None;
    for number in 0..12 {
        let token = &tokens[number % tokens.len()];
        let body = json!({"content": format!("{number}번째 생각입니다. `code` and **words**."), "parent_id": parent});
        let path = format!("/api/v1/articles/{last}/comments");
        let comment = server.call("POST", &path).token(token).json(&body).send().json(201);
        parent = (number % 5 != 4).then(|| comment["comment_id"].as_str().unwrap().to_owned());
    }
    format!("/articles/{last}")
}

/// High enough for most pages as a whole.
const HEIGHT_PX: u32 = 1_500;

#[tokio::test]
async fn the_main_pages_have_their_pictures_taken() {
    let driver = Driver::start();
    let server = TestServer::fresh();
    let article = furnish(&server);
    for (phone_px, width, language) in [(Some(375), 375, "ko"), (None, 1280, "en")] {
        let kind = Kind { phone_px, language, height_px: HEIGHT_PX, ..Kind::default() };
        let browser = Browser::open(&driver, &server.address, kind).await;
        for theme in ["light", "dark"] {
            browser.go("/").await.press(&format!("footer button[value='{theme}']")).await;
            browser.see(&format!("html[data-theme='{theme}']")).await;
            let guests = [
                ("front", "/"),
                ("board", "/b/rust"),
                ("empty-board", "/b/general"),
                ("article-guest", article.as_str()),
                ("hot", "/hot"),
                ("sign-in", "/sign-in"),
                ("sign-up", "/sign-up"),
                ("lost", "/nowhere"),
            ];
            for (name, path) in guests {
                picture(&browser, path, &format!("{name}-{width}-{theme}")).await;
            }
            browser.sign_in(ADMIN).await;
            let (edit, delete, report) =
                (format!("{article}/edit"), format!("{article}/delete"), format!("{article}/report"));
            let members = [
                ("article", article.as_str()),
                ("write", "/b/rust/write"),
                ("edit", edit.as_str()),
                ("delete", delete.as_str()),
                ("admin", "/admin"),
                ("dead-letters", "/admin/dead-letters"),
                ("health", "/admin/health"),
                ("report", report.as_str()),
                ("password", "/password"),
                ("moderation", "/moderation"),
                ("moderation-log", "/moderation/log"),
            ];
            for (name, path) in members {
                picture(&browser, path, &format!("{name}-{width}-{theme}")).await;
            }
            let writer = browser.go(&article).await.see("a[rel~='author']").await.attr("href").await.unwrap().unwrap();
            picture(&browser, &writer, &format!("member-{width}-{theme}")).await;
            browser.sign_out().await;
        }
        browser.close().await;
    }
    server.stop();
}

/// Takes a picture of a page, and checks that nothing hangs over the side.
pub(crate) async fn picture(browser: &Browser, path: &str, name: &str) {
    browser.go(path).await.see("main").await;
    picture_here(browser, name).await;
}

/// The same of what is shown.
pub(crate) async fn picture_here(browser: &Browser, name: &str) {
    let overhang =
        browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth").await;
    let widest = browser
        .run(
            "const edge = document.documentElement.clientWidth; \
             return [...document.querySelectorAll('body *')].filter(one => one.getBoundingClientRect().right > edge + 1) \
             .map(one => one.outerHTML.slice(0, 120)).slice(0, 6).join(' | ')",
        )
        .await;
    assert_eq!(overhang, 0, "{name} is wider than its window: {widest}");
    let image = browser.client.screenshot().await.unwrap();
    std::fs::write(folder().join(format!("{name}.png")), image).unwrap();
}

#[tokio::test]
async fn nothing_hangs_over_the_side_of_the_smallest_phone() {
    let driver = Driver::start();
    let server = TestServer::fresh();
    let article = furnish(&server);
    let browser = Browser::open(&driver, &server.address, Kind { phone_px: Some(320), ..Kind::default() }).await;
    browser.sign_in(ADMIN).await;
    for path in [
        "/",
        "/b/rust",
        &article,
        "/hot",
        "/b/rust/write",
        "/admin",
        "/admin/dead-letters",
        "/admin/health",
        "/moderation",
        "/nowhere",
    ] {
        picture(&browser, path, &format!("smallest{}", path.replace('/', "-"))).await;
    }
    browser.close().await;
    server.stop();
}
