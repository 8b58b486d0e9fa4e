//! The event that reports a written count, built inside the transaction that writes it. Key and version are decided here,
//! once for every adapter.

use madang_event::{ArticleViews, Envelope, Event};
use madang_kernel::Timestamp;

use crate::WriteBack;

/// Reports a count that was written; `version` is the stored count's after it.
pub fn viewed(back: WriteBack, version: u64, occurred_at: Timestamp) -> Envelope {
    let WriteBack { article_id, view_count, event_id } = back;
    let event = Event::ArticleViewed(ArticleViews { article_id, view_count });
    Envelope { event_id, occurred_at, key: article_id, version, event }
}
