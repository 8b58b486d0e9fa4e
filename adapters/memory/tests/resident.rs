//! What the model weighs is what it takes: the budget holds for the memory of the process. A file of its own, because
//! whatever else the process had freed before would be given to the model and not be seen.

#![allow(clippy::unwrap_used, reason = "the helpers of a test fail the test")]

mod support;

use std::sync::Arc;

use madang_board::{ArticleId, BoardId};
use madang_kernel::{Id, ManualClock, Timestamp};
use madang_memory::MemoryReadModel;
use support::{Truth, noise};

const MIB: u64 = 1024 * 1024;

fn model(budget_bytes: u64) -> MemoryReadModel {
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_750_000_000_000)));
    MemoryReadModel::new(budget_bytes, clock)
}

fn article(number: i64) -> ArticleId {
    ArticleId::from_raw(number << 22 | (number % 64) << 16)
}

fn board(number: i64) -> BoardId {
    BoardId::from_raw((number + 1) << 22 | (number % 64) << 16)
}

/// The process's resident memory.
fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 4_096
}

/// What an article takes besides its text, at least: so that more come than fit.
const BESIDE_TEXT_BYTES: u64 = 200;

#[test]
fn resident_memory_stays_within_the_budget() {
    let budget = 32 * MIB;
    // Earlier ones stay, or the next would be given their memory and seem to take none.
    let mut models = Vec::new();
    for length in [100_usize, 1_000, 10_000] {
        let before = resident_bytes();
        let model = model(budget);
        let mut truth = Truth::default();
        for number in 1..=(2 * budget / (length as u64 + BESIDE_TEXT_BYTES)) as i64 {
            let content = noise(number as u64, length);
            model.merge_committed(&[truth.create(board(number % 1_000), article(number), &content)]);
            truth.articles.clear();
        }
        let grown = resident_bytes().saturating_sub(before);
        let size = model.size_now();
        println!("{length} characters: {} MiB weighed, {} MiB resident", size.bytes / MIB, grown / MIB);
        assert!(size.bytes > budget / 2, "only {} bytes came", size.bytes);
        assert!(grown <= budget + budget / 8, "{grown} bytes for a budget of {budget}");
        models.push(model);
    }
}
