//! What moderators removed: off the board at once, back where it was while it can be, and ended once after that.

use std::sync::Arc;
use std::time::Duration;

use madang_article::{Article, DeleteArticle, DeleteOutcome, PurgeArticle, RestoreArticle, RestoreOutcome};
use madang_board::{Act, ActId, ActKind, Actor, ArticleId, MemberId, Role};
use madang_event::Event;
use madang_kernel::{Clock as _, Id, Timestamp};
use tokio::task::JoinSet;

use super::ArticleStoreHarness;
use super::site::{Site, ids};

const DAY: Duration = Duration::from_secs(24 * 3_600);

fn act<H: ArticleStoreHarness>(site: &Site<H>, kind: ActKind, article: ArticleId) -> Act {
    let moderator = Actor::new(MemberId::from_raw(8), "관리자", Role::Moderator);
    // Ids of the article's shard, which say on which server the line is written.
    let act_id = ActId::from_raw(article.raw() + (site.next_id() << 22));
    let act = Act::of(&moderator, act_id, kind, article.raw(), site.harness.clock().now());
    Act { reason: "spam 🗑".to_owned(), ..act }
}

async fn remove<H: ArticleStoreHarness>(site: &Site<H>, article: ArticleId) -> DeleteOutcome {
    let act = Some(act(site, ActKind::ArticleDeleted, article));
    let delete = DeleteArticle { article_id: article, expected_version: None, event_id: site.event_id(), act };
    site.store.delete(delete).await.unwrap()
}

fn restore_call<H: ArticleStoreHarness>(site: &Site<H>, article: ArticleId) -> RestoreArticle {
    let act = act(site, ActKind::ArticleRestored, article);
    RestoreArticle { article_id: article, event_id: site.event_id(), act }
}

async fn restore<H: ArticleStoreHarness>(site: &Site<H>, article: ArticleId) -> RestoreOutcome {
    site.store.restore(restore_call(site, article)).await.unwrap()
}

async fn purge<H: ArticleStoreHarness>(site: &Site<H>, article: ArticleId, removed_until: Timestamp) -> bool {
    let purge = PurgeArticle { article_id: article, removed_until, event_id: site.event_id() };
    site.store.purge(purge).await.unwrap()
}

pub(super) async fn what_a_moderator_removed_comes_back_as_it_was<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let (below, kept, above) = (site.create().await, site.create().await, site.create().await);
    let id = kept.article_id;
    for round in 0..2 {
        let removed_at = site.harness.clock().now();
        assert_eq!(remove(&site, id).await, DeleteOutcome::Deleted);
        assert_eq!((site.store.find(id).await.unwrap(), site.count().await), (None, 2));
        assert_eq!(ids(&site.page(1, 10).await.items), [above.article_id.raw(), below.article_id.raw()]);
        let found = site.store.find_removed(id).await.unwrap().unwrap();
        assert_eq!(found.article, Article { version: 1 + 2 * round, ..kept.clone() });
        assert_eq!((found.removal.removed_at, found.removal.moderator_name.as_str()), (removed_at, "관리자"));
        assert_eq!((found.removal.moderator_id, found.removal.reason.as_str()), (MemberId::from_raw(8), "spam 🗑"));
        let holds = site.store.holds(vec![id, above.article_id, ArticleId::from_raw(5)]).await.unwrap();
        assert_eq!(holds, [true, true, false]);

        let back = Article { version: 3 + 2 * round, ..kept.clone() };
        assert_eq!(restore(&site, id).await, RestoreOutcome::Restored(back.clone()));
        assert_eq!(site.store.find(id).await.unwrap(), Some(back));
        assert_eq!((site.store.find_removed(id).await.unwrap(), site.count().await), (None, 3));
        assert_eq!(ids(&site.page(1, 10).await.items), [&above, &kept, &below].map(|item| item.article_id.raw()));
        assert_eq!(restore(&site, id).await, RestoreOutcome::Absent, "it is there");
        site.assert_sound().await;
    }
    let told = site.events().await.into_iter().filter(|event| event.key == id);
    let told: Vec<(u64, bool, u64)> = told
        .map(|event| match event.event {
            Event::ArticleCreated(state) | Event::ArticleRestored(state) => {
                assert_eq!((&state.title, &state.content_html), (&kept.title, &kept.content_html));
                (event.version, true, state.board_count.article_count)
            }
            Event::ArticleDeleted(gone) => {
                assert!(gone.restorable);
                (event.version, false, gone.board_count.article_count)
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(told, [(1, true, 2), (2, false, 2), (3, true, 3), (4, false, 2), (5, true, 3)]);
}

pub(super) async fn what_was_removed_long_ago_is_ended_once<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let (old, new, own) = (site.create().await, site.create().await, site.create().await);
    let first = site.harness.clock().now();
    assert_eq!(remove(&site, old.article_id).await, DeleteOutcome::Deleted);
    site.harness.clock().set(first.plus(DAY));
    assert_eq!(remove(&site, new.article_id).await, DeleteOutcome::Deleted);
    assert_eq!(site.delete(own.article_id).await, DeleteOutcome::Deleted);
    assert_eq!(site.store.find_removed(own.article_id).await.unwrap(), None, "what its writer removed is gone");
    assert_eq!(restore(&site, own.article_id).await, RestoreOutcome::Absent);
    assert_eq!(site.store.removed_until(first, 10).await.unwrap(), [old.article_id]);
    assert_eq!(site.store.removed_until(first.plus(DAY), 1).await.unwrap().len(), 1);
    assert!(!purge(&site, new.article_id, first).await, "not yet");
    let told = site.events().await.len();
    assert!(purge(&site, old.article_id, first).await);
    assert!(!purge(&site, old.article_id, first).await);
    assert_eq!(site.store.find_removed(old.article_id).await.unwrap(), None);
    assert_eq!(site.store.holds(vec![old.article_id, new.article_id]).await.unwrap(), [false, true]);
    let events = site.events().await;
    let [ended] = &events[told..] else { panic!("one event, not {}", events.len() - told) };
    let Event::ArticleDeleted(gone) = &ended.event else { panic!("{ended:?}") };
    assert_eq!((ended.version, gone.restorable), (3, false));
    site.harness.clock().set(first.plus(31 * DAY));
    assert_eq!(restore(&site, new.article_id).await, RestoreOutcome::Absent, "thirty days are over");
    site.assert_sound().await;
}

pub(super) async fn of_racing_restores_one_wins<H: ArticleStoreHarness>(harness: H) {
    let site = Arc::new(Site::open(harness).await);
    let article = site.create().await.article_id;
    assert_eq!(remove(&site, article).await, DeleteOutcome::Deleted);
    let mut racing = JoinSet::new();
    for _ in 0..16 {
        let site = Arc::clone(&site);
        racing.spawn(async move { matches!(restore(&site, article).await, RestoreOutcome::Restored(_)) });
    }
    let won = racing.join_all().await.into_iter().filter(|won| *won).count();
    assert_eq!((won, site.count().await), (1, 1));
    site.assert_sound().await;
}
