//! A site is read out whole: every table has its fate, and slices follow one another without a gap.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::collections::BTreeSet;

use madang_kernel::StoreError;
use madang_sqlite::{ExportTable, Fate, Priority, TABLES};
use rusqlite::types::Value;
use support::TestDb;

fn table(name: &str) -> ExportTable {
    let found = TABLES.iter().find(|table| table.name == name).unwrap();
    let Fate::Moved(table) = found.fate else { panic!("{name} stays") };
    table
}

#[tokio::test]
async fn somebody_decided_about_every_table_of_the_schema() {
    let test = TestDb::fresh();
    let schema: BTreeSet<String> = madang_sqlite::schema_tables(&test.db).await.unwrap().into_iter().collect();
    let decided: BTreeSet<String> = TABLES.iter().map(|table| table.name.to_owned()).collect();
    assert_eq!(decided.len(), TABLES.len(), "a table is named twice");
    let open: Vec<_> = schema.difference(&decided).collect();
    assert!(open.is_empty(), "say in src/export/tables.rs what becomes of {open:?} when a site moves");
    let left: Vec<_> = decided.difference(&schema).collect();
    assert!(left.is_empty(), "{left:?} are no tables any more");
}

#[tokio::test]
async fn every_table_that_moves_is_counted_and_read_with_all_its_columns() {
    let test = TestDb::fresh();
    let counted: Vec<String> =
        madang_sqlite::export_state(&test.db).await.unwrap().counts.into_iter().map(|(name, _)| name).collect();
    for fate in TABLES {
        let Fate::Moved(table) = fate.fate else { continue };
        assert!(counted.contains(&table.name.to_owned()), "{} is not counted", table.name);
        assert!(madang_sqlite::export(&test.db, table, None, 10).await.unwrap().is_empty());
    }
    assert_eq!(counted.len(), TABLES.iter().filter(|fate| matches!(fate.fate, Fate::Moved(_))).count());
}

#[tokio::test]
async fn slices_follow_one_another_without_gap_or_overlap() {
    let test = TestDb::fresh();
    let fill = |tx: &rusqlite::Connection| {
        for article in 1..=7_i64 {
            for member in 1..=3_i64 {
                tx.execute("INSERT INTO article_like VALUES (?, ?, 'ann', 1)", [article, member])?;
            }
        }
        Ok::<_, rusqlite::Error>(())
    };
    let filled = test.db.write(Priority::Foreground, move |tx| fill(tx).map_err(|e| StoreError::broken("test", e)));
    filled.await.unwrap();
    let likes = table("article_like");
    let (mut after, mut seen) = (None, Vec::new());
    loop {
        let slice = madang_sqlite::export(&test.db, likes, after.clone(), 4).await.unwrap();
        let Some(last) = slice.last() else { break };
        after = Some(likes.key_of(last));
        seen.extend(slice.iter().map(|row| likes.key_of(row)));
    }
    let expected: Vec<_> =
        (1..=7).flat_map(|a| (1..=3).map(move |m| vec![Value::Integer(a), Value::Integer(m)])).collect();
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn a_state_is_the_same_until_something_changes() {
    let test = TestDb::fresh();
    let before = madang_sqlite::export_state(&test.db).await.unwrap();
    assert_eq!(madang_sqlite::export_state(&test.db).await.unwrap(), before);
    let add = |tx: &rusqlite::Connection| tx.execute("INSERT INTO like_article_gone (article_id) VALUES (1)", []);
    test.db.write(Priority::Foreground, move |tx| add(tx).map_err(|e| StoreError::broken("test", e))).await.unwrap();
    assert_ne!(madang_sqlite::export_state(&test.db).await.unwrap(), before);
}
