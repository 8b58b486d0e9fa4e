//! Ten million pairs within one window take the memory of the table and no more. Alone in its process, so that what the
//! system says of the process is said of the window.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use madang_board::{ArticleId, MemberId};
use madang_kernel::{Id, Timestamp};
use madang_view::{ViewConfig, Viewer, Window};

const PAIRS: i64 = 10_000_000;
const SLACK_BYTES: usize = 2 << 20;

#[test]
fn ten_million_pairs_take_the_memory_of_the_table_and_no_more() {
    let before = resident_bytes();
    let window = Window::new(ViewConfig::default().window_entries, 5);
    assert_eq!(window.memory_bytes(), 16 << 20);
    let mut counted = 0;
    for pair in 0..PAIRS {
        let viewer = Viewer::member(MemberId::from_raw(pair / 10 + 1));
        let now = Timestamp::from_millis(1_800_000_000_000 + pair * 599_000 / PAIRS);
        counted += u64::from(window.admit(viewer, ArticleId::from_raw(pair % 10 + 1), now));
    }
    assert!(counted > PAIRS as u64 * 999 / 1_000, "new viewers are not taken for known ones: {counted}");
    assert_eq!(window.memory_bytes(), 16 << 20);
    let grown = resident_bytes().saturating_sub(before);
    assert!(grown <= window.memory_bytes() + SLACK_BYTES, "grew by {grown} bytes");
}

fn resident_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 1_024
}
