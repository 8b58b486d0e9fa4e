//! The events that report a change of an article's comments, built inside the transaction that makes it: only there are
//! the count and the moment known. They carry no text, and of writers only who wrote what is the newest now.

use madang_board::ArticleId;
use madang_event::{ArticleLock, CommentChange, Envelope, Event};
use madang_kernel::{EventId, Timestamp};

use crate::replay::CommentCounter;
use crate::{Comment, CommentCount};

/// Reports a new comment; `count` is the count with it.
pub fn created(comment: &Comment, event_id: EventId, occurred_at: Timestamp, count: &CommentCounter) -> Envelope {
    envelope(comment, event_id, occurred_at, count, Event::CommentCreated)
}

/// Reports a new text; `count` is the count, which an edit leaves as it is at a version of its own.
pub fn edited(comment: &Comment, event_id: EventId, occurred_at: Timestamp, count: &CommentCounter) -> Envelope {
    envelope(comment, event_id, occurred_at, count, Event::CommentEdited)
}

/// Reports a deletion; `count` is the count without the comment.
pub fn deleted(comment: &Comment, event_id: EventId, occurred_at: Timestamp, count: &CommentCounter) -> Envelope {
    envelope(comment, event_id, occurred_at, count, Event::CommentDeleted)
}

/// Reports that an article takes no new comments, or does again; `count` says which, at a version of its own.
pub fn lock_changed(article: ArticleId, event_id: EventId, occurred_at: Timestamp, count: &CommentCounter) -> Envelope {
    let CommentCount { comment_count, version, locked, .. } = count.count;
    let lock = ArticleLock { article_id: article, comment_count, locked, last: count.last.clone() };
    Envelope { event_id, occurred_at, key: article, version, event: Event::ArticleLockChanged(lock) }
}

fn envelope(
    comment: &Comment,
    event_id: EventId,
    occurred_at: Timestamp,
    counter: &CommentCounter,
    event: impl FnOnce(CommentChange) -> Event,
) -> Envelope {
    let change = CommentChange {
        article_id: comment.article_id,
        comment_id: comment.comment_id,
        parent_id: comment.parent_id,
        comment_count: counter.count.comment_count,
        locked: counter.count.locked,
        board_id: counter.board_id,
        last: counter.last.clone(),
    };
    Envelope { event_id, occurred_at, key: comment.article_id, version: counter.count.version, event: event(change) }
}
