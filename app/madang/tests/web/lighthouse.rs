//! Lighthouse has nothing to say against what people and search engines first see: accessibility, good practice, what is told
//! to search engines. Speed is not asked: on a machine that runs other tests it says more of them than of the pages, whose
//! weight is tested in `front/web`.

use std::process::Command;

use serde_json::Value;

use crate::driver::Driver;
use crate::npm::package;
use crate::pictures::furnish;
use crate::server::Start;

const LIGHTHOUSE: &str = "lighthouse@12.8.2";
const CATEGORIES: [&str; 3] = ["accessibility", "best-practices", "seo"];

#[test]
fn lighthouse_gives_every_point() {
    // One test with browsers at a time, also for a browser that it starts itself.
    let driver = Driver::start();
    let server = Start::fresh().set("site_url", "https://board.example").start();
    let article = furnish(&server);
    for path in ["/", "/b/rust", &article, "/hot"] {
        let report = examine(&format!("http://{}{path}", server.address));
        for category in CATEGORIES {
            let score = &report["categories"][category]["score"];
            assert_eq!(score.as_f64(), Some(1.0), "{category} of {path}: {}", lost(&report, category));
        }
    }
    server.stop();
    drop(driver);
}

fn examine(address: &str) -> Value {
    let script = package(LIGHTHOUSE, "lighthouse/cli/index.js");
    let mut node = Command::new(madang_test_servers::program("node"));
    node.arg(script).arg(address).env("CHROME_PATH", madang_test_servers::program("chromium"));
    node.args(["--quiet", "--output=json", "--no-enable-error-reporting"]);
    node.arg(format!("--only-categories={}", CATEGORIES.join(",")));
    node.arg("--chrome-flags=--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage");
    let output = node.output().expect("node starts");
    let said = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{address}: {error}: {said}"))
}

/// What cost points.
fn lost(report: &Value, category: &str) -> String {
    let audits = report["categories"][category]["auditRefs"].as_array().expect("audits");
    let named = audits.iter().filter_map(|audit| audit["id"].as_str()).map(|id| &report["audits"][id]);
    let failed = named.filter(|audit| audit["score"].as_f64().is_some_and(|score| score < 1.0));
    failed.map(|audit| format!("{}: {}\n", audit["title"], audit["details"])).collect()
}
