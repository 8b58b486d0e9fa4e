//! The replay against a plain model: random calls in random batches, loaded and written as an adapter does it, leave what a
//! sorted list would hold, with counters and counted blocks that agree with it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(dead_code, reason = "the store in memory is for the use cases")]

mod memory;

use std::collections::BTreeMap;

use madang_article::blocks::{BLOCK, BLOCK_ARTICLES, OLDEST_FIRST_ID, SUPER_BLOCK, SUPER_BLOCK_ARTICLES};
use madang_article::replay::{Announce, BoardCounter};
use madang_article::{
    Article, Board, BoardState, CommentMode, CreateArticle, CreateBoard, CreateOutcome, DeleteArticle, DeleteOutcome,
    EditArticle, EditOutcome, NewBoard, PurgeArticle, RestoreArticle, RestoreOutcome,
};
use madang_board::{Act, ActId, ActKind, Actor, ArticleId, BoardId, MemberId, Role};
use madang_event::{BoardCount, Event, Writer};
use madang_kernel::{Created, EventId, Id, Idempotency, Timestamp};
use memory::Rows;
use proptest::prelude::*;

const NOW: Timestamp = Timestamp::from_millis(1_704_067_200_000);
/// Articles that were counted before the test, so that it comes upon full blocks soon.
const COUNTED_BEFORE: u64 = SUPER_BLOCK_ARTICLES - 20;
const IN_BLOCK_BEFORE: u64 = BLOCK_ARTICLES - 10;

fn board() -> BoardId {
    BoardId::from_raw(9)
}

fn article(id: i64) -> Article {
    Article {
        article_id: ArticleId::from_raw(id),
        board_id: board(),
        title: "first".into(),
        content: "text".into(),
        content_html: "<p>text</p>".into(),
        writer: Writer { member_id: MemberId::from_raw(3), name: "마당".into() },
        created_at: NOW,
        modified_at: NOW,
        version: 1,
    }
}

fn create(id: i64, key: Option<(u8, u8)>) -> CreateArticle {
    let idempotency = key.map(|(key, body)| Idempotency {
        caller: 3,
        scope: "POST /v1/boards/9/articles".into(),
        key: key.to_string(),
        fingerprint: [body; 32],
    });
    CreateArticle { article: article(id), event_id: EventId::from_raw(1), idempotency }
}

fn edit(id: i64, expected_version: Option<u64>) -> EditArticle {
    EditArticle {
        article_id: ArticleId::from_raw(id),
        title: "second".into(),
        content: "other".into(),
        content_html: "<p>other</p>".into(),
        modified_at: NOW,
        expected_version,
        event_id: EventId::from_raw(1),
        act: None,
    }
}

fn delete(id: i64, expected_version: Option<u64>) -> DeleteArticle {
    DeleteArticle { article_id: ArticleId::from_raw(id), expected_version, event_id: EventId::from_raw(1), act: None }
}

fn act(kind: ActKind, id: i64) -> Act {
    let moderator = Actor::new(MemberId::from_raw(8), "anna", Role::Moderator);
    Act::of(&moderator, ActId::from_raw(1), kind, id, NOW)
}

fn restore(id: i64) -> RestoreArticle {
    let act = act(ActKind::ArticleRestored, id);
    RestoreArticle { article_id: ArticleId::from_raw(id), event_id: EventId::from_raw(1), act }
}

fn purge(id: i64, removed_until: Timestamp) -> PurgeArticle {
    PurgeArticle { article_id: ArticleId::from_raw(id), removed_until, event_id: EventId::from_raw(1) }
}

/// A board that has counted many articles, none of which the test touches.
fn rows_of_a_large_board() -> Rows {
    let mut rows = Rows::default();
    let count = BoardCount { article_count: COUNTED_BEFORE, version: COUNTED_BEFORE };
    rows.counters.insert(board(), BoardCounter { board_id: board(), count, greatest_id: 1, state: BoardState::Open });
    rows.blocks.insert((board(), BLOCK, OLDEST_FIRST_ID), IN_BLOCK_BEFORE);
    rows.blocks.insert((board(), SUPER_BLOCK, OLDEST_FIRST_ID), COUNTED_BEFORE);
    rows
}

#[derive(Debug, Clone)]
enum Step {
    /// Above everything so far.
    Append(i64),
    /// Anywhere, as a slow process commits a small id late.
    Late(i64),
    /// With an idempotency key and a body.
    Keyed(u8, u8),
    /// Of one of the ids seen, at its version or at another.
    Edit(usize, bool),
    /// Of one of the ids seen, at its version or at another.
    Delete(usize, bool),
    /// The same by a moderator.
    Remove(usize),
    /// Of one of the ids seen.
    Restore(usize),
    /// Of one of the ids seen: long ago enough, or not.
    Purge(usize, bool),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (1..50i64).prop_map(Step::Append),
        2 => (2..5_000i64).prop_map(Step::Late),
        2 => (0..6u8, 0..2u8).prop_map(|(key, body)| Step::Keyed(key, body)),
        2 => (any::<usize>(), any::<bool>()).prop_map(|(at, current)| Step::Edit(at, current)),
        3 => (any::<usize>(), any::<bool>()).prop_map(|(at, current)| Step::Delete(at, current)),
        3 => any::<usize>().prop_map(Step::Remove),
        3 => any::<usize>().prop_map(Step::Restore),
        1 => (any::<usize>(), any::<bool>()).prop_map(|(at, due)| Step::Purge(at, due)),
    ]
}

/// What a plain list knows: which articles there are at which version, and what keys were answered.
#[derive(Default)]
struct Model {
    versions: BTreeMap<i64, u64>,
    /// What moderators removed, at the version of the tombstone.
    removed: BTreeMap<i64, u64>,
    /// The greatest version that was told of each.
    told: BTreeMap<i64, u64>,
    answered: BTreeMap<u8, (u8, i64)>,
    /// Every id there ever was.
    seen: Vec<i64>,
    greatest: i64,
    changes: u64,
}

enum Call {
    Create(CreateArticle, Option<(u8, u8)>),
    Edit(EditArticle),
    Delete(DeleteArticle),
    Restore(RestoreArticle),
    Purge(PurgeArticle),
}

impl Model {
    /// The call of a step; `None` when it has nothing to be about.
    fn call(&mut self, step: &Step) -> Option<Call> {
        let pick = |at: usize| self.seen.get(at % self.seen.len().max(1)).copied();
        match *step {
            Step::Append(gap) => Some(Call::Create(create(self.next_id(gap), None), None)),
            Step::Late(id) if self.seen.contains(&id) => None,
            Step::Late(id) => Some(Call::Create(create(id, None), None)),
            Step::Keyed(key, body) => Some(Call::Create(create(self.next_id(1), Some((key, body))), Some((key, body)))),
            Step::Edit(at, is_current) => {
                let id = pick(at)?;
                Some(Call::Edit(edit(id, Some(self.version(id, is_current)))))
            }
            Step::Delete(at, is_current) => {
                let id = pick(at)?;
                Some(Call::Delete(delete(id, Some(self.version(id, is_current)))))
            }
            Step::Remove(at) => {
                let id = pick(at)?;
                let act = Some(act(ActKind::ArticleDeleted, id));
                Some(Call::Delete(DeleteArticle { act, ..delete(id, None) }))
            }
            Step::Restore(at) => Some(Call::Restore(restore(pick(at)?))),
            Step::Purge(at, is_due) => {
                let until = if is_due { NOW } else { Timestamp::from_millis(NOW.as_millis() - 1) };
                Some(Call::Purge(purge(pick(at)?, until)))
            }
        }
    }

    /// The version of an article, or another.
    fn version(&self, id: i64, is_current: bool) -> u64 {
        let version = self.versions.get(&id).copied().unwrap_or(1);
        if is_current { version } else { version + 1 }
    }

    /// Ids are drawn once, whatever becomes of them.
    fn next_id(&mut self, gap: i64) -> i64 {
        self.greatest = self.greatest.max(5_000) + gap;
        self.greatest
    }

    fn create(&mut self, id: i64, key: Option<(u8, u8)>) -> Created<i64> {
        if let Some((key, body)) = key {
            match self.answered.get(&key) {
                Some((known, _)) if *known != body => return Created::KeyReused,
                Some((_, answered)) => return Created::Before(*answered),
                None => self.answered.insert(key, (body, id)),
            };
        }
        self.versions.insert(id, 1);
        self.seen.push(id);
        self.changes += 1;
        Created::Now(id)
    }
}

fn id_of(created: CreateOutcome) -> Created<i64> {
    let CreateOutcome::Created(created) = created else { panic!("the board is open: {created:?}") };
    match created {
        Created::Now(article) => Created::Now(article.article_id.raw()),
        Created::Before(article) => Created::Before(article.article_id.raw()),
        Created::KeyReused => Created::KeyReused,
    }
}

proptest! {
    #[test]
    fn any_batches_agree_with_a_plain_list(
        batches in prop::collection::vec(prop::collection::vec(step(), 1..12), 0..20),
    ) {
        let (mut rows, mut model) = (rows_of_a_large_board(), Model::default());
        for batch in batches {
            // Calls are made before any of them is decided, as callers do.
            let calls: Vec<Call> = batch.iter().filter_map(|step| model.call(step)).collect();
            let mut late = std::collections::BTreeSet::new();
            let calls: Vec<Call> = calls
                .into_iter()
                .filter(|call| !matches!(call, Call::Create(new, _) if !late.insert(new.article.article_id)))
                .collect();
            let about = calls.iter().map(|call| match call {
                Call::Create(new, _) => new.article.article_id,
                Call::Edit(edit) => edit.article_id,
                Call::Delete(delete) => delete.article_id,
                Call::Restore(restore) => restore.article_id,
                Call::Purge(purge) => purge.article_id,
            });
            let about: std::collections::BTreeSet<_> = about.map(|id| (board(), id)).collect();
            // What was there or came within this batch is not restored by it: then the restore came first.
            let mut met: std::collections::BTreeSet<i64> = model.versions.keys().copied().collect();
            rows.transact(about, NOW, |replay| {
                for call in &calls {
                    match call {
                        Call::Create(new, key) => {
                            let expected = model.create(new.article.article_id.raw(), *key);
                            met.insert(new.article.article_id.raw());
                            assert_eq!(id_of(replay.create(new).unwrap()), expected);
                        }
                        Call::Edit(edit) => {
                            let expected = match model.versions.get_mut(&edit.article_id.raw()) {
                                None => EditOutcome::Absent,
                                Some(version) if edit.expected_version != Some(*version) => EditOutcome::Changed,
                                Some(version) => {
                                    *version += 1;
                                    let (title, content) = (edit.title.clone(), edit.content.clone());
                                    let content_html = edit.content_html.clone();
                                    let before = article(edit.article_id.raw());
                                    EditOutcome::Edited(Article { title, content, content_html, version: *version, ..before })
                                }
                            };
                            assert_eq!(replay.edit(edit).unwrap(), expected);
                        }
                        Call::Delete(delete) => {
                            let id = delete.article_id.raw();
                            let expected = match model.versions.get(&id) {
                                None => DeleteOutcome::Absent,
                                Some(version) if delete.expected_version.is_some_and(|asked| asked != *version) => {
                                    DeleteOutcome::Changed
                                }
                                Some(_) => DeleteOutcome::Deleted,
                            };
                            if expected == DeleteOutcome::Deleted
                                && let Some(version) = model.versions.remove(&id)
                            {
                                model.changes += 1;
                                if delete.act.is_some() {
                                    model.removed.insert(id, version + 1);
                                }
                            }
                            assert_eq!(replay.delete(delete).unwrap(), expected);
                        }
                        Call::Restore(restore) => {
                            let id = restore.article_id.raw();
                            let can_be = model.removed.contains_key(&id) && !met.contains(&id);
                            let version = model.removed.get(&id).filter(|_| can_be).map(|tombstone| tombstone + 1);
                            let restored = match replay.restore(restore).unwrap() {
                                RestoreOutcome::Restored(article) => Some(article.version),
                                RestoreOutcome::Absent => None,
                                RestoreOutcome::Archived => panic!("the board is open"),
                            };
                            assert_eq!(restored, version);
                            if let Some(version) = version {
                                model.removed.remove(&id);
                                model.versions.insert(id, version);
                                model.changes += 1;
                                met.insert(id);
                            }
                        }
                        Call::Purge(purge) => {
                            let id = purge.article_id.raw();
                            let is_due = purge.removed_until == NOW && model.removed.contains_key(&id);
                            assert_eq!(replay.purge(purge), is_due);
                            if is_due {
                                model.removed.remove(&id);
                            }
                        }
                    }
                }
            });
            agrees(&rows, &model)?;
            told_in_order(&rows.events, &mut model)?;
            rows.events.clear();
        }
    }
}

/// The events of an article have growing versions, whatever happens to it: nothing late can undo what came after.
fn told_in_order(events: &[madang_event::Envelope], model: &mut Model) -> Result<(), TestCaseError> {
    for envelope in events {
        let known = model.told.insert(envelope.key.raw(), envelope.version).unwrap_or(0);
        prop_assert!(envelope.version > known, "{envelope:?} after version {known}");
        if let Event::ArticleDeleted(gone) = &envelope.event {
            // The count of one that is only purged is what it was.
            prop_assert!(gone.board_count.version <= COUNTED_BEFORE + model.changes);
        }
    }
    Ok(())
}

/// Rows, counter and both levels of blocks hold what the model holds.
fn agrees(rows: &Rows, model: &Model) -> Result<(), TestCaseError> {
    let stored: BTreeMap<i64, u64> = rows.articles.iter().map(|(id, found)| (id.raw(), found.version)).collect();
    prop_assert_eq!(&stored, &model.versions);
    let kept: BTreeMap<i64, u64> =
        rows.removed.iter().map(|(id, found)| (id.raw(), found.article.version + 1)).collect();
    prop_assert_eq!(&kept, &model.removed);
    let counter = rows.counters[&board()];
    prop_assert_eq!(counter.count.article_count, COUNTED_BEFORE + stored.len() as u64);
    prop_assert_eq!(counter.count.version, COUNTED_BEFORE + model.changes);
    let greatest = model.seen.iter().copied().max().unwrap_or(1);
    prop_assert_eq!(counter.greatest_id, greatest.max(1));
    for (level, before) in [(BLOCK, IN_BLOCK_BEFORE), (SUPER_BLOCK, COUNTED_BEFORE)] {
        let blocks: Vec<(i64, u64)> = rows
            .blocks
            .iter()
            .filter(|((_, of, _), _)| *of == level)
            .map(|((_, _, first), count)| (*first, *count))
            .collect();
        for (index, (first_id, count)) in blocks.iter().enumerate() {
            let end = blocks.get(index + 1).map_or(i64::MAX, |(next, _)| *next);
            let untouched = if *first_id == OLDEST_FIRST_ID { before } else { 0 };
            prop_assert_eq!(*count, untouched + stored.range(*first_id..end).count() as u64);
            prop_assert!(level == BLOCK || rows.blocks.contains_key(&(board(), BLOCK, *first_id)));
        }
    }
    Ok(())
}

#[test]
fn a_full_block_is_followed_by_the_next() {
    let mut rows = Rows::default();
    let board = Board {
        board_id: board(),
        slug: "general".into(),
        title: "General".into(),
        comment_mode: CommentMode::Tree,
        description: String::new(),
        position: 0,
        created_at: NOW,
    };
    let new = NewBoard { board: board.clone(), idempotency: None };
    let created =
        rows.transact([], NOW, |replay| (replay.create_board(&new).unwrap(), replay.create_board(&new).unwrap()));
    assert_eq!(created, (CreateBoard::Created(Created::Now(board.clone())), CreateBoard::SlugTaken));
    let last = i64::try_from(BLOCK_ARTICLES).unwrap() + 1;
    let new: Vec<CreateArticle> = (1..=last).map(|id| create(id, None)).collect();
    let about = new.iter().map(|new| (board.board_id, new.article.article_id)).collect::<Vec<_>>();
    let made = rows.transact(about, NOW, |replay| replay.create_many(&new, Announce::Nothing).unwrap());
    assert_eq!((made, rows.events.len()), (BLOCK_ARTICLES + 1, 0));
    let id = board.board_id;
    let expected = [((id, BLOCK, 0), 1_000), ((id, BLOCK, last), 1), ((id, SUPER_BLOCK, 0), 1_001)];
    assert_eq!(rows.blocks, BTreeMap::from(expected));
    assert_eq!(rows.counters[&id].count, BoardCount { article_count: 1_001, version: 1_001 });
}

#[test]
fn all_of_many_or_none_are_created() {
    let mut rows = rows_of_a_large_board();
    let twice = [create(7, None), create(7, None)];
    let about = [(board(), ArticleId::from_raw(7))];
    rows.transact(about, NOW, |replay| assert!(replay.create_many(&twice, Announce::Each).is_err()));
    assert!(rows.articles.is_empty() && rows.events.is_empty());
    rows.transact(about, NOW, |replay| assert_eq!(replay.create_many(&twice[..1], Announce::Each).unwrap(), 1));
    assert_eq!((rows.articles.len(), rows.events.len()), (1, 1));
}

#[test]
fn what_was_never_counted_is_not_counted_out() {
    let mut rows = Rows::default();
    let count = BoardCount { article_count: 0, version: 0 };
    rows.counters.insert(board(), BoardCounter { board_id: board(), count, greatest_id: 5, state: BoardState::Open });
    rows.articles.insert(ArticleId::from_raw(5), article(5));
    rows.transact([(board(), ArticleId::from_raw(5))], NOW, |replay| assert!(replay.delete(&delete(5, None)).is_err()));
    assert_eq!((rows.articles.len(), rows.counters[&board()].count.version), (1, 0));
}

#[test]
fn what_is_restored_has_its_place_and_its_text_and_can_be_removed_again() {
    let mut rows = rows_of_a_large_board();
    let about = [(board(), ArticleId::from_raw(7))];
    rows.transact(about, NOW, |replay| replay.create(&create(7, None)).unwrap());
    let remove = || DeleteArticle { act: Some(act(ActKind::ArticleDeleted, 7)), ..delete(7, None) };
    for round in 0..3 {
        rows.transact(about, NOW, |replay| assert_eq!(replay.delete(&remove()).unwrap(), DeleteOutcome::Deleted));
        assert!(rows.articles.is_empty());
        let restored = rows.transact(about, NOW, |replay| replay.restore(&restore(7)).unwrap());
        assert_eq!(restored, RestoreOutcome::Restored(Article { version: 3 + 2 * round, ..article(7) }));
        assert!(rows.removed.is_empty());
    }
    let versions: Vec<u64> = rows.events.iter().map(|event| event.version).collect();
    assert_eq!(versions, [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(rows.counters[&board()].count.article_count, COUNTED_BEFORE + 1);
}

#[test]
fn thirty_days_after_its_removal_nothing_is_restored_and_its_end_is_told() {
    let mut rows = rows_of_a_large_board();
    let about = [(board(), ArticleId::from_raw(7))];
    rows.transact(about, NOW, |replay| replay.create(&create(7, None)).unwrap());
    let remove = DeleteArticle { act: Some(act(ActKind::ArticleDeleted, 7)), ..delete(7, None) };
    rows.transact(about, NOW, |replay| replay.delete(&remove).unwrap());
    let later = Timestamp::from_millis(NOW.as_millis() + 30 * 86_400_000);
    let restored = rows.transact(about, later, |replay| replay.restore(&restore(7)).unwrap());
    assert_eq!(restored, RestoreOutcome::Absent);
    assert!(rows.transact(about, later, |replay| replay.purge(&purge(7, NOW))));
    let told: Vec<(u64, bool)> = rows
        .events
        .iter()
        .filter_map(|event| match &event.event {
            Event::ArticleDeleted(gone) => Some((event.version, gone.restorable)),
            _ => None,
        })
        .collect();
    assert_eq!(told, [(2, true), (3, false)]);
    assert!(rows.removed.is_empty() && rows.articles.is_empty());
}

#[test]
fn an_archived_board_takes_nothing_back_and_a_deleted_one_has_nothing_to_take_it() {
    let mut rows = rows_of_a_large_board();
    let about = [(board(), ArticleId::from_raw(7))];
    rows.transact(about, NOW, |replay| replay.create(&create(7, None)).unwrap());
    let remove = DeleteArticle { act: Some(act(ActKind::ArticleDeleted, 7)), ..delete(7, None) };
    rows.transact(about, NOW, |replay| replay.delete(&remove).unwrap());
    rows.counters.get_mut(&board()).unwrap().state = BoardState::Archived;
    let restored = rows.transact(about, NOW, |replay| replay.restore(&restore(7)).unwrap());
    assert_eq!(restored, RestoreOutcome::Archived);
    rows.counters.remove(&board());
    let restored = rows.transact(about, NOW, |replay| replay.restore(&restore(7)).unwrap());
    assert_eq!(restored, RestoreOutcome::Absent);
    assert!(rows.transact(about, NOW, |replay| replay.purge(&purge(7, NOW))), "its end needs no board");
}
