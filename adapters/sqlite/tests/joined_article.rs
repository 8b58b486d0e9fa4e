//! One statement tells the same of an article as its four owners, also of one that some of them know to be deleted.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use madang_article::ArticleStore as _;
use madang_article_read::{ArticleGroup, Count, Discussion, Entry, JoinedArticle, ReadJoined as _};
use madang_board::ArticleId;
use madang_comment::CommentStore as _;
use madang_kernel::{Id, StoreError};
use madang_like::LikeStore as _;
use madang_sqlite::{SqliteArticles, SqliteComments, SqliteJoinedArticles, SqliteLikes, SqliteViews, Tx};
use madang_view::{StoredViews, ViewStore as _};
use support::{TestDb, broken};

/// Five articles with counts; nothing is counted of the first, owners of counts know 3, 4 and 5 to be deleted.
const ROWS: &str = "
    INSERT INTO article (article_id, board_id, writer_id, version, created_at, modified_at, writer_name, title, content,
        content_html)
    SELECT value, 7, 9, value + 1, 1000, 2000, 'name', 'title ' || value, 'text', '<p>text</p>'
    FROM json_each('[1, 2, 3, 4, 5]');
    INSERT INTO article_comment_count (article_id, comment_count, row_count, version, greatest_id)
    SELECT value, 10 + value, 20 + value, 30 + value, 1 FROM json_each('[2, 3, 4, 5]');
    INSERT INTO article_like_count (article_id, like_count, version)
    SELECT value, 40 + value, 50 + value FROM json_each('[2, 3, 4, 5]');
    INSERT INTO article_view_count (article_id, view_count, version)
    SELECT value, 60 + value, 70 + value FROM json_each('[2, 3, 4, 5]');
    INSERT INTO comment_article_gone (article_id, gone_at) VALUES (3, 1);
    INSERT INTO like_article_gone (article_id) VALUES (4);
    INSERT INTO view_article_gone (article_id) VALUES (5);
";

#[tokio::test]
async fn one_read_tells_what_the_owners_tell() {
    let test = TestDb::fresh();
    test.db.write(madang_sqlite::Priority::Foreground, |tx| tx.execute_batch(ROWS).map_err(broken)).await.unwrap();
    let articles: Vec<_> = [5, 2, 1, 6, 3, 4, 2].map(ArticleId::from_raw).to_vec();
    let found = SqliteJoinedArticles::new(test.db.clone()).read_joined(&articles).await.unwrap();
    assert_eq!(found.len(), articles.len());
    let mut live = Vec::new();
    for (article, found) in articles.iter().zip(found) {
        let (entry, views) = from_the_owners(&test, *article).await.unwrap();
        // Whoever knows of the deletion is right, and nothing is shown of the views then.
        let entry = entry.filter(|_| views.is_some());
        assert_eq!(found.entry, entry, "{article}");
        if let Some(ArticleGroup::Live(text)) = found.entry.and_then(|entry| entry.article) {
            assert_eq!(Some(found.views), views, "{article}");
            live.push(text.head.article_id.raw());
        }
    }
    assert_eq!(live, [2, 1, 2]);
}

#[tokio::test]
async fn what_is_read_on_the_spot_is_as_new_as_what_readers_read() {
    let test = TestDb::fresh();
    let joined = SqliteJoinedArticles::new(test.db.clone());
    let article = ArticleId::from_raw(2);
    assert_eq!(joined.read_joined(&[article]).await.unwrap(), [JoinedArticle::default()]);
    test.db.write(madang_sqlite::Priority::Foreground, |tx| tx.execute_batch(ROWS).map_err(broken)).await.unwrap();
    for likes in 43..200_u64 {
        let found = joined.read_joined(&[article]).await.unwrap().remove(0);
        // Asked for together with many, it is left to the readers.
        assert_eq!(joined.read_joined(&[article; 16]).await.unwrap(), vec![found.clone(); 16]);
        assert_eq!(found.entry.unwrap().likes, Some(Count { count: likes - 1, version: 52 }));
        let change = move |tx: &Tx| {
            let changed =
                tx.execute("UPDATE article_like_count SET like_count = ?1 WHERE article_id = 2", [likes as i64]);
            changed.map_err(broken)
        };
        test.db.write(madang_sqlite::Priority::Foreground, change).await.unwrap();
    }
}

#[tokio::test]
async fn nothing_is_left_open_that_read_on_the_spot() {
    let test = TestDb::fresh();
    let joined = SqliteJoinedArticles::new(test.db.clone());
    joined.read_joined(&[ArticleId::from_raw(2)]).await.unwrap();
    test.db.close().await;
    assert!(joined.read_joined(&[ArticleId::from_raw(2)]).await.is_err());
    let left =
        std::fs::read_dir(test.directory.path()).unwrap().map(|file| file.unwrap().file_name()).collect::<Vec<_>>();
    assert!(left.iter().all(|name| !name.to_string_lossy().ends_with("-wal")), "{left:?}");
}

async fn from_the_owners(test: &TestDb, article: ArticleId) -> Result<(Option<Entry>, Option<u64>), StoreError> {
    let text = SqliteArticles::new(test.db.clone()).find(article).await?;
    let comments = SqliteComments::new(test.db.clone()).counts(vec![article]).await?.remove(0);
    let likes = SqliteLikes::new(test.db.clone()).counts(vec![article]).await?.remove(0);
    let text = text.map(|article| madang_article_read::ArticleText {
        head: madang_article_read::ArticleHead {
            article_id: article.article_id,
            board_id: article.board_id,
            title: article.title,
            writer: article.writer,
            created_at: article.created_at,
            modified_at: article.modified_at,
            version: article.version,
        },
        content: article.content,
        content_html: article.content_html,
    });
    let comments = comments.map(|found| Discussion {
        count: found.count.comment_count,
        locked: found.count.locked,
        last: found.last,
        version: found.count.version,
    });
    let likes = likes.map(|count| Count { count: count.like_count, version: count.version });
    let views = match SqliteViews::new(test.db.clone()).find(article).await? {
        StoredViews::Count(count) => Some(count),
        StoredViews::Gone => None,
    };
    Ok((Entry::from_owners(text, comments, likes), views))
}
