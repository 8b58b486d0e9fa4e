//! The search index on SQLite keeps the port's promises, ends what takes too long, and stems as SQLite itself does.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use madang_conformance::search_index::SearchIndexHarness;
use madang_kernel::StoreError;
use madang_messaging::GroupId;
use madang_search::{Filters, Order, Query, SearchIndex, SearchRequest};
use madang_sqlite::{SqliteLog, SqliteSearch};
use support::{TestDb, broken};

struct Harness(TestDb);

impl SearchIndexHarness for Harness {
    async fn fresh() -> Self {
        Self(TestDb::fresh())
    }

    fn index(&self) -> Arc<dyn SearchIndex> {
        Arc::new(SqliteSearch::new(self.0.db.clone()).with_search_max(Duration::from_secs(60)))
    }

    async fn restart(&mut self) {
        self.0.db.close().await;
        self.0.db = self.0.reopen();
    }

    async fn join(&self, group: &GroupId, topics: &[String]) {
        SqliteLog::new(self.0.db.clone()).register_group(group, topics).await.unwrap();
    }

    async fn stored_offset(&self, group: &GroupId, topic: &str) -> Option<i64> {
        let groups = SqliteLog::new(self.0.db.clone()).groups().await.unwrap();
        groups.iter().find(|state| state.group == *group && state.topic == topic).map(|state| state.done)
    }
}

madang_conformance::search_index_suite!(Harness);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_that_takes_too_long_ends_and_the_next_is_answered() {
    let test = TestDb::fresh();
    let forever = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n";
    let ask = |reader: &rusqlite::Connection| reader.query_row(forever, [], |row| row.get::<_, i64>(0)).map_err(broken);
    for _ in 0..3 {
        let answer = test.db.read_within(Duration::from_millis(20), move |reader| {
            ask(reader).map_err(|error| match error {
                StoreError::Broken { source, .. } if source.to_string().contains("interrupted") => {
                    StoreError::unavailable("test", "interrupted")
                }
                other => other,
            })
        });
        assert!(matches!(answer.await, Err(StoreError::Unavailable { .. })));
    }
    let index = SqliteSearch::new(test.db.clone());
    let query = Query::parse("마당").unwrap();
    let (filters, order) = (Filters::default(), Order::Relevance);
    let found = index.search(SearchRequest { query, filters, order, after: None, limit: 10 }).await.unwrap();
    assert!(found.hits.is_empty() && found.is_all);
}

/// What SQLite's own tokenizer makes of words, by its vocabulary.
#[test]
fn stems_are_those_of_sqlite() {
    let connection = rusqlite::Connection::open_in_memory().unwrap();
    connection
        .execute_batch(
            "CREATE VIRTUAL TABLE words USING fts5(word, tokenize = 'porter ascii');
             CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, 'row');",
        )
        .unwrap();
    let mut words: Vec<String> = Vec::new();
    let roots = "run search connect board happy argue agree control fall hope hop size general relate commun nation \
        act operate digit vital radical hesit valence conform predict decis callous feud formal sensitiv irrit adjust \
        adopt depend active cease rate roll sky cry play toy try box buzz miss pass caress pony tie flee owe bee";
    let endings = "s es ed ing eed ies ational tional enci anci izer abli alli entli eli ousli ization ation ator alism \
        iveness fulness ousness aliti iviti biliti logi icate ative alize iciti ical ful ness al ance ence er ic able \
        ible ant ement ment ent sion tion ou ism ate iti ous ive ize y ly e ll ss sses";
    for root in roots.split_whitespace() {
        words.push(root.to_owned());
        words.extend(endings.split_whitespace().map(|ending| format!("{root}{ending}")));
    }
    assert!(words.len() > 3_000, "{}", words.len());
    for word in words {
        connection.execute("DELETE FROM words", []).unwrap();
        connection.execute("INSERT INTO words VALUES (?)", [&word]).unwrap();
        let term: String = connection.query_row("SELECT term FROM vocabulary", [], |row| row.get(0)).unwrap();
        assert_eq!(madang_search::analysis::stem(word.clone()), term, "{word}");
    }
}
