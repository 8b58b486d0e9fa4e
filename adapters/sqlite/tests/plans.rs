//! Every statement in `sql/` runs by the index it names: a new file is found by itself, a scan or a sort fails the test.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../../engine/sqlite/tests/statements/mod.rs"]
mod statements;
mod support;

use std::fs;
use std::path::PathBuf;

use madang_kernel::StoreError;
use statements::{Statements, plan};
use support::TestDb;

/// A virtual table is always said to be scanned; how is its own matter.
const MATCHED: &str = "the full-text index finds what matches";

const SCANS: &[(&str, &str)] = &[
    ("article/boards.sql", "a site has few boards"),
    ("check/boards.sql", "a check reads everything"),
    ("check/boards_without_count.sql", "a check reads everything"),
    ("check/articles_total.sql", "a check reads everything"),
    ("check/comment_counts.sql", "a check reads everything"),
    ("check/comment_counts_without_article.sql", "a check reads everything"),
    ("check/comment_orphans.sql", "a check reads everything"),
    ("check/comments_marked_as_gone.sql", "a check reads everything"),
    ("check/comments_uncounted.sql", "a check reads everything"),
    ("check/hot_lists.sql", "a check reads everything"),
    ("check/hot_scores.sql", "a check reads everything"),
    ("check/like_counts.sql", "a check reads everything"),
    ("check/like_counts_without_article.sql", "a check reads everything"),
    ("check/likes_marked_as_gone.sql", "a check reads everything"),
    ("check/likes_without_count.sql", "a check reads everything"),
    ("check/offsets_past_head.sql", "there are few consumer groups"),
    ("check/parts_total.sql", "a check reads everything"),
    ("check/sizes.sql", "counts what must stay bounded"),
    ("check/view_counts.sql", "a check reads everything"),
    ("check/view_counts_without_article.sql", "a check reads everything"),
    ("check/views_marked_as_gone.sql", "a check reads everything"),
    ("export/counts.sql", "a move reads everything"),
    ("export/id_end.sql", "a row for each node number, which is one"),
    ("export/marks.sql", "a table of one row per AUTOINCREMENT"),
    ("export/tables.sql", "the schema is small"),
    ("search/newest_0.sql", MATCHED),
    ("search/newest_1.sql", MATCHED),
    ("search/relevant_0.sql", MATCHED),
    ("search/relevant_1.sql", MATCHED),
    ("search/nth_newest_0.sql", MATCHED),
    ("search/nth_newest_1.sql", MATCHED),
    ("search/delete_text_0.sql", MATCHED),
    ("search/delete_text_1.sql", MATCHED),
    ("search/clear_data_0.sql", "some of the first rows"),
    ("search/clear_data_1.sql", "some of the first rows"),
    ("search/clear_sizes_0.sql", "some of the first rows"),
    ("search/clear_sizes_1.sql", "some of the first rows"),
];

#[tokio::test]
async fn every_statement_uses_the_index_it_names() {
    let test = TestDb::fresh();
    let statements = Statements { root: root(), scans: SCANS };
    let failures = test.db.read(move |reader| Ok::<_, StoreError>(statements.failures(reader))).await.unwrap();
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
        ("replies.sql", format!("{search} COVERING INDEX comment_by_parent (article_id=? AND parent_id=?)")),
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

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}
