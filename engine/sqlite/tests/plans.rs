//! Every statement in `sql/` runs by the index it names: a new file is found by itself, a scan or a sort fails the test.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod statements;
mod support;

use madang_kernel::StoreError;
use statements::{Statements, plan};
use support::TestDb;

const SCANS: &[(&str, &str)] = &[
    ("dead_letter/count.sql", "a person looks after the letters, so there are few"),
    ("log/groups.sql", "there are few consumer groups"),
    ("log/head.sql", "a table of one row per AUTOINCREMENT"),
    ("log/oldest.sql", "reads one row in the order of the primary key"),
    ("log/oldest_slice.sql", "reads a slice in the order of the primary key"),
];

#[tokio::test]
async fn every_statement_uses_the_index_it_names() {
    let test = TestDb::fresh();
    let statements = Statements { root: env!("CARGO_MANIFEST_DIR").into(), scans: SCANS };
    let failures = test.db.read(move |reader| Ok::<_, StoreError>(statements.failures(reader))).await.unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[tokio::test]
async fn a_topic_is_read_from_its_place_in_the_index() {
    let test = TestDb::fresh();
    let step = "SEARCH event_log USING INDEX event_log_topic (topic=? AND rowid>?";
    let sql = include_str!("../sql/log/read.sql");
    let plan = test.db.read(move |reader| Ok::<_, StoreError>(plan(reader, sql).unwrap())).await.unwrap();
    assert!(plan.iter().any(|found| found.starts_with(step)), "{plan:?}");
}
