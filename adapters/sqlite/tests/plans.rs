//! Every statement in `sql/` runs by the index it names: a new file is found by itself, a scan or a sort fails the test.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use madang_kernel::StoreError;
use rusqlite::Connection;
use support::TestDb;

/// Statements that read a whole table on purpose, with the reason.
const SCANS: &[(&str, &str)] = &[
    ("article/boards.sql", "a site has few boards"),
    ("check/boards.sql", "a check reads everything"),
    ("check/boards_without_count.sql", "a check reads everything"),
    ("check/articles_total.sql", "a check reads everything"),
    ("check/comment_counts.sql", "a check reads everything"),
    ("check/comment_counts_without_article.sql", "a check reads everything"),
    ("check/comment_orphans.sql", "a check reads everything"),
    ("check/comments_uncounted.sql", "a check reads everything"),
    ("check/hot_lists.sql", "a check reads everything"),
    ("check/hot_scores.sql", "a check reads everything"),
    ("check/like_counts.sql", "a check reads everything"),
    ("check/like_counts_without_article.sql", "a check reads everything"),
    ("check/likes_without_count.sql", "a check reads everything"),
    ("check/offsets_past_head.sql", "there are few consumer groups"),
    ("check/parts_total.sql", "a check reads everything"),
    ("check/sizes.sql", "counts what must stay bounded"),
    ("check/view_counts.sql", "a check reads everything"),
    ("check/view_counts_without_article.sql", "a check reads everything"),
    ("dead_letter/count.sql", "a person looks after the letters, so there are few"),
    ("export/counts.sql", "a move reads everything"),
    ("export/id_end.sql", "a row for each node number, which is one"),
    ("export/marks.sql", "a table of one row per AUTOINCREMENT"),
    ("export/tables.sql", "the schema is small"),
    ("log/groups.sql", "there are few consumer groups"),
    ("log/head.sql", "a table of one row per AUTOINCREMENT"),
    ("log/oldest.sql", "reads one row in the order of the primary key"),
    ("log/oldest_slice.sql", "reads a slice in the order of the primary key"),
    ("outbox/backlog.sql", "the count is the figure asked for"),
    ("outbox/free_due_keys.sql", "there are as many parked keys as keys in trouble"),
    ("outbox/parked.sql", "there are as many parked keys as keys in trouble"),
];

#[tokio::test]
async fn every_statement_uses_the_index_it_names() {
    let test = TestDb::fresh();
    let failures = test.db.read(|reader| Ok::<_, StoreError>(failures(reader))).await.unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[tokio::test]
async fn lists_start_at_their_place_in_the_index() {
    let test = TestDb::fresh();
    for (name, step) in [
        ("page_below.sql", "SEARCH article USING COVERING INDEX article_by_board (board_id=? AND rowid<?)"),
        ("newest.sql", "SEARCH article USING COVERING INDEX article_by_board (board_id=?)"),
        ("scroll.sql", "SEARCH article USING INDEX article_by_board (board_id=? AND rowid<?)"),
        ("blocks_below.sql", "SEARCH article_block USING PRIMARY KEY (board_id=? AND level=? AND first_id<?)"),
    ] {
        let sql = fs::read_to_string(root().join("sql/article").join(name)).unwrap();
        let plan = test.db.read(move |reader| Ok::<_, StoreError>(plan(reader, &sql).unwrap())).await.unwrap();
        assert!(plan.iter().any(|found| found == step), "{name}: {plan:?}");
    }
}

#[tokio::test]
async fn comments_are_found_at_their_place_in_the_index() {
    let test = TestDb::fresh();
    let search = "SEARCH comment USING";
    for (name, step) in [
        ("page_two_level.sql", format!("{search} COVERING INDEX comment_by_parent (article_id=?)")),
        ("page_tree.sql", format!("{search} COVERING INDEX comment_by_path (article_id=? AND path>?)")),
        ("scroll_group.sql", format!("{search} INDEX comment_by_parent (article_id=? AND parent_id=? AND rowid>?)")),
        ("scroll_after_group.sql", format!("{search} INDEX comment_by_parent (article_id=? AND parent_id>?)")),
        ("scroll_tree.sql", format!("{search} INDEX comment_by_path (article_id=? AND path>?)")),
        (
            "last_descendant.sql",
            format!("{search} COVERING INDEX comment_by_path (article_id=? AND path>? AND path<?)"),
        ),
        ("has_replies.sql", format!("{search} COVERING INDEX comment_by_parent (article_id=? AND parent_id=?)")),
        ("counted_articles.sql", format!("{search} COVERING INDEX comment_by_parent (article_id>?)")),
    ] {
        let sql = fs::read_to_string(root().join("sql/comment").join(name)).unwrap();
        let plan = test.db.read(move |reader| Ok::<_, StoreError>(plan(reader, &sql).unwrap())).await.unwrap();
        assert!(plan.contains(&step), "{name}: {plan:?}");
    }
}

#[tokio::test]
async fn hot_articles_are_found_at_their_place_in_the_index() {
    let test = TestDb::fresh();
    for (name, step) in [
        ("top.sql", "SEARCH hot_score USING INDEX hot_ranking (day=? AND score>?)"),
        ("find.sql", "SEARCH hot_score USING PRIMARY KEY (day=? AND article_id=?)"),
        ("tallies_after.sql", "SEARCH hot_score USING PRIMARY KEY (day=? AND article_id>?)"),
        ("after.sql", "SEARCH hot_score USING PRIMARY KEY ((day,article_id)>(?,?))"),
        ("leave.sql", "SEARCH hot_final USING INDEX hot_final_article (day=? AND article_id=?)"),
    ] {
        let sql = fs::read_to_string(root().join("sql/hot").join(name)).unwrap();
        let plan = test.db.read(move |reader| Ok::<_, StoreError>(plan(reader, &sql).unwrap())).await.unwrap();
        assert!(plan.iter().any(|found| found == step), "{name}: {plan:?}");
    }
}

#[test]
fn every_statement_is_used() {
    let sources = sources(&root().join("src"));
    for file in statements() {
        let name = file.strip_prefix(root()).unwrap().display().to_string();
        assert!(sources.contains(&name), "no source includes {name}");
    }
}

#[test]
fn every_permitted_scan_exists() {
    for (name, _) in SCANS {
        assert!(root().join("sql").join(name).exists(), "{name} is gone: remove it from the list");
    }
}

fn failures(reader: &Connection) -> Vec<String> {
    let indexes = indexes(reader);
    let mut failures = Vec::new();
    for file in statements() {
        let name = file.strip_prefix(root().join("sql")).unwrap().display().to_string();
        let sql = fs::read_to_string(&file).unwrap();
        match plan(reader, &sql) {
            Ok(plan) => failures.extend(objection(&name, &sql, &plan, &indexes)),
            Err(error) => failures.push(format!("{name}: {error}")),
        }
    }
    failures
}

fn objection(name: &str, sql: &str, plan: &[String], indexes: &[String]) -> Option<String> {
    let shown = plan.join("; ");
    if !sql.starts_with("-- ") {
        return Some(format!("{name}: must open with a comment that says which index it uses"));
    }
    let may_scan = SCANS.iter().any(|(permitted, _)| *permitted == name);
    if !may_scan && plan.iter().any(|step| is_scan(step)) {
        return Some(format!("{name}: scans a table: {shown}"));
    }
    if plan.iter().any(|step| step.contains("TEMP B-TREE") || step.contains("AUTOMATIC")) {
        return Some(format!("{name}: sorts or builds an index: {shown}"));
    }
    // An INSERT has no plan of its own; its conflicts are found through the unique index.
    let missing = |index: &&String| sql.contains(index.as_str()) && !shown.contains(index.as_str());
    match indexes.iter().find(missing) {
        Some(index) if !sql.contains("INSERT INTO") => Some(format!("{name}: names {index} and runs by {shown}")),
        _ => None,
    }
}

/// A page found by a sub-query, the caller's list of ids and a constant row are read whole, and small by construction.
fn is_scan(step: &str) -> bool {
    let small = ["SCAN page", "SCAN json_each", "SCAN CONSTANT ROW"];
    step.starts_with("SCAN") && !small.iter().any(|small| step.starts_with(small))
}

fn plan(reader: &Connection, sql: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = reader.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
    let mut rows = statement.raw_query();
    let mut steps = Vec::new();
    while let Some(row) = rows.next()? {
        steps.push(row.get(3)?);
    }
    Ok(steps)
}

fn indexes(reader: &Connection) -> Vec<String> {
    let sql = "SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL";
    let mut statement = reader.prepare(sql).unwrap();
    let names = statement.query_map([], |row| row.get(0)).unwrap();
    names.collect::<Result<_, _>>().unwrap()
}

fn statements() -> Vec<PathBuf> {
    let mut files = files_under(&root().join("sql"), "sql");
    assert!(files.len() > 20, "the statements were not found");
    files.sort();
    files
}

fn sources(folder: &Path) -> String {
    files_under(folder, "rs").iter().map(|file| fs::read_to_string(file).unwrap()).collect()
}

fn files_under(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_under(&path, extension));
        } else if path.extension().is_some_and(|ending| ending == extension) {
            found.push(path);
        }
    }
    found
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}
