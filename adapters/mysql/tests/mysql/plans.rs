//! Every statement in `sql/` is valid and runs by the index it names: a new file is found by itself, a scan or a sort fails
//! the test. Where a plan can be right and still read too much, the rows that were read are counted.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use madang_mysql::Service;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Row};

use crate::support::{OneServer, TestDb};

/// Statements that read a whole table on purpose, with the reason.
const SCANS: &[(&str, &str)] = &[
    ("article/moved_rows.sql", "a move reads everything"),
    ("comment/moved_rows.sql", "a move reads everything"),
    ("hot/moved_rows.sql", "a move reads everything"),
    ("like/moved_rows.sql", "a move reads everything"),
    ("member/moved_rows.sql", "a move reads everything"),
    ("view/moved_rows.sql", "a move reads everything"),
    ("article/check_boards.sql", "there are as many as boards"),
    ("hot/check_list_days.sql", "there are as many lists as days that are kept"),
    ("backbone/idle_connection.sql", "the server's own tables have no indexes"),
    ("inspect/columns.sql", "the server's own tables have no indexes"),
    ("inspect/keys.sql", "the server's own tables have no indexes"),
    ("inspect/triggers.sql", "the server's own tables have no indexes"),
    ("move/all.sql", "there are 64 shards"),
    ("shard/followed.sql", "there are 64 shards, and no more servers"),
    ("inspect/collation.sql", "the server's own tables have no indexes"),
    ("inspect/history.sql", "the server's own tables have no indexes"),
    ("inspect/tables.sql", "the server's own tables have no indexes"),
    ("inbox/size.sql", "the count is the figure asked for"),
    ("member/revocations_size.sql", "the count is the figure asked for"),
    ("idempotency/size.sql", "the count is the figure asked for"),
    ("outbox/size.sql", "the count is the figure asked for"),
    ("article/board_counts.sql", "there are as many as boards"),
    ("dead_letter/count.sql", "a person looks after the letters, so there are few"),
    ("hot/days.sql", "there are as many as days that are kept"),
    ("outbox/backlog.sql", "the count is the figure asked for"),
    ("outbox/free_due_keys.sql", "there are as many parked keys as keys in trouble"),
    ("outbox/unsent_before.sql", "it ends at the first row that is left, and otherwise has seen all that wait"),
    ("shard/count.sql", "there are 64 shards"),
    ("shard/known.sql", "there are 64 shards, and no more servers"),
    ("outbox/parked.sql", "there are as many parked keys as keys in trouble"),
];

const ROWS_MARK: &str = "-- rows, joined by ";
const TAIL_MARK: &str = "-- after the rows\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_statement_uses_the_index_it_names() {
    let mut failures = Vec::new();
    for service in
        [Service::Member, Service::Article, Service::Comment, Service::Like, Service::View, Service::HotArticle]
    {
        let test = TestDb::fresh::<OneServer>(service).await;
        fill(&test, service).await;
        let mut conn = test.connect(0).await;
        for (name, text) in statements().into_iter().filter(|(name, _)| service_of(name) == service) {
            for rows in [1, 2, 64] {
                if let Err(objection) = check(&mut conn, &name, &text, rows).await {
                    failures.push(format!("{name} ({rows} rows): {objection}"));
                }
            }
        }
        conn.disconnect().await.unwrap();
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_statement_is_used_and_opens_with_a_comment() {
    let files = roots().into_iter().flat_map(|root| files_under(&root.join("src"), "rs"));
    let sources: String = files.map(|file| fs::read_to_string(file).unwrap()).collect();
    for (name, text) in statements() {
        assert!(sources.contains(&format!("sql/{name}")), "no source includes {name}");
        assert!(text.starts_with("-- "), "{name} must open with a comment that says which index it uses");
    }
}

#[test]
fn every_permitted_scan_exists() {
    for (name, _) in SCANS {
        assert!(!text_of(name).is_empty(), "{name} is gone: remove it from the list");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_deep_in_a_board_reads_little_more_than_itself() {
    let test = TestDb::fresh::<OneServer>(Service::Article).await;
    fill(&test, Service::Article).await;
    let mut conn = test.connect(0).await;
    // Half-way down, then 100 rows further, a page of 30: the index entries skipped, and each row of the page once.
    let read = rows_read(&mut conn, &explained("article/page_below.sql", &["1", "2000", "30", "100"])).await;
    assert!(read <= 130 + 2 * 30 + 10, "a page read {read} rows");
    let read = rows_read(&mut conn, &explained("article/scroll.sql", &["1", "2000", "31"])).await;
    assert!(read <= 2 * 31 + 5, "a step read {read} rows");
    let read = rows_read(&mut conn, &explained("article/newest.sql", &["1", "100"])).await;
    assert!(read <= 105, "the newest read {read} rows");
    conn.disconnect().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn comments_are_read_from_the_cursor_on_and_a_last_descendant_in_one_step() {
    let test = TestDb::fresh::<OneServer>(Service::Comment).await;
    fill(&test, Service::Comment).await;
    let mut conn = test.connect(0).await;
    for (name, values, rows_max) in [
        ("comment/last_descendants.sql", &["0", "1", "''", "'{'"][..], 4),
        ("comment/last_descendants.sql", &["0", "1", "'01999'", "'02001'"], 4),
        ("comment/scroll_tree.sql", &["1", "'02000'", "0", "31"], 2 * 31 + 5),
        ("comment/scroll_group.sql", &["1", "1", "2000", "31"], 2 * 31 + 5),
        ("comment/scroll_after_group.sql", &["1", "1", "31"], 2 * 31 + 5),
        ("comment/page_tree.sql", &["1", "30", "100"], 130 + 2 * 30 + 10),
        ("comment/page_two_level.sql", &["1", "30", "100"], 130 + 2 * 30 + 10),
        ("comment/replies.sql", &["1", "1", "1", "9"], 12),
        ("comment/counted_articles.sql", &["2000", "30"], 35),
        // Two articles have comments; a step over all of one's.
        ("comment/commented_articles.sql", &["0", "30"], 10),
    ] {
        let (head, row, _, tail) = parts(&text_of(name));
        let read = rows_read(&mut conn, &fill_in(&uncommented(&format!("{head}{row}{tail}")), values)).await;
        assert!(read <= rows_max, "{name} read {read} rows");
    }
    conn.disconnect().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pairs_are_looked_up_one_by_one_in_the_primary_key() {
    let test = TestDb::fresh::<OneServer>(Service::Like).await;
    fill(&test, Service::Like).await;
    let mut conn = test.connect(0).await;
    let (head, row, join, tail) = parts(&text_of("like/existing.sql"));
    let pairs: Vec<String> = (0..256).map(|member| fill_in(&row, &["1", "1", &(member * 7).to_string()])).collect();
    let read = rows_read(&mut conn, &format!("{head}{}{tail}", pairs.join(&format!(" {join} ")))).await;
    assert!(read <= 2 * 256 + 5, "256 pairs read {read} rows");
    conn.disconnect().await.unwrap();
}

/// Some thousand rows, so that a scan would be the planner's mistake and not its choice.
async fn fill(test: &TestDb, service: Service) {
    let mut conn = test.connect(0).await;
    let numbers: Vec<i64> = (1..=4_000).collect();
    for chunk in numbers.chunks(1_000) {
        let rows = |row: &dyn Fn(i64) -> String| chunk.iter().map(|n| row(*n)).collect::<Vec<_>>().join(",");
        let mut insert = vec![
            format!(
                "INSERT INTO outbox (shard, event_id, topic, message_key, occurred_at, headers, payload, inserted_at) VALUES {}",
                rows(&|n| format!("({}, {n}, 't', 'k{n}', 1, '[]', 'p', {n})", n % 64))
            ),
            format!(
                "INSERT INTO processed_event (shard, group_name, event_id, processed_at) VALUES {}",
                rows(&|n| format!("({}, 'g', {n}, {n})", n % 64))
            ),
            format!(
                "INSERT INTO lane_batch (lane_id, number, written_at) VALUES {}",
                rows(&|n| format!("({n}, 1, {n})"))
            ),
            format!(
                "INSERT INTO dead_letter (shard, event_id, topic, message_key, occurred_at, headers, payload, died_at) VALUES {}",
                rows(&|n| format!("({}, {n}, 't', 'k', 1, '[]', 'p', 1)", n % 64))
            ),
        ];
        match service {
            Service::Member => insert.extend([
                format!(
                    "INSERT INTO member (shard, member_id, name, name_key, skeleton, role, password_hash, created_at) VALUES {}",
                    rows(&|n| format!("(0, {n}, 'n{n}', 'n{n}', 'n{n}', 'member', 'h', 1)"))
                ),
                format!(
                    "INSERT INTO revocation (shard, position, session_id, expires_at) VALUES {}",
                    rows(&|n| format!("(0, {n}, {n}, {n})"))
                ),
                format!(
                    "INSERT INTO session (shard, session_id, member_id, created_at, last_seen_at, expires_at, passwords, agent) VALUES {}",
                    rows(&|n| format!("(0, {n}, {}, 1, 1, {n}, 0, 'a')", n % 50))
                ),
                format!(
                    "INSERT INTO password_reset (shard, member_id, digest, expires_at) VALUES {}",
                    rows(&|n| format!("(0, {n}, '{n:032}', {n})"))
                ),
                format!(
                    "INSERT INTO moderation_act (shard, act_id, kind, moderator_id, moderator_name, subject, board_id, acted_at, detail, reason) VALUES {}",
                    rows(&|n| format!("(0, {n}, 'role_given', 1, 'm', {n}, {}, 1, '', '')", n % 50))
                ),
                format!(
                    "INSERT INTO report (shard, report_id, kind, subject, article_id, board_id, reporter_id, reporter_name, reported_at, is_open, reason) VALUES {}",
                    rows(&|n| format!("(0, {n}, 'article', {n}, {n}, {}, {n}, 'r', 1, 1, 'spam')", n % 50))
                ),
            ]),
            Service::Article => insert.extend([
                format!(
                    "INSERT INTO article (shard, article_id, board_id, writer_id, version, created_at, modified_at, writer_name, title, content, content_html) VALUES {}",
                    rows(&|n| format!("(0, {n}, {}, {n}, 1, 1, 1, 'w', 't', 'c', 'h')", if n % 8 == 0 { 2 } else { 1 }))
                ),
                format!(
                    "INSERT INTO article_pin (shard, article_id, board_id, pinned_at) VALUES {}",
                    rows(&|n| format!("({}, {n}, {}, 1)", n % 64, n / 8))
                ),
                format!(
                    "INSERT INTO article_block (shard, board_id, level, first_id, article_count) VALUES {}",
                    rows(&|n| format!("(0, {}, {}, {n}, 1)", n % 5, 1 + n % 2))
                ),
                format!(
                    "INSERT INTO board_article_count (shard, board_id, article_count, version, greatest_id) VALUES {}",
                    rows(&|n| format!("({}, {n}, 1, 1, 1)", n % 64))
                ),
                format!(
                    "INSERT INTO board (shard, board_id, slug, title, comment_mode, created_at) VALUES {}",
                    rows(&|n| format!("(0, {n}, 's{n}', 't', 'tree', 1)"))
                ),
                format!(
                    "INSERT INTO once_answer (shard, member_id, scope, once_key, fingerprint, answer, answered_at) VALUES {}",
                    rows(&|n| format!("({}, {n}, 's', 'k', REPEAT('f', 32), 'a', {n})", n % 64))
                ),
            ]),
            Service::Comment => insert.extend([
                format!(
                    "INSERT INTO comment (shard, comment_id, article_id, parent_id, depth, deleted, created_at, path, writer_id, writer_name, content) VALUES {}",
                    rows(&|n| {
                        let path = if n % 8 == 0 { "NULL".into() } else { format!("'{n:05}'") };
                        format!("(1, {n}, {}, {}, 1, 0, 1, {path}, 1, 'w', 'c')", 1 + n % 8 / 7, 1 + n % 2)
                    })
                ),
                format!(
                    "INSERT INTO article_comment_count (shard, article_id, comment_count, row_count, version, greatest_id) VALUES {}",
                    rows(&|n| format!("({}, {n}, 1, 1, 1, 1)", n % 64))
                ),
                format!(
                    "INSERT INTO comment_article_gone (shard, article_id) VALUES {}",
                    rows(&|n| format!("({}, {n})", n % 64))
                ),
            ]),
            Service::HotArticle => insert.extend([
                format!(
                    "INSERT INTO hot_score (shard, day, article_id, like_count, like_version, comment_count, comment_version, view_count, view_version, deleted, falling_score) VALUES {}",
                    rows(&|n| format!("({}, {}, {n}, 1, 1, 1, 1, 1, 1, 0, -6)", n % 4, n % 4 + 1))
                ),
                format!("INSERT INTO hot_day (shard, day) VALUES {}", rows(&|n| format!("({}, {n})", n % 64))),
                format!(
                    "INSERT INTO hot_final (shard, day, place, article_id, score, like_count, comment_count, view_count) VALUES {}",
                    rows(&|n| format!("({}, {}, {}, {n}, 6, 1, 1, 1)", n % 64, n / 20, n % 20))
                ),
            ]),
            Service::View => insert.extend([
                format!(
                    "INSERT INTO article_view_count (shard, article_id, view_count, version) VALUES {}",
                    rows(&|n| format!("({}, {n}, 1, 1)", n % 64))
                ),
                format!(
                    "INSERT INTO view_article_gone (shard, article_id) VALUES {}",
                    rows(&|n| format!("({}, {n})", n % 64))
                ),
            ]),
            Service::Like => insert.extend([
                format!(
                    "INSERT INTO article_like (shard, article_id, member_id, member_name, created_at) VALUES {}",
                    rows(&|n| format!("(1, {}, {n}, 'm', 1)", n % 3))
                ),
                format!(
                    "INSERT INTO article_like_count (shard, article_id, like_count, version) VALUES {}",
                    rows(&|n| format!("({}, {n}, 1, 1)", n % 64))
                ),
                format!("INSERT INTO like_article_gone (shard, article_id) VALUES {}", rows(&|n| format!("({}, {n})", n % 64))),
            ]),
        }
        for sql in insert {
            conn.query_drop(sql).await.unwrap();
        }
    }
    let tables: Vec<String> = conn.query("SHOW TABLES").await.unwrap();
    conn.query_drop(format!("ANALYZE TABLE {}", tables.join(", "))).await.unwrap();
    conn.disconnect().await.unwrap();
}

/// Prepares a statement, and compares its plan with what its comment says.
async fn check(conn: &mut Conn, name: &str, text: &str, rows: usize) -> Result<(), String> {
    let sql = with_rows(text, rows);
    conn.prep(sql.as_str()).await.map_err(|error| error.to_string())?;
    let verb = uncommented(&sql).trim_start_matches('(').split_whitespace().next().unwrap_or_default().to_owned();
    if text.contains("Uses: no table") || !["SELECT", "UPDATE", "DELETE"].contains(&verb.as_str()) {
        return Ok(());
    }
    let steps: Vec<Row> = conn.query(format!("EXPLAIN {}", literal(&sql))).await.map_err(|error| error.to_string())?;
    let may_scan = SCANS.iter().any(|(permitted, _)| *permitted == name);
    for step in steps {
        let cell = |column: &str| step.get::<Option<String>, _>(column).flatten().unwrap_or_default();
        let (table, kind, key, extra) = (cell("table"), cell("type"), cell("key"), cell("Extra"));
        let is_known = ["Impossible WHERE", "no matching row", "optimized away", "No tables used"];
        // A row found, or known to be missing, while the plan was made: by a unique key.
        if is_known.iter().any(|known| extra.contains(known)) || table.starts_with('<') || table == "page" {
            continue;
        }
        let shown = format!("table {table}, type {kind}, key {key}, {extra}");
        if extra.contains("filesort") || extra.contains("temporary") {
            return Err(format!("sorts: {shown}"));
        }
        if may_scan {
            continue;
        }
        if ["ALL", "index"].contains(&kind.as_str()) || key.is_empty() {
            return Err(format!("scans: {shown}"));
        }
        let named = if key == "PRIMARY" {
            text.contains("primary key of") || text.contains("primary key\n-- of")
        } else {
            text.contains(&key)
        };
        if !named {
            return Err(format!("runs by an index it does not name: {shown}"));
        }
    }
    Ok(())
}

/// Rows that a statement makes the engine read.
async fn rows_read(conn: &mut Conn, sql: &str) -> u64 {
    conn.query_drop("FLUSH STATUS").await.unwrap();
    conn.query_drop(sql).await.unwrap();
    let read: HashMap<String, u64> =
        conn.query::<(String, u64), _>("SHOW SESSION STATUS LIKE 'Handler_read%'").await.unwrap().into_iter().collect();
    // Reads of the temporary table that holds the page are counted elsewhere.
    read.iter().filter(|(name, _)| *name != "Handler_read_rnd_next").map(|(_, count)| count).sum()
}

fn explained(name: &str, values: &[&str]) -> String {
    fill_in(&uncommented(&text_of(name)), values)
}

fn fill_in(text: &str, values: &[&str]) -> String {
    values.iter().fold(text.to_owned(), |text, value| text.replacen('?', value, 1))
}

/// Columns that hold texts; a number compared with one of them would use no index.
const TEXTS: [&str; 9] =
    ["kind", "path", "message_key", "group_name", "scope", "once_key", "slug", "name_key", "skeleton"];

/// Placeholders as values of the columns that they are compared with.
fn literal(sql: &str) -> String {
    let mut text = String::new();
    let mut rest = uncommented(sql);
    while let Some((before, after)) = rest.split_once('?') {
        text.push_str(before);
        let mut words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        let column = words.rfind(|word| !word.is_empty() && *word != "IN" && word.parse::<u64>().is_err());
        text.push_str(if column.is_some_and(|column| TEXTS.contains(&column)) { "'1'" } else { "1" });
        rest = after.to_owned();
    }
    text + &rest
}

fn uncommented(sql: &str) -> String {
    sql.lines().filter(|line| !line.starts_with("--")).collect::<Vec<_>>().join("\n")
}

fn with_rows(text: &str, rows: usize) -> String {
    let (head, row, join, tail) = parts(text);
    format!("{head}{}\n{tail}", vec![row; rows].join(&format!(" {join}\n")))
}

/// Head, row, joiner and tail; all of it is head where no rows are.
fn parts(text: &str) -> (String, String, String, String) {
    let Some((head, rest)) = text.split_once(ROWS_MARK) else {
        return (text.to_owned(), String::new(), String::new(), String::new());
    };
    let (join, rest) = rest.split_once('\n').unwrap();
    let (row, tail) = rest.split_once(TAIL_MARK).unwrap_or((rest, ""));
    (head.to_owned(), row.trim_end().to_owned(), join.to_owned(), tail.to_owned())
}

fn service_of(name: &str) -> Service {
    match name.split('/').next().unwrap() {
        "member" | "lease" | "moderation" | "copy" => Service::Member,
        "article" | "idempotency" => Service::Article,
        "comment" => Service::Comment,
        "view" => Service::View,
        "hot" => Service::HotArticle,
        _ => Service::Like,
    }
}

fn text_of(name: &str) -> String {
    statements().into_iter().find(|(found, _)| found == name).unwrap_or_else(|| panic!("there is no {name}")).1
}

/// Every file with its name under `sql/`, the engine's included.
fn statements() -> Vec<(String, String)> {
    let mut files = Vec::new();
    for folder in roots().map(|root| root.join("sql")) {
        for file in files_under(&folder, "sql") {
            let name = file.strip_prefix(&folder).unwrap().display().to_string();
            files.push((name, fs::read_to_string(file).unwrap()));
        }
    }
    assert!(files.len() > 20, "the statements were not found");
    files.sort();
    files
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

/// The stores, and the engine they stand on.
fn roots() -> [PathBuf; 2] {
    let stores = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    [stores.join("../../engine/mysql"), stores]
}
