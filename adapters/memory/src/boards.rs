//! How lists of boards are cached: rules of filling and merging for one part, under its lock.

use std::sync::Arc;

use madang_article_read::{
    BoardChange, BoardList, Filled, FilledList, LIST_MAX, ListChanges, ListLookup, NewestArticles, Reservation,
    WholeList, Window,
};
use madang_board::{ArticleId, BoardId};
use madang_kernel::Timestamp;

use crate::part::{Cached, Part, Weigh};

/// Boards that share a lock.
pub(crate) type BoardPart = Part<BoardId, Arc<BoardList>, ListChanges>;

impl Weigh for Arc<BoardList> {
    fn weight_bytes(&self) -> usize {
        /// Header of a shared list, and what the allocator rounds up.
        const SHARED_BYTES: usize = 64;
        SHARED_BYTES + BoardList::weight_bytes(self)
    }
}

/// What a reader gets.
pub(crate) fn find(part: &BoardPart, board: BoardId, window: Window, now: Timestamp) -> ListLookup {
    match part.get(board, now) {
        Cached::Miss => ListLookup::Miss,
        Cached::Absent => ListLookup::Absent,
        Cached::Value { value, is_stale } => {
            ListLookup::Found { step: value.look(window), is_stale: is_stale || value.is_thin() }
        }
    }
}

/// The whole list, in its time.
pub(crate) fn whole(part: &BoardPart, board: BoardId, now: Timestamp) -> WholeList {
    match part.get(board, now) {
        Cached::Miss => WholeList::Miss,
        Cached::Absent => WholeList::Absent,
        Cached::Value { value, is_stale } => {
            WholeList::Found { newest: value.newest(LIST_MAX), is_stale: is_stale || value.is_thin() }
        }
    }
}

/// What is held of a list, whether in its time or not.
pub(crate) fn held(part: &BoardPart, board: BoardId, limit: usize) -> Option<NewestArticles> {
    Some(part.peek(board)?.value.as_ref()?.newest(limit))
}

/// Joins what was loaded from the owner with what was merged since the placeholder stands; replaces an older list.
pub(crate) fn fill(
    part: &mut BoardPart,
    reservation: Reservation,
    board: BoardId,
    loaded: Option<NewestArticles>,
    now: Timestamp,
) -> FilledList {
    let Some(changes) = part.take_placeholder(board, reservation) else { return Filled::Retry };
    match loaded {
        Some(newest) => {
            let mut list = BoardList::of(newest);
            if !list.merge_all(&changes) {
                return Filled::Retry;
            }
            let list = Arc::new(list);
            part.insert(board, Some(Arc::clone(&list)), now);
            Filled::Stored(Some(list))
        }
        None if changes.tell_of_the_board() => Filled::Retry,
        None => {
            part.insert(board, None, now);
            Filled::Stored(None)
        }
    }
}

/// Merges an event into the list, if it is there, and into the placeholder.
pub(crate) fn merge(part: &mut BoardPart, change: &BoardChange) {
    if let Some(changes) = part.placeholder(change.board_id) {
        changes.merge(change);
    }
    match part.peek(change.board_id).map(|item| item.value.is_some()) {
        None => {}
        // A reader may hold the list for a moment; then it is copied.
        Some(true) => part.change(change.board_id, |list| Arc::make_mut(list).merge(change)),
        Some(false) => part.remove(change.board_id),
    }
}

/// Removes candidates that turned out to be gone.
pub(crate) fn drop_candidates(part: &mut BoardPart, board: BoardId, gone: &[ArticleId]) {
    if let Some(changes) = part.placeholder(board) {
        gone.iter().for_each(|article| changes.remove(*article));
    }
    part.change(board, |list| {
        let list = Arc::make_mut(list);
        gone.iter().for_each(|article| list.remove(*article));
    });
}

/// Whether a report that this article is on the board tells nothing new.
pub(crate) fn is_settled(part: &BoardPart, board: BoardId, article: ArticleId) -> bool {
    if part.is_reserved(board) {
        return false;
    }
    match part.peek(board) {
        None => true,
        Some(item) => item.value.as_ref().is_some_and(|list| list.knows(article)),
    }
}
