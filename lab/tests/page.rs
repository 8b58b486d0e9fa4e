//! The query of docs/lab.md, pasted as a person would: it answers for every system, also one with groups, and calls an account
//! that nobody used equal.

#![allow(clippy::unwrap_used, reason = "the helpers of a test fail the test")]

use madang_lab::programs::database;
use madang_lab::programs::settings::MysqlSettings;
use madang_lab::runner::observe;
use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, Row};

/// The statements of the page, with another name in the place of its example.
fn statements(projection: &str) -> Vec<String> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/lab.md");
    let text = std::fs::read_to_string(page).unwrap();
    let (_, section) = text.split_once("### See it yourself").unwrap();
    let (_, sql) = section.split_once("```sql\n").unwrap();
    let (sql, _) = sql.split_once("```").unwrap();
    let sql = sql.replace("lab_offset_on_1a2b3c_group1", projection);
    sql.split(";\n").map(|one| one.trim().to_owned()).filter(|one| !one.is_empty()).collect()
}

/// A system with three accounts: one that nobody used, one that is right everywhere, and one that lost an event of 1.
async fn make(conn: &mut Conn, mysql: &str, prefix: &str, projection: &str) {
    let settings = MysqlSettings { mysql: mysql.to_owned() };
    database::accounts::<()>(&settings.options(prefix)).await.unwrap().close().await;
    for name in [prefix, projection] {
        database::projection::<()>(&settings.options(name)).await.unwrap().close().await;
    }
    for statement in [
        format!("CREATE DATABASE `{prefix}_history`"),
        format!("CREATE TABLE `{prefix}_history`.acknowledged (tx_id VARBINARY(64), account_id INT, amount BIGINT)"),
        format!("INSERT INTO `{prefix}_history`.acknowledged VALUES ('a', 2, 5), ('b', 3, 4), ('c', 3, 1)"),
        format!("INSERT INTO `{prefix}_accounts`.account VALUES (1, 0, 0, 0), (2, 5, 1, 0), (3, 5, 2, 0)"),
        format!(
            "INSERT INTO `{prefix}_accounts`.ledger VALUES ('a', 2, 5, 5, 1, 0), ('b', 3, 4, 4, 1, 0), ('c', 3, 1, 5, 2, 0)"
        ),
        format!(
            "INSERT INTO `{projection}_projection`.account_projection (account_id, balance, version, updated_at, entries, \
             entries_sum) VALUES (2, 5, 1, 0, 1, 5), (3, 4, 1, 0, 1, 4)"
        ),
        format!(
            "INSERT INTO `{projection}_projection`.processed_event (shard, group_name, event_id, processed_at, dedup_key) \
             VALUES (0, 'group-1', 1, 0, 'a'), (0, 'group-1', 2, 0, 'b')"
        ),
    ] {
        conn.query_drop(&statement).await.unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
}

async fn answers_for(has_groups: bool) {
    let mysql = madang_test_servers::mysql().remove(0);
    let prefix = format!("lab_test_{:08x}", rand::random::<u32>());
    let projection = if has_groups { format!("{prefix}_group1") } else { prefix.clone() };
    let mut conn = observe::connect(&mysql).await.unwrap();
    make(&mut conn, &mysql, &prefix, &projection).await;
    let statements = statements(&projection);
    let [list, set, compare, doubled, unsent] = &statements[..] else { panic!("{statements:?}") };
    let kept: Vec<String> = conn.query(list).await.unwrap();
    assert!(kept.contains(&projection), "{kept:?}");
    assert_eq!(kept.contains(&prefix), !has_groups, "the empty projection beside those of groups is not named");
    conn.query_drop(set).await.unwrap();
    let rows: Vec<Row> = conn.query(compare).await.unwrap();
    let verdicts: Vec<(u16, String)> =
        rows.iter().map(|row| (row.get("account_id").unwrap(), row.get("verdict").unwrap())).collect();
    let expected = [(3, "DIFFERENT"), (1, "equal"), (2, "equal")].map(|(id, verdict)| (id, verdict.to_owned()));
    assert_eq!(verdicts, expected);
    assert!(conn.query::<Row, _>(doubled).await.unwrap().is_empty());
    assert_eq!(conn.query_first::<u64, _>(unsent).await.unwrap(), Some(0));
    for name in ["accounts", "history", "projection", "group1_projection"] {
        conn.query_drop(format!("DROP DATABASE IF EXISTS `{prefix}_{name}`")).await.unwrap();
    }
}

#[tokio::test]
async fn the_query_of_the_page_answers_for_a_system_with_one_projection() {
    answers_for(false).await;
}

#[tokio::test]
async fn the_query_of_the_page_answers_for_a_system_with_groups() {
    answers_for(true).await;
}
