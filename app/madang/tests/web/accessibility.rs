//! axe-core finds no serious or critical problem on any page, light and dark. Its script comes from npm, once, into the
//! target folder.

use serde_json::Value;

use crate::browser::{Browser, Kind};
use crate::driver::Driver;
use crate::npm::package;
use crate::pictures::furnish;
use crate::server::{ADMIN, TestServer};

const AXE: &str = "axe-core@4.10.3";

#[tokio::test]
async fn no_page_has_a_serious_problem_for_anybody() {
    let axe = script();
    let driver = Driver::start();
    let server = TestServer::fresh();
    let article = furnish(&server);
    let browser = Browser::open(&driver, &server.address, Kind::default()).await;
    for theme in ["light", "dark"] {
        browser.go("/").await.press(&format!("footer button[value='{theme}']")).await;
        browser.see(&format!("html[data-theme='{theme}']")).await;
        for path in ["/", "/b/rust", &article, "/hot", "/sign-in", "/sign-up", "/nowhere"] {
            examine(&browser, &axe, path, theme).await;
        }
        browser.sign_in(ADMIN).await;
        let (edit, delete, report) =
            (format!("{article}/edit"), format!("{article}/delete"), format!("{article}/report"));
        let member = browser.go(&article).await.see("a[rel~='author']").await.attr("href").await.unwrap().unwrap();
        for path in [
            article.as_str(),
            "/b/rust",
            "/b/rust/write",
            &edit,
            &delete,
            &report,
            "/admin",
            "/admin/dead-letters",
            "/admin/health",
            "/password",
            &member,
            "/moderation",
            "/moderation?settled=true",
            "/moderation/log",
        ] {
            examine(&browser, &axe, path, theme).await;
        }
        browser.sign_out().await;
    }
    browser.close().await;
    server.stop();
}

async fn examine(browser: &Browser, axe: &str, path: &str, theme: &str) {
    browser.go(path).await.see("main").await;
    browser.client.execute(axe, Vec::new()).await.unwrap();
    let script =
        "const done = arguments[arguments.length - 1]; axe.run().then(r => done(r.violations), e => done(String(e)));";
    let found = browser.client.execute_async(script, Vec::new()).await.unwrap();
    let problems = found.as_array().unwrap_or_else(|| panic!("{path}: {found}"));
    let serious: Vec<_> = problems.iter().filter(|problem| is_serious(problem)).collect();
    assert!(serious.is_empty(), "{path} in {theme}: {}", serde_json::to_string_pretty(&serious).unwrap());
}

fn is_serious(problem: &Value) -> bool {
    matches!(problem["impact"].as_str(), Some("serious" | "critical"))
}

/// The script of axe-core.
fn script() -> String {
    std::fs::read_to_string(package(AXE, "axe-core/axe.min.js")).unwrap()
}
