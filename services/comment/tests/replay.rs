//! The replay against a plain model: random calls in random batches leave what a list of nodes would hold, with counts that
//! agree with it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(dead_code, reason = "the store in memory is for the use cases")]

mod memory;

use std::collections::BTreeMap;

use madang_board::{Act, ActId, ActKind, Actor, ArticleId, BoardId, CommentId, CommentMode, MemberId, Role};
use madang_comment::{
    Comment, CommentCount, CreateComment, CreateOutcome, DeleteComment, DeleteOutcome, DepthMax, EditComment,
    EditOutcome, PurgeComment, Refusal, RestoreComment, RestoreOutcome,
};
use madang_event::Writer;
use madang_kernel::{Created, EventId, Id, Idempotency, Timestamp};
use memory::Rows;
use proptest::prelude::*;

const NOW: Timestamp = Timestamp::from_millis(1_704_067_200_000);
const LEVELS_MAX: u32 = 3;

fn article() -> ArticleId {
    ArticleId::from_raw(77)
}

fn create(mode: CommentMode, id: i64, parent: Option<i64>, key: Option<(u8, u8)>) -> CreateComment {
    CreateComment {
        despite_lock: false,
        comment_id: CommentId::from_raw(id),
        article_id: article(),
        board_id: BoardId::from_raw(7),
        parent_id: parent.map(CommentId::from_raw),
        mode,
        depth_max: DepthMax::new(LEVELS_MAX).unwrap(),
        content: format!("comment {id}"),
        content_html: format!("<p>comment {id}</p>\n"),
        writer: Writer { member_id: MemberId::from_raw(3), name: "마당".into() },
        created_at: NOW,
        event_id: EventId::from_raw(1),
        idempotency: key.map(|(key, body)| Idempotency {
            caller: 3,
            scope: "POST /v1/articles/77/comments".into(),
            key: key.to_string(),
            fingerprint: [body; 32],
        }),
    }
}

fn edit(id: i64, text: i64, expected_version: Option<u64>) -> EditComment {
    EditComment {
        comment_id: CommentId::from_raw(id),
        content: format!("edit {text}"),
        content_html: format!("<p>edit {text}</p>\n"),
        modified_at: Timestamp::from_millis(text),
        expected_version,
        event_id: EventId::from_raw(1),
        act: None,
    }
}

fn delete(id: i64, expected_version: Option<u64>) -> DeleteComment {
    let (comment_id, event_id) = (CommentId::from_raw(id), EventId::from_raw(1));
    DeleteComment { comment_id, expected_version, event_id, act: None }
}

fn act(kind: ActKind, id: i64) -> Act {
    let moderator = Actor::new(MemberId::from_raw(8), "anna", Role::Moderator);
    Act::of(&moderator, ActId::from_raw(1), kind, id, NOW)
}

fn remove(id: i64) -> DeleteComment {
    DeleteComment { act: Some(act(ActKind::CommentDeleted, id)), ..delete(id, None) }
}

fn restore(id: i64) -> RestoreComment {
    let (comment_id, event_id) = (CommentId::from_raw(id), EventId::from_raw(1));
    RestoreComment {
        comment_id,
        content_html: "<p>again</p>\n".into(),
        event_id,
        act: act(ActKind::CommentRestored, id),
    }
}

fn purge(id: i64, removed_until: Timestamp) -> PurgeComment {
    PurgeComment { comment_id: CommentId::from_raw(id), removed_until, event_id: EventId::from_raw(1) }
}

#[derive(Debug, Clone)]
enum Step {
    Root,
    /// To one of the comments there ever were.
    Reply(usize),
    /// With an idempotency key and a body.
    Keyed(u8, u8),
    /// With an id below one that the article has seen.
    Late(i64),
    /// One of them, if it is at this version.
    Edit(usize, Option<u64>),
    Delete(usize, Option<u64>),
    /// The same by a moderator.
    Remove(usize),
    Restore(usize),
    /// Long ago enough, or not.
    Purge(usize, bool),
    Gone,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        20 => Just(Step::Root),
        60 => any::<usize>().prop_map(Step::Reply),
        12 => (0..6u8, 0..2u8).prop_map(|(key, body)| Step::Keyed(key, body)),
        8 => (1..900i64).prop_map(Step::Late),
        30 => (any::<usize>(), version()).prop_map(|(at, version)| Step::Edit(at, version)),
        60 => (any::<usize>(), version()).prop_map(|(at, version)| Step::Delete(at, version)),
        40 => any::<usize>().prop_map(Step::Remove),
        30 => any::<usize>().prop_map(Step::Restore),
        20 => (any::<usize>(), any::<bool>()).prop_map(|(at, due)| Step::Purge(at, due)),
        1 => Just(Step::Gone),
    ]
}

/// Mostly any version, otherwise one that comments often have.
fn version() -> impl Strategy<Value = Option<u64>> {
    prop_oneof![2 => Just(None), 1 => (1..4u64).prop_map(Some)]
}

/// Nodes in the order in which they were written; list order is depth first.
struct Model {
    mode: CommentMode,
    nodes: Vec<Node>,
    answered: BTreeMap<u8, (u8, i64)>,
    /// Every id there ever was.
    seen: Vec<i64>,
    next_id: i64,
    greatest: i64,
    changes: u64,
    gone: bool,
}

#[derive(Clone)]
struct Node {
    id: i64,
    parent: Option<i64>,
    depth: u32,
    deleted: bool,
    version: u64,
    text: String,
    /// What a moderator removed.
    kept: Option<String>,
}

enum Call {
    Create(CreateComment, Option<(u8, u8)>),
    Edit(EditComment),
    Delete(DeleteComment),
    Restore(RestoreComment),
    Purge(PurgeComment),
    Gone,
}

/// What a creation comes to, in ids; with whether only the mark is left of what was there before.
#[derive(Debug, PartialEq)]
enum Outcome {
    Now(i64, u32),
    Before(i64, bool),
    KeyReused,
    Refused(Refusal),
    Late,
    Gone,
}

/// What an edit comes to, with the version and the text after it.
#[derive(Debug, PartialEq)]
enum Edited {
    Now(u64, String),
    Changed,
    Absent,
    Gone,
}

impl Model {
    fn new(mode: CommentMode) -> Self {
        let (nodes, answered, seen) = (Vec::new(), BTreeMap::new(), Vec::new());
        Self { mode, nodes, answered, seen, next_id: 1_000, greatest: 0, changes: 0, gone: false }
    }

    fn call(&mut self, step: &Step) -> Option<Call> {
        self.next_id += 1;
        let (mode, id) = (self.mode, self.next_id);
        let pick = |at: usize| self.seen.get(at % self.seen.len().max(1)).copied();
        match *step {
            Step::Root => Some(Call::Create(create(mode, id, None, None), None)),
            Step::Reply(at) => Some(Call::Create(create(mode, id, Some(pick(at)?), None), None)),
            Step::Keyed(key, body) => Some(Call::Create(create(mode, id, None, Some((key, body))), Some((key, body)))),
            Step::Late(id) if self.seen.contains(&id) => None,
            Step::Late(id) => Some(Call::Create(create(mode, id, None, None), None)),
            Step::Edit(at, version) => Some(Call::Edit(edit(pick(at)?, id, version))),
            Step::Delete(at, version) => Some(Call::Delete(delete(pick(at)?, version))),
            Step::Remove(at) => Some(Call::Delete(remove(pick(at)?))),
            Step::Restore(at) => Some(Call::Restore(restore(pick(at)?))),
            Step::Purge(at, is_due) => {
                let until = if is_due { NOW } else { Timestamp::from_millis(NOW.as_millis() - 1) };
                Some(Call::Purge(purge(pick(at)?, until)))
            }
            Step::Gone => Some(Call::Gone),
        }
    }

    fn node(&self, id: i64) -> Option<&Node> {
        self.nodes.iter().find(|node| node.id == id)
    }

    fn create(&mut self, new: &CreateComment, key: Option<(u8, u8)>) -> Outcome {
        if self.gone {
            return Outcome::Gone;
        }
        if let Some((key, body)) = key {
            match self.answered.get(&key) {
                Some((known, _)) if *known != body => return Outcome::KeyReused,
                Some((_, id)) => return Outcome::Before(*id, self.node(*id).is_none_or(|node| node.deleted)),
                None => {}
            }
        }
        let (id, parent) = (new.comment_id.raw(), new.parent_id.map(Id::raw));
        if self.mode == CommentMode::TwoLevel && id <= self.greatest {
            return Outcome::Late;
        }
        let depth = match parent {
            None => 1,
            Some(parent) => match self.node(parent).filter(|node| !node.deleted) {
                None => return Outcome::Refused(Refusal::NoParent),
                Some(node) if self.mode == CommentMode::TwoLevel && node.depth == 2 => {
                    return Outcome::Refused(Refusal::ReplyToReply);
                }
                Some(node) if node.depth == LEVELS_MAX => return Outcome::Refused(Refusal::TooDeep(new.depth_max)),
                Some(node) => node.depth + 1,
            },
        };
        if let Some((key, body)) = key {
            self.answered.insert(key, (body, id));
        }
        self.nodes.push(Node { id, parent, depth, deleted: false, version: 1, text: new.content.clone(), kept: None });
        self.seen.push(id);
        self.greatest = self.greatest.max(id);
        self.changes += 1;
        Outcome::Now(id, depth)
    }

    fn edit(&mut self, edit: &EditComment) -> Edited {
        let id = edit.comment_id.raw();
        let Some(node) = self.nodes.iter_mut().find(|node| node.id == id) else { return Edited::Absent };
        if self.gone {
            return Edited::Gone;
        }
        if node.deleted {
            return Edited::Absent;
        }
        if edit.expected_version.is_some_and(|version| version != node.version) {
            return Edited::Changed;
        }
        (node.version, node.text) = (node.version + 1, edit.content.clone());
        self.changes += 1;
        Edited::Now(node.version, node.text.clone())
    }

    fn delete(&mut self, id: i64, expected_version: Option<u64>, by_moderator: bool) -> DeleteOutcome {
        let Some(node) = self.nodes.iter_mut().find(|node| node.id == id) else { return DeleteOutcome::Absent };
        if self.gone {
            return DeleteOutcome::Gone;
        }
        if node.deleted {
            return DeleteOutcome::Absent;
        }
        if expected_version.is_some_and(|version| version != node.version) {
            return DeleteOutcome::Changed;
        }
        (node.deleted, node.version) = (true, node.version + 1);
        let text = std::mem::take(&mut node.text);
        node.kept = by_moderator.then_some(text);
        self.drop_marks();
        self.changes += 1;
        DeleteOutcome::Deleted(self.count())
    }

    /// Whatever is marked, has no child and cannot be restored goes, until nothing does.
    fn drop_marks(&mut self) {
        loop {
            let (before, nodes) = (self.nodes.len(), self.nodes.clone());
            let has_child = |id: i64| nodes.iter().any(|node| node.parent == Some(id));
            self.nodes.retain(|node| !node.deleted || node.kept.is_some() || has_child(node.id));
            if self.nodes.len() == before {
                break;
            }
        }
    }

    /// The version and the text after it; `None` when there is nothing to restore, and whether the article is gone.
    fn restore(&mut self, id: i64) -> Result<Option<(u64, String)>, ()> {
        let Some(node) = self.nodes.iter_mut().find(|node| node.id == id) else { return Ok(None) };
        if self.gone {
            return Err(());
        }
        let Some(text) = node.kept.take() else { return Ok(None) };
        (node.deleted, node.version, node.text) = (false, node.version + 1, text);
        self.changes += 1;
        Ok(Some((node.version, node.text.clone())))
    }

    fn purge(&mut self, id: i64) -> bool {
        let Some(node) = self.nodes.iter_mut().find(|node| node.id == id) else { return false };
        let is_kept = node.kept.take().is_some();
        if is_kept && !self.gone {
            let before = self.nodes.len();
            self.drop_marks();
            self.changes += u64::from(self.nodes.len() < before);
        }
        is_kept
    }

    fn count(&self) -> CommentCount {
        let comment_count = self.nodes.iter().filter(|node| !node.deleted).count() as u64;
        CommentCount { comment_count, row_count: self.nodes.len() as u64, version: self.changes, locked: false }
    }

    fn list_below(&self, parent: Option<i64>, into: &mut Vec<(i64, bool, u64, String)>) {
        for node in self.nodes.iter().filter(|node| node.parent == parent) {
            into.push((node.id, node.deleted, node.version, node.text.clone()));
            self.list_below(Some(node.id), into);
        }
    }
}

fn outcome(created: CreateOutcome) -> Outcome {
    match created {
        CreateOutcome::Created(Created::Now(comment)) => Outcome::Now(comment.comment_id.raw(), comment.depth),
        CreateOutcome::Created(Created::Before(comment)) => Outcome::Before(comment.comment_id.raw(), comment.deleted),
        CreateOutcome::Created(Created::KeyReused) => Outcome::KeyReused,
        CreateOutcome::Refused(refusal) => Outcome::Refused(refusal),
        CreateOutcome::Late => Outcome::Late,
        CreateOutcome::Gone => Outcome::Gone,
        CreateOutcome::Locked => panic!("nobody locks here"),
    }
}

proptest! {
    #[test]
    fn any_batches_agree_with_a_plain_tree(
        is_tree in any::<bool>(),
        batches in prop::collection::vec(prop::collection::vec(step(), 1..12), 0..25),
    ) {
        let mode = if is_tree { CommentMode::Tree } else { CommentMode::TwoLevel };
        let (mut rows, mut model) = (Rows::default(), Model::new(mode));
        for batch in batches {
            // Calls are made before any of them is decided, as callers do.
            let mut ids = std::collections::BTreeSet::new();
            let calls = batch.iter().filter_map(|step| model.call(step));
            let calls = calls.collect::<Vec<_>>().into_iter();
            let calls: Vec<Call> =
                calls.filter(|call| !matches!(call, Call::Create(new, _) if !ids.insert(new.comment_id))).collect();
            rows.transact(article(), NOW, |replay| {
                for call in &calls {
                    match call {
                        Call::Create(new, key) => {
                            let expected = model.create(new, *key);
                            assert_eq!(outcome(replay.create(new).unwrap()), expected);
                        }
                        Call::Edit(edit) => {
                            let outcome = match replay.edit(edit).unwrap() {
                                EditOutcome::Edited(comment) => Edited::Now(comment.version, comment.content.unwrap()),
                                EditOutcome::Changed => Edited::Changed,
                                EditOutcome::Absent => Edited::Absent,
                                EditOutcome::Gone => Edited::Gone,
                            };
                            assert_eq!(outcome, model.edit(edit));
                        }
                        Call::Delete(delete) => {
                            let (id, by_moderator) = (delete.comment_id.raw(), delete.act.is_some());
                            let expected = model.delete(id, delete.expected_version, by_moderator);
                            assert_eq!(replay.delete(delete).unwrap(), expected);
                        }
                        Call::Restore(restore) => {
                            let outcome = match replay.restore(restore).unwrap() {
                                RestoreOutcome::Restored(comment) => Ok(Some((comment.version, comment.content.unwrap()))),
                                RestoreOutcome::Absent => Ok(None),
                                RestoreOutcome::Gone => Err(()),
                            };
                            assert_eq!(outcome, model.restore(restore.comment_id.raw()));
                        }
                        Call::Purge(purge) => {
                            let is_due = purge.removed_until == NOW;
                            let expected = is_due && model.purge(purge.comment_id.raw());
                            assert_eq!(replay.purge(purge).unwrap(), expected);
                        }
                        Call::Gone => {
                            model.gone = true;
                            replay.mark_gone(article());
                            assert!(replay.is_gone(article()));
                        }
                    }
                }
            });
            agrees(&rows, &model)?;
        }
    }
}

/// Rows in their order and the counter hold what the model holds.
fn agrees(rows: &Rows, model: &Model) -> Result<(), TestCaseError> {
    let mut stored: Vec<&Comment> = rows.of(article()).collect();
    stored.sort_by_key(|c| (c.path.clone(), c.parent_id.unwrap_or(c.comment_id), c.comment_id));
    let row = |comment: &&Comment| {
        let text = comment.content.clone().unwrap_or_default();
        (comment.comment_id.raw(), comment.deleted, comment.version, text)
    };
    let stored: Vec<_> = stored.iter().map(row).collect();
    let mut listed = Vec::new();
    model.list_below(None, &mut listed);
    prop_assert_eq!(stored, listed);
    let kept: BTreeMap<i64, String> =
        rows.removed.iter().map(|(id, removed)| (id.raw(), removed.content.clone())).collect();
    let expected: BTreeMap<i64, String> =
        model.nodes.iter().filter_map(|node| Some((node.id, node.kept.clone()?))).collect();
    prop_assert_eq!(kept, expected);
    let expected = if model.gone { CommentCount::default() } else { model.count() };
    prop_assert_eq!(rows.counter(article()).count, expected);
    let newest = model.nodes.iter().filter(|node| !node.deleted && !model.gone).map(|node| node.id).max();
    prop_assert_eq!(rows.counter(article()).last.map(|last| last.comment_id.raw()), newest);
    prop_assert_eq!(rows.events.len() as u64, model.changes);
    let told = rows.comments.values().filter(|comment| comment.deleted);
    prop_assert!(told.into_iter().all(|mark| mark.content.is_none() && mark.writer.is_none()));
    Ok(())
}

#[test]
fn what_was_never_counted_is_not_counted_out() {
    let mut rows = Rows::default();
    rows.transact(article(), NOW, |replay| {
        replay.create(&create(CommentMode::Tree, 5, None, None)).unwrap();
    });
    rows.counters.clear();
    rows.transact(article(), NOW, |replay| assert!(replay.edit(&edit(5, 1, None)).is_err()));
    rows.transact(article(), NOW, |replay| assert!(replay.delete(&delete(5, None)).is_err()));
    assert_eq!((rows.comments.len(), rows.events.len()), (1, 1));
}

#[test]
fn a_clock_that_steps_back_makes_no_edit_older_than_its_comment() {
    let mut rows = Rows::default();
    rows.transact(article(), NOW, |replay| {
        replay.create(&create(CommentMode::Tree, 5, None, None)).unwrap();
    });
    // Nor as old: that tells that there was none.
    for (at, expected) in
        [(7, NOW.as_millis() + 1), (NOW.as_millis() + 9, NOW.as_millis() + 9), (8, NOW.as_millis() + 9)]
    {
        let EditOutcome::Edited(edited) =
            rows.transact(article(), NOW, |replay| replay.edit(&edit(5, at, None)).unwrap())
        else {
            panic!("must be edited");
        };
        assert_eq!(edited.modified_at.as_millis(), expected);
    }
}

#[test]
fn an_answer_stored_before_comments_had_versions_is_still_read() {
    let mut rows = Rows::default();
    let keyed = create(CommentMode::Tree, 5, None, Some((1, 1)));
    rows.transact(article(), NOW, |replay| {
        replay.create(&keyed).unwrap();
    });
    let record = rows.records.values_mut().next().unwrap();
    let mut answer: serde_json::Value = serde_json::from_slice(&record.answer).unwrap();
    for field in ["version", "modified_at"] {
        assert!(answer.as_object_mut().unwrap().remove(field).is_some());
    }
    record.answer = serde_json::to_vec(&answer).unwrap();
    rows.transact(article(), NOW, |replay| replay.delete(&delete(5, None)).unwrap());
    let again = rows.transact(article(), NOW, |replay| replay.create(&keyed).unwrap());
    let CreateOutcome::Created(Created::Before(mark)) = again else { panic!("must be repeated") };
    assert_eq!((mark.deleted, mark.modified_at, mark.created_at), (true, NOW, NOW));
}

#[test]
fn a_restored_comment_has_its_place_its_writer_and_no_edit() {
    let mut rows = Rows::default();
    let new = create(CommentMode::Tree, 5, None, None);
    let created = rows.transact(article(), NOW, |replay| replay.create(&new).unwrap());
    let CreateOutcome::Created(Created::Now(before)) = created else { panic!("must be created") };
    rows.transact(article(), NOW, |replay| replay.delete(&remove(5)).unwrap());
    assert!(rows.comments[&before.comment_id].deleted, "a mark keeps the place of what may come back");
    // Nobody takes its place meanwhile.
    rows.transact(article(), NOW, |replay| replay.create(&create(CommentMode::Tree, 6, None, None)).unwrap());
    let restored = rows.transact(article(), NOW, |replay| replay.restore(&restore(5)).unwrap());
    let RestoreOutcome::Restored(after) = restored else { panic!("must be restored") };
    assert!(!after.is_edited());
    assert_eq!(after, Comment { version: 3, content_html: Some("<p>again</p>\n".into()), ..before });
    let later = Timestamp::from_millis(NOW.as_millis() + 30 * 86_400_000);
    rows.transact(article(), NOW, |replay| replay.delete(&remove(5)).unwrap());
    let restored = rows.transact(article(), later, |replay| replay.restore(&restore(5)).unwrap());
    assert_eq!(restored, RestoreOutcome::Absent, "its time is over, purged or not");
}
