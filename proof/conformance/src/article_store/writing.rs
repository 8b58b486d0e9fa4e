//! Boards and new articles: kept as they were handed in, counted and reported.

use madang_article::{ArticleHead, CreateBoard, CreateOutcome, NewBoard};
use madang_board::{ArticleId, BoardId};
use madang_event::{BoardCount, Event, Topic};
use madang_kernel::Id;
use tokio::task::JoinSet;

use super::ArticleStoreHarness;
use super::site::{Site, board, page_size};

pub(super) async fn a_new_board_counts_nothing<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let found = site.store.find_board(site.board).await.unwrap().unwrap();
    assert_eq!((found.board, found.article_count), (board(1, "general"), 0));
    assert_eq!(site.store.find_board(BoardId::from_raw(99)).await.unwrap(), None);
    site.assert_sound().await;
}

pub(super) async fn boards_are_listed_oldest_first<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    site.add_board(30, "late").await;
    site.add_board(20, "middle").await;
    site.create_from(site.draft_at(500, BoardId::from_raw(20))).await;
    let boards = site.store.boards().await.unwrap();
    let listed: Vec<_> = boards.iter().map(|found| (found.board.slug.as_str(), found.article_count)).collect();
    assert_eq!(listed, [("general", 0), ("middle", 1), ("late", 0)]);
}

pub(super) async fn a_slug_belongs_to_one_board<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let again = NewBoard { board: board(2, "general"), idempotency: None };
    assert_eq!(site.store.create_board(again).await.unwrap(), CreateBoard::SlugTaken);
    assert_eq!(site.store.boards().await.unwrap().len(), 1);
    assert_eq!(site.store.find_board(BoardId::from_raw(2)).await.unwrap(), None);
    site.assert_sound().await;
}

pub(super) async fn losers_of_a_race_for_a_slug_leave_nothing<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let mut racers = JoinSet::new();
    for raw in 10..26 {
        let store = site.store.clone();
        let new = NewBoard { board: board(raw, "wanted"), idempotency: None };
        racers.spawn(async move { store.create_board(new).await.unwrap() });
    }
    let outcomes = racers.join_all().await;
    let created = outcomes.iter().filter(|outcome| matches!(outcome, CreateBoard::Created(_))).count();
    assert_eq!((created, site.store.boards().await.unwrap().len()), (1, 2));
    site.assert_sound().await;
}

pub(super) async fn a_created_article_is_found_as_it_was<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let article = site.create().await;
    assert_eq!(site.store.find(article.article_id).await.unwrap(), Some(article.clone()));
    let summary = ArticleHead {
        article_id: article.article_id,
        board_id: article.board_id,
        title: article.title,
        writer: article.writer,
        created_at: article.created_at,
        modified_at: article.modified_at,
        version: article.version,
    };
    assert_eq!(site.page(1, 30).await.items, vec![summary.clone()]);
    assert_eq!(site.store.scroll(site.board, None, page_size(30)).await.unwrap().items, [summary]);
    assert_eq!(site.store.find(ArticleId::from_raw(1)).await.unwrap(), None);
    assert_eq!(site.count().await, 1);
}

pub(super) async fn the_longest_texts_of_four_byte_characters_are_kept<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let mut new = site.draft();
    new.article.title = "\u{10ffff}".repeat(100);
    new.article.content = "🌳\"\\\u{1}\u{2028}".repeat(4_000);
    new.article.content_html = format!("<p>{}</p>", new.article.content.repeat(3));
    new.article.writer.name = "🦉".repeat(32);
    let article = site.create_from(new).await;
    assert_eq!(site.store.find(article.article_id).await.unwrap(), Some(article.clone()));
    let Event::ArticleCreated(state) = site.events().await.remove(0).event else { panic!("not a creation") };
    assert_eq!(
        (state.title, state.content, state.content_html),
        (article.title, article.content, article.content_html)
    );
}

pub(super) async fn an_id_is_used_once_and_the_failure_leaves_nothing<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let first = site.create().await;
    let mut second = site.draft_at(first.article_id.raw(), site.board);
    second.article.title = "another".into();
    assert!(site.store.create(second).await.is_err());
    assert_eq!(site.store.find(first.article_id).await.unwrap(), Some(first));
    assert_eq!((site.count().await, site.events().await.len()), (1, 1));
    site.assert_sound().await;
}

pub(super) async fn an_article_without_a_board_is_refused_and_leaves_nothing<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let lost = site.draft_at(500, BoardId::from_raw(99));
    assert_eq!(site.store.create(lost).await.unwrap(), CreateOutcome::NoBoard);
    assert_eq!(site.store.find(ArticleId::from_raw(500)).await.unwrap(), None);
    assert!(site.events().await.is_empty());
    site.assert_sound().await;
}

pub(super) async fn each_change_has_one_event_with_the_whole_state<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let moment = madang_kernel::Timestamp::from_millis(1_755_000_000_000);
    site.harness.clock().set(moment);
    let article = site.create().await;
    let edited = site.edit(article.article_id, "new").await;
    site.delete(article.article_id).await;

    let messages = site.harness.committed().await;
    for message in &messages {
        assert_eq!(message.topic, Topic::Article.name());
        assert_eq!(message.key, article.article_id.to_string());
        assert_eq!((message.shard, message.occurred_at), (article.article_id.shard(), moment));
    }
    let events = site.events().await;
    assert!(messages.iter().zip(&events).all(|(message, event)| message.event_id == event.event_id));
    assert!(events.iter().all(|event| event.key == article.article_id && event.occurred_at == moment));
    let versions: Vec<_> = events.iter().map(|event| event.version).collect();
    assert_eq!(versions, [1, 2, 3]);
    let [created, changed, deleted] = events.try_into().unwrap();
    let (Event::ArticleCreated(first), Event::ArticleEdited(second), Event::ArticleDeleted(gone)) =
        (created.event, changed.event, deleted.event)
    else {
        panic!("created, edited, deleted in this order");
    };
    assert_eq!((first.content, first.content_html), (article.content, article.content_html));
    assert_eq!((second.title, second.content_html), (edited.title, edited.content_html));
    assert_eq!(first.board_count, BoardCount { article_count: 1, version: 1 });
    assert_eq!(second.board_count, BoardCount { article_count: 1, version: 1 });
    assert_eq!(gone.board_count, BoardCount { article_count: 0, version: 2 });
    assert_eq!((gone.article_id, gone.board_id), (article.article_id, site.board));
}
