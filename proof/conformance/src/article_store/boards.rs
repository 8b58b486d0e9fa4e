//! What administrators do to boards: change, archive, delete; and that no article slips past it.

use madang_article::{BoardState, BoardWithCount, CreateOutcome, DeleteBoard, DeleteOutcome, EditBoard, EditOutcome};
use madang_board::BoardId;
use madang_kernel::{Created, Id};
use tokio::task::JoinSet;

use super::ArticleStoreHarness;
use super::site::{Site, board, idempotency, page_number, page_size};

/// Rounds of a race.
const ROUNDS: i64 = 24;

fn edit(board_id: BoardId, state: BoardState) -> EditBoard {
    let (title, description) = ("마당 🌳".to_owned(), "😀".repeat(500));
    EditBoard { board_id, title, description, position: 1_000_000, state }
}

async fn set_state<H: ArticleStoreHarness>(site: &Site<H>, state: BoardState) -> BoardWithCount {
    site.store.edit_board(edit(site.board, state)).await.unwrap().unwrap()
}

pub(super) async fn an_edited_board_is_told_as_it_is_now<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let before = site.store.find_board(site.board).await.unwrap().unwrap();
    assert_eq!((before.archived, before.last_activity_at), (false, None));
    let article = site.create().await;
    for state in [BoardState::Archived, BoardState::Archived, BoardState::Open] {
        let EditBoard { title, description, position, .. } = edit(site.board, state);
        let expected = BoardWithCount {
            board: madang_article::Board { title, description, position, ..board(1, "general") },
            article_count: 1,
            archived: state == BoardState::Archived,
            last_activity_at: Some(article.article_id.issued_at()),
        };
        assert_eq!(set_state(&site, state).await, expected);
        assert_eq!(site.store.find_board(site.board).await.unwrap(), Some(expected.clone()));
        assert_eq!(site.store.boards().await.unwrap(), [expected]);
    }
    let absent = edit(BoardId::from_raw(99), BoardState::Archived);
    assert_eq!(site.store.edit_board(absent).await.unwrap(), None);
    assert_eq!(site.store.find_board(BoardId::from_raw(99)).await.unwrap(), None);
    site.assert_sound().await;
}

pub(super) async fn an_archived_board_takes_no_changes_until_it_is_opened_again<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let mut keyed = site.draft();
    keyed.idempotency = idempotency(7, "POST /articles", "k", 1);
    let article = site.create_from(keyed.clone()).await;
    set_state(&site, BoardState::Archived).await;
    let refused = (
        site.store.create(site.draft()).await.unwrap(),
        site.store.edit(site.edit_of(article.article_id, "new", None)).await.unwrap(),
        site.delete(article.article_id).await,
    );
    assert_eq!(refused, (CreateOutcome::Archived, EditOutcome::Archived, DeleteOutcome::Archived));
    let before = CreateOutcome::Created(Created::Before(article.clone()));
    assert_eq!(site.store.create(keyed).await.unwrap(), before, "what was done before is told as then");
    assert_eq!(site.store.find(article.article_id).await.unwrap(), Some(article.clone()));
    assert_eq!((site.count().await, site.events().await.len()), (1, 1));
    set_state(&site, BoardState::Open).await;
    site.create().await;
    assert_eq!(site.delete(article.article_id).await, DeleteOutcome::Deleted);
    assert_eq!(site.count().await, 1);
    site.assert_sound().await;
}

pub(super) async fn once_a_board_is_archived_nothing_slips_through<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let mut writers = JoinSet::new();
    for _ in 0..ROUNDS {
        let (store, new) = (site.store.clone(), site.draft());
        writers.spawn(async move { store.create(new).await.unwrap() });
    }
    set_state(&site, BoardState::Archived).await;
    let counted = site.count().await;
    let late = site.store.create(site.draft()).await.unwrap();
    let outcomes = writers.join_all().await;
    let created = outcomes.iter().filter(|outcome| matches!(outcome, CreateOutcome::Created(_))).count() as u64;
    assert_eq!((late, site.count().await), (CreateOutcome::Archived, counted));
    assert_eq!(created, counted, "whoever came through was counted before the board was archived");
    site.assert_sound().await;
}

pub(super) async fn a_board_goes_only_without_articles<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    site.add_board(2, "other").await;
    let article = site.create().await;
    assert_eq!(site.store.delete_board(site.board).await.unwrap(), DeleteBoard::HasArticles);
    site.delete(article.article_id).await;
    set_state(&site, BoardState::Archived).await;
    assert_eq!(site.store.delete_board(site.board).await.unwrap(), DeleteBoard::Deleted, "archived or not");
    assert_eq!(site.store.delete_board(site.board).await.unwrap(), DeleteBoard::Absent);
    assert_eq!(site.store.find_board(site.board).await.unwrap(), None);
    assert_eq!(site.store.newest(site.board, 10).await.unwrap(), None);
    assert_eq!(site.store.edit_board(edit(site.board, BoardState::Open)).await.unwrap(), None);
    assert_eq!(site.store.create(site.draft()).await.unwrap(), CreateOutcome::NoBoard);
    let page = site.store.page(site.board, page_number(1), page_size(10)).await.unwrap();
    assert!(page.items.is_empty());
    assert_eq!(site.store.boards().await.unwrap().len(), 1);
    site.assert_sound().await;
    site.add_board(3, "general").await;
    assert_eq!(site.count_of(BoardId::from_raw(3)).await, 0, "the name is free, and the new board is empty");
}

pub(super) async fn of_a_deletion_and_an_article_at_once_one_wins<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    for round in 0..ROUNDS {
        let board = site.add_board(100 + round, &format!("round-{round}")).await;
        let (store, new) = (site.store.clone(), site.draft_at(site.next_id(), board));
        let article = new.article.article_id;
        let mut writer = JoinSet::new();
        writer.spawn(async move { store.create(new).await.unwrap() });
        if round % 2 == 0 {
            tokio::task::yield_now().await;
        }
        let deleted = site.store.delete_board(board).await.unwrap();
        let created = writer.join_all().await.remove(0);
        let found: (Option<_>, Option<_>) =
            (site.store.find_board(board).await.unwrap(), site.store.find(article).await.unwrap());
        match (deleted, created) {
            (DeleteBoard::Deleted, CreateOutcome::NoBoard) => assert_eq!(found, (None, None)),
            (DeleteBoard::HasArticles, CreateOutcome::Created(_)) => {
                assert_eq!((found.0.unwrap().article_count, found.1.map(|found| found.article_id)), (1, Some(article)));
            }
            other => panic!("both won, or neither: {other:?}"),
        }
    }
    site.assert_sound().await;
}
