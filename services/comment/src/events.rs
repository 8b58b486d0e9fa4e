//! The events that report a change of an article's comments, built inside the transaction that makes it: only there are
//! the count and the moment known. They carry neither text nor writer.

use madang_event::{CommentChange, Envelope, Event};
use madang_kernel::{EventId, Timestamp};

use crate::{Comment, CommentCount};

/// Reports a new comment; `count` is the count with it.
pub fn created(comment: &Comment, event_id: EventId, occurred_at: Timestamp, count: CommentCount) -> Envelope {
    envelope(comment, event_id, occurred_at, count, Event::CommentCreated)
}

/// Reports a new text; `count` is the count, which an edit leaves as it is at a version of its own.
pub fn edited(comment: &Comment, event_id: EventId, occurred_at: Timestamp, count: CommentCount) -> Envelope {
    envelope(comment, event_id, occurred_at, count, Event::CommentEdited)
}

/// Reports a deletion; `count` is the count without the comment.
pub fn deleted(comment: &Comment, event_id: EventId, occurred_at: Timestamp, count: CommentCount) -> Envelope {
    envelope(comment, event_id, occurred_at, count, Event::CommentDeleted)
}

fn envelope(
    comment: &Comment,
    event_id: EventId,
    occurred_at: Timestamp,
    count: CommentCount,
    event: impl FnOnce(CommentChange) -> Event,
) -> Envelope {
    let change = CommentChange {
        article_id: comment.article_id,
        comment_id: comment.comment_id,
        parent_id: comment.parent_id,
        comment_count: count.comment_count,
    };
    Envelope { event_id, occurred_at, key: comment.article_id, version: count.version, event: event(change) }
}
