//! Events for the tests of this crate.

use madang_board::{ArticleId, BoardId, CommentId, MemberId};
use madang_event::{ArticleDeleted, ArticleLikes, ArticleState, BoardCount, CommentChange, Envelope, Event, Writer};
use madang_kernel::{EventId, Id, Timestamp};

use crate::Change;

pub(crate) fn article(raw: i64) -> ArticleId {
    ArticleId::from_raw(raw)
}

pub(crate) fn board_count(count: u64, version: u64) -> BoardCount {
    BoardCount { article_count: count, version }
}

/// An article as it stands at a version; the board's count is whatever the case says.
pub(crate) fn state(raw: i64, version: u64, board_count: BoardCount) -> ArticleState {
    let moment = Timestamp::from_millis(1_750_000_000_000 + version as i64);
    ArticleState {
        article_id: article(raw),
        board_id: BoardId::from_raw(7),
        title: format!("title {version}"),
        content: format!("content {version}"),
        content_html: format!("<p>content {version}</p>"),
        writer: Writer { member_id: MemberId::from_raw(3), name: "마당".into() },
        created_at: Timestamp::from_millis(1_750_000_000_000),
        modified_at: moment,
        board_count,
    }
}

pub(crate) fn envelope(raw: i64, version: u64, event: Event) -> Envelope {
    let occurred_at = Timestamp::from_millis(1_750_000_000_000);
    Envelope { event_id: EventId::from_raw(1), occurred_at, key: article(raw), version, event }
}

pub(crate) fn created(raw: i64, count: BoardCount) -> Envelope {
    envelope(raw, 1, Event::ArticleCreated(state(raw, 1, count)))
}

pub(crate) fn edited(raw: i64, version: u64, count: BoardCount) -> Envelope {
    envelope(raw, version, Event::ArticleEdited(state(raw, version, count)))
}

pub(crate) fn deleted(raw: i64, version: u64, count: BoardCount) -> Envelope {
    let (article_id, board_id) = (article(raw), BoardId::from_raw(7));
    let deleted = ArticleDeleted { article_id, board_id, board_count: count, restorable: true };
    envelope(raw, version, Event::ArticleDeleted(deleted))
}

pub(crate) fn restored(raw: i64, version: u64, count: BoardCount) -> Envelope {
    envelope(raw, version, Event::ArticleRestored(state(raw, version, count)))
}

pub(crate) fn commented(raw: i64, version: u64, comment_count: u64) -> Envelope {
    let comment_id = CommentId::from_raw(9);
    let (board_id, last) = (Some(BoardId::from_raw(7)), None);
    let article_id = article(raw);
    let change =
        CommentChange { article_id, comment_id, parent_id: None, comment_count, locked: false, board_id, last };
    envelope(raw, version, Event::CommentCreated(change))
}

pub(crate) fn liked(raw: i64, version: u64, like_count: u64) -> Envelope {
    let likes = ArticleLikes { article_id: article(raw), liked: vec![], unliked: vec![], like_count };
    envelope(raw, version, Event::ArticleLikesChanged(likes))
}

pub(crate) fn change(envelope: &Envelope) -> Change {
    Change::of(envelope.clone()).expect("an event of the model")
}

/// Calls `check` with every order of the items.
pub(crate) fn every_order<T: Clone>(items: &[T], check: &mut impl FnMut(&[T])) {
    fn step<T: Clone>(items: &mut Vec<T>, fixed: usize, check: &mut impl FnMut(&[T])) {
        if fixed == items.len() {
            return check(items);
        }
        for next in fixed..items.len() {
            items.swap(fixed, next);
            step(items, fixed + 1, check);
            items.swap(fixed, next);
        }
    }
    step(&mut items.to_vec(), 0, check);
}
