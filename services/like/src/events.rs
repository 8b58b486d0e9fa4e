//! The event that reports who likes an article now: whoever stores the change writes it in the same transaction.

use madang_board::ArticleId;
use madang_event::{ArticleLikes, Envelope, Event};
use madang_kernel::{EventId, Timestamp};

use crate::Replayed;

/// Reports a change; its version is that of the counter.
pub fn changed(article: ArticleId, change: Replayed, event_id: EventId, occurred_at: Timestamp) -> Envelope {
    let Replayed { count, liked, unliked } = change;
    Envelope {
        event_id,
        occurred_at,
        key: article,
        version: count.version,
        event: Event::ArticleLikesChanged(ArticleLikes {
            article_id: article,
            liked,
            unliked,
            like_count: count.like_count,
        }),
    }
}
