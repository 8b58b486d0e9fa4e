//! Many callers at once: everything acknowledged is counted once and reported once.

use std::collections::HashSet;
use std::sync::Arc;

use madang_article::{CreateOutcome, DeleteOutcome, EditOutcome};
use madang_event::{BoardCount, Event};
use madang_kernel::Created;
use tokio::task::JoinSet;

use super::ArticleStoreHarness;
use super::site::{Site, idempotency};

const WRITERS: usize = 64;
const ARTICLES_EACH: usize = 10;

pub(super) async fn concurrent_writers_are_all_counted<H: ArticleStoreHarness>(harness: H) {
    let site = Arc::new(Site::open(harness).await);
    let mut writers = JoinSet::new();
    for _ in 0..WRITERS {
        let site = Arc::clone(&site);
        writers.spawn(async move {
            for _ in 0..ARTICLES_EACH {
                site.create().await;
            }
        });
    }
    writers.join_all().await;
    let total = (WRITERS * ARTICLES_EACH) as u64;
    assert_eq!(site.count().await, total);
    let events = site.events().await;
    assert_eq!(events.iter().map(|event| event.key).collect::<HashSet<_>>().len() as u64, total);
    for (index, event) in events.iter().enumerate() {
        let Event::ArticleCreated(state) = &event.event else { panic!("only creations") };
        let nth = index as u64 + 1;
        assert_eq!(state.board_count, BoardCount { article_count: nth, version: nth }, "in commit order");
    }
    site.assert_sound().await;
}

pub(super) async fn concurrent_requests_with_one_key_create_one_article<H: ArticleStoreHarness>(harness: H) {
    let site = Arc::new(Site::open(harness).await);
    let mut senders = JoinSet::new();
    for _ in 0..WRITERS {
        let site = Arc::clone(&site);
        senders.spawn(async move {
            let mut new = site.draft();
            new.idempotency = idempotency(7, "POST /a", "same", 1);
            site.store.create(new).await.unwrap()
        });
    }
    let answers = senders.join_all().await;
    let mut articles = HashSet::new();
    let mut made = 0;
    for answer in answers {
        match answer {
            CreateOutcome::Created(Created::Now(article)) => {
                made += 1;
                articles.insert(article.article_id);
            }
            CreateOutcome::Created(Created::Before(article)) => {
                articles.insert(article.article_id);
            }
            other => panic!("the bodies are equal, and the board is open: {other:?}"),
        }
    }
    assert_eq!((made, articles.len()), (1, 1));
    assert_eq!((site.count().await, site.events().await.len()), (1, 1));
}

pub(super) async fn of_concurrent_edits_of_one_version_one_wins<H: ArticleStoreHarness>(harness: H) {
    let site = Arc::new(Site::open(harness).await);
    let id = site.create().await.article_id;
    let mut editors = JoinSet::new();
    for editor in 0..WRITERS {
        let site = Arc::clone(&site);
        editors.spawn(async move {
            let edit = site.edit_of(id, &format!("by {editor}"), Some(1));
            site.store.edit(edit).await.unwrap()
        });
    }
    let outcomes = editors.join_all().await;
    let won: Vec<_> = outcomes.iter().filter(|outcome| matches!(outcome, EditOutcome::Edited(_))).collect();
    assert_eq!(won.len(), 1);
    let stored = site.store.find(id).await.unwrap().unwrap();
    assert_eq!(*won[0], EditOutcome::Edited(stored));
    assert_eq!(site.events().await.len(), 2);
}

pub(super) async fn concurrent_creation_and_deletion_leave_count_equal_to_rows<H: ArticleStoreHarness>(harness: H) {
    let site = Arc::new(Site::open(harness).await);
    let mut callers = JoinSet::new();
    for caller in 0..WRITERS {
        let site = Arc::clone(&site);
        callers.spawn(async move {
            for turn in 0..ARTICLES_EACH {
                let id = site.create().await.article_id;
                if (caller + turn) % 3 != 0 {
                    assert_eq!(site.delete(id).await, DeleteOutcome::Deleted);
                }
            }
        });
    }
    callers.join_all().await;
    let kept = (0..WRITERS).map(|c| (0..ARTICLES_EACH).filter(|t| (c + t) % 3 == 0).count()).sum::<usize>();
    assert_eq!(site.count().await, kept as u64);
    let changes = (2 * WRITERS * ARTICLES_EACH - kept) as u64;
    let versions: Vec<u64> = site.events().await.iter().map(|event| board_version(&event.event)).collect();
    assert_eq!(versions, (1..=changes).collect::<Vec<_>>(), "the count's version grows by one a change");
    site.assert_sound().await;
}

fn board_version(event: &Event) -> u64 {
    match event {
        Event::ArticleCreated(state) | Event::ArticleEdited(state) => state.board_count.version,
        Event::ArticleDeleted(gone) => gone.board_count.version,
        other => panic!("{} is no event of an article store", other.type_name()),
    }
}
