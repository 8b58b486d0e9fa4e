//! docs/metrics.md and what `/metrics` of the embedded composition tells say the same.

use serde_json::json;

use crate::http::Call;
use crate::server::{Start, eventually};
use crate::told_metrics::differences;
use madang_test_servers::ports;

#[test]
fn what_the_page_says_and_what_is_told_are_the_same() {
    let operations = format!("127.0.0.1:{}", ports::free());
    let directory = tempfile::tempdir().unwrap();
    let start = Start::in_directory(&directory.path().join("data")).with_admin();
    let server = start.set("operations_listen", &operations).start();
    let (_, ann) = server.member("ann");
    let board = server.general();
    let article = server.article_id(&board, &ann);
    server.call("PUT", &format!("/api/v1/articles/{article}/like")).token(&ann).send();
    let comment = json!({"content": "first"});
    server.call("POST", &format!("/api/v1/articles/{article}/comments")).token(&ann).json(&comment).send();
    server.view(&article, "one");
    assert_eq!(server.get("/").status, 200);
    let mut last = Vec::new();
    let told = || Call::new(&operations, "GET", "/metrics").send().text();
    eventually("the page and what is told are the same", || {
        let found = differences(&[told()], &["everywhere", "embedded"], &[]);
        if found != last {
            println!("{found:#?}");
            last.clone_from(&found);
        }
        found.is_empty().then_some(())
    });
    let told = told();
    for route in ["route=\"/\"", "route=\"/api/v1/articles/{article_id}/like\""] {
        assert!(told.contains(route), "{route}: a page or call is counted by its pattern");
    }
    let figure =
        |name: &str| told.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse::<f64>().ok());
    assert!(figure("process_resident_memory_bytes").is_some_and(|bytes| bytes > 1e6));
    assert!(figure("process_start_time_seconds").is_some_and(|at| at > 1.6e9));
    assert!(figure("process_open_fds").is_some_and(|files| files > 3.0));
    assert!(figure("madang_disk_available_bytes").is_some_and(|bytes| bytes > 0.0));
    assert!(figure("madang_sqlite_batch_calls_count").is_some_and(|batches| batches > 0.0));
    assert_eq!(figure("madang_ready"), Some(1.0));
    server.stop();
}
