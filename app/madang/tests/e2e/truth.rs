//! What readers must be told, counted anew from the tables of the owners.

use std::path::Path;

use serde_json::{Value, json};

use crate::database;
use crate::http::{Call, Http};
use crate::server::TestServer;

/// Articles that a list of hot articles shows.
const SHOWN_MAX: usize = 10;

/// Every article as the tables have it, counts recounted from the rows, by id.
pub(crate) fn articles(data: &Path) -> Vec<Value> {
    let file = database::open(data);
    let mut rows = file
        .prepare(
            "SELECT a.article_id, a.board_id, a.title, a.content, a.content_html, a.version, a.writer_id, a.writer_name,
                 (SELECT count(*) FROM comment c WHERE c.article_id = a.article_id AND c.deleted = 0),
                 (SELECT count(*) FROM article_like l WHERE l.article_id = a.article_id),
                 coalesce((SELECT view_count FROM article_view_count v WHERE v.article_id = a.article_id), 0),
                 EXISTS (SELECT 1 FROM article_pin p WHERE p.article_id = a.article_id AND p.until IS NULL),
                 coalesce((SELECT locked FROM article_comment_count n WHERE n.article_id = a.article_id), 0),
                 a.modified_at > a.created_at, n.comment_id, n.writer_id, n.writer_name,
                 strftime('%Y-%m-%dT%H:%M:%fZ', coalesce(n.created_at, a.created_at) / 1000.0, 'unixepoch')
             FROM article a
             LEFT JOIN comment n ON n.comment_id =
                 (SELECT max(comment_id) FROM comment c WHERE c.article_id = a.article_id AND c.deleted = 0)
             ORDER BY a.article_id",
        )
        .unwrap();
    let id = |row: &rusqlite::Row<'_>, column| row.get::<_, i64>(column).map(|id| id.to_string());
    let article = |row: &rusqlite::Row<'_>| {
        Ok(json!({
            "article_id": id(row, 0)?,
            "board_id": id(row, 1)?,
            "title": row.get::<_, String>(2)?,
            "content": row.get::<_, String>(3)?,
            "content_html": row.get::<_, String>(4)?,
            "version": row.get::<_, i64>(5)?,
            "writer": {"member_id": id(row, 6)?, "name": row.get::<_, String>(7)?},
            "comment_count": row.get::<_, i64>(8)?,
            "like_count": row.get::<_, i64>(9)?,
            "view_count": row.get::<_, i64>(10)?,
            "pinned": row.get::<_, bool>(11)?,
            "locked": row.get::<_, bool>(12)?,
            "edited": row.get::<_, bool>(13)?,
            "last_activity_at": row.get::<_, String>(17)?,
            "last_comment": match row.get::<_, Option<i64>>(14)? {
                None => Value::Null,
                Some(comment) => json!({
                    "comment_id": comment.to_string(),
                    "writer": {"member_id": id(row, 15)?, "name": row.get::<_, String>(16)?},
                    "created_at": row.get::<_, String>(17)?,
                }),
            },
        }))
    };
    rows.query_map([], article).unwrap().collect::<Result<_, _>>().unwrap()
}

/// The hot list that these articles give, all of them being of one day: by score, of equals the earlier first.
pub(crate) fn hot_list(articles: &[Value]) -> Value {
    let number = |article: &Value, field: &str| article[field].as_u64().unwrap();
    let score = |article: &Value| {
        3 * number(article, "like_count") + 2 * number(article, "comment_count") + number(article, "view_count")
    };
    let mut scored: Vec<_> = articles.iter().map(|article| (score(article), article)).collect();
    scored.retain(|(score, _)| *score > 0);
    // Stable, and the articles come by id.
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    let items = scored.into_iter().take(SHOWN_MAX).enumerate().map(|(place, (score, article))| {
        let mut item = json!({"rank": place + 1, "score": score});
        for field in ["article_id", "board_id", "title", "like_count", "comment_count", "view_count"] {
            item[field] = article[field].clone();
        }
        item
    });
    Value::from_iter(items)
}

/// Reads every article over HTTP and compares each with the tables.
pub(crate) fn is_read(server: &TestServer, articles: &[Value]) {
    let mut http = Http::connect(&server.address).unwrap();
    for expected in articles {
        let path = format!("/api/v1/articles/{}", expected["article_id"].as_str().unwrap());
        let mut told = Call::new(&server.address, "GET", &path).send_on(&mut http).unwrap().json(200);
        for field in ["created_at", "modified_at"] {
            assert!(told.as_object_mut().unwrap().remove(field).is_some_and(|moment| moment.is_string()), "{field}");
        }
        assert_eq!(told, *expected);
    }
}

/// A figure of the server, 0 when it has not been counted yet.
pub(crate) fn figure(server: &TestServer, name: &str) -> f64 {
    let figures = server.ask("article-read", "/metrics").text();
    let value = figures.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    value.map_or(0.0, |value| value.parse().unwrap())
}
