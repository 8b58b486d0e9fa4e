//! What callers count as a success is in the store.

use madang_sqlite::{SqliteComments, SqliteLikes, SqliteViews};

use super::super::database::{Commits, Database};
use super::*;

const A_MOMENT: Duration = Duration::from_millis(50);

fn ensure_some(turn: &Turn) {
    assert!(turn.samples.errors().is_empty(), "{:?}", turn.samples.errors());
    assert!(turn.samples.count() > 0);
}

#[tokio::test]
async fn likes_are_counted_as_they_were_called() {
    for commits in [Commits::Grouped, Commits::OneEach] {
        let folder = tempfile::tempdir().unwrap();
        let Database { db, issuer } = Database::open(folder.path(), commits).unwrap();
        let population = Population::new(16, 4).unwrap();
        let callers = LikeCallers::new(SqliteLikes::new(db.clone()), issuer, population, 4);
        ensure_some(&callers.run(A_MOMENT).await);
        callers.ensure_counted().await.unwrap();
        db.close().await;
    }
}

#[tokio::test]
async fn every_counted_success_is_a_comment() {
    for mode in [CommentMode::TwoLevel, CommentMode::Tree] {
        for commits in [Commits::Grouped, Commits::OneEach] {
            let folder = tempfile::tempdir().unwrap();
            let Database { db, issuer } = Database::open(folder.path(), commits).unwrap();
            let callers = CommentCallers::new(SqliteComments::new(db.clone()), issuer, 4, mode, "text");
            let turn = callers.run(A_MOMENT).await;
            ensure_some(&turn);
            assert_eq!(callers.count().await.unwrap(), turn.samples.count());
            db.close().await;
        }
    }
}

#[tokio::test]
async fn every_counted_success_is_a_view() {
    let folder = tempfile::tempdir().unwrap();
    let Database { db, issuer } = Database::open(folder.path(), Commits::OneEach).unwrap();
    let store = SqliteViews::new(db.clone());
    let callers = ViewCallers::new(store.clone(), issuer, 2);
    let turn = callers.run(A_MOMENT).await;
    ensure_some(&turn);
    let mut counted = 0;
    for caller in 0..2 {
        match store.find(ArticleId::from_raw(ARTICLE + caller)).await.unwrap() {
            StoredViews::Count(count) => counted += count,
            StoredViews::Gone => panic!("nothing was deleted"),
        }
    }
    assert_eq!(counted, turn.samples.count());
    db.close().await;
}
