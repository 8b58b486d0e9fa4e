//! The event stream that a browser reads. Each event carries the counts as they are and names the state it describes, so that
//! one who comes back is sent only what differs.

use std::collections::{HashSet, VecDeque};
use std::convert::Infallible;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, StreamExt, stream};
use madang_board::{ArticleId, CommentId};
use madang_server::RefusedBy;
use serde::{Deserialize, Serialize};

use super::{Changes, Subscription};
use crate::error::{Limit, OrRefuse as _, Refused, WebError};
use crate::query::LenientQuery;
use crate::state::{Shared, Web};
use crate::visit::Visit;

/// At most one event in this time: what changes faster arrives together.
const PAUSE: Duration = Duration::from_millis(200);
/// When a reader who has too many streams open may try again: another page may be closed by then.
const STREAM_RETRY_AFTER: Duration = Duration::from_secs(60);
/// A line now and then, so that proxies and dead connections are noticed.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The state that was sent to a reader last: versions of text, likes and comments. Every comment up to that version was
/// sent, one by one or as missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Sent {
    text: u64,
    likes: u64,
    comments: u64,
}

/// Where a reader left off, when it cannot send the header.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct ResumeQuery {
    last: Option<String>,
}

/// What an event says.
#[derive(Debug, Serialize)]
struct Update {
    likes: Option<u64>,
    comments: Option<u64>,
    views: Option<u64>,
    version: u64,
    /// Comments that are new, by id.
    created: Vec<String>,
    /// Comments whose text changed, by id.
    edited: Vec<String>,
    /// Comments that were deleted, by id.
    deleted: Vec<String>,
    /// Whether more comments changed than are named here.
    missed: bool,
    gone: bool,
}

/// Follows an article.
pub(crate) async fn stream(
    State(web): State<Shared>,
    visit: Visit,
    Path(id): Path<String>,
    LenientQuery(resume): LenientQuery<ResumeQuery>,
    headers: HeaderMap,
) -> Result<Response, Refused> {
    let id: ArticleId = id.parse().map_err(|_| WebError::NotFound).or_refuse(&web, &visit)?;
    let refused = |error: WebError| {
        RefusedBy::Streams.count();
        error
    };
    let too_many = WebError::TooMany { limit: Limit::Requests, retry_after: STREAM_RETRY_AFTER, rejection: None };
    let held = web.streams.open(visit.network()).ok_or_else(|| refused(too_many)).or_refuse(&web, &visit)?;
    // Followed before the state is read: what changes in between is sent twice rather than never.
    let subscription = web.site.live.subscribe(id).ok_or_else(|| refused(WebError::Unavailable));
    let subscription = subscription.or_refuse(&web, &visit)?;
    let (sent, update) = present(&web, id).await.or_refuse(&web, &visit)?;
    let header = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    let last = header.map(str::to_owned).or(resume.last);
    let first = opening(last.as_deref().and_then(Sent::parse), sent, update);
    let events = stream::iter(first).chain(following(subscription, sent)).map(move |event| {
        // Counted until the stream is dropped.
        let _held = &held;
        event
    });
    let mut response = Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response();
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

/// The state at this moment, from those who own it.
async fn present(web: &Web, id: ArticleId) -> Result<(Sent, Update), WebError> {
    let read = web.site.read.article(id).await?.ok_or(WebError::NotFound)?;
    let likes = web.site.likes.counts(vec![id]).await?.pop().flatten().ok_or(WebError::NotFound)?;
    let comments = web.site.comments.count(id).await?;
    let sent = Sent { text: read.text.head.version, likes: likes.version, comments: comments.version };
    let update = Update {
        likes: Some(likes.like_count),
        comments: Some(comments.comment_count),
        views: Some(read.view_count),
        version: sent.text,
        created: Vec::new(),
        edited: Vec::new(),
        deleted: Vec::new(),
        missed: false,
        gone: false,
    };
    Ok((sent, update))
}

/// The first event: the state, unless the reader has it already.
fn opening(last: Option<Sent>, present: Sent, mut update: Update) -> Option<Result<Event, Infallible>> {
    if last == Some(present) {
        return None;
    }
    update.missed = last.is_some_and(|last| last.comments != present.comments);
    event(present, &update)
}

/// Every change from now on, not faster than the pause allows.
fn following(subscription: Subscription, sent: Sent) -> impl Stream<Item = Result<Event, Infallible>> {
    stream::unfold((subscription, sent, HashSet::new()), |(mut subscription, sent, mut named)| async move {
        loop {
            tokio::time::sleep(PAUSE).await;
            let changes = subscription.changed().await?;
            let (next, update) = sent.update(&changes, &mut named);
            if let Some(event) = event(next, &update) {
                return Some((event, (subscription, next, named)));
            }
        }
    })
}

fn event(sent: Sent, update: &Update) -> Option<Result<Event, Infallible>> {
    let data = serde_json::to_string(update).ok()?;
    Some(Ok(Event::default().id(sent.to_string()).data(data)))
}

impl Sent {
    /// What `changes` add to what was sent, and what is sent then. `named` are comments that were sent ahead of others.
    fn update(self, changes: &Changes, named: &mut HashSet<CommentId>) -> (Self, Update) {
        let (comments, missed) = changes.sent_after(self.comments);
        let created = changes.created.iter().filter(|(version, _)| *version > self.comments);
        let created: Vec<CommentId> = created.map(|(_, comment)| *comment).filter(|id| !named.contains(id)).collect();
        // Named again when it overtook another change; that a comment changed or is gone can be heard twice.
        let unsent = |changes: &VecDeque<(u64, CommentId)>| {
            let unsent = changes.iter().filter(|(version, _)| *version > self.comments);
            unsent.map(|(_, comment)| comment.to_string()).collect()
        };
        let ahead = changes.created.iter().filter(|(version, _)| *version > comments);
        *named = ahead.map(|(_, comment)| *comment).collect();
        let update = Update {
            likes: (changes.likes.version > self.likes).then_some(changes.likes.count),
            comments: (changes.comments.version > self.comments).then_some(changes.comments.count),
            views: (changes.views.version > 0).then_some(changes.views.count),
            version: changes.text_version.max(self.text),
            created: created.iter().map(ToString::to_string).collect(),
            edited: unsent(&changes.edited),
            deleted: unsent(&changes.deleted),
            missed,
            gone: changes.gone,
        };
        let next = Self { text: update.version, likes: changes.likes.version.max(self.likes), comments };
        (next, update)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '.').map(|part| part.parse().ok());
        Some(Self { text: parts.next()??, likes: parts.next()??, comments: parts.next()?? })
    }
}

impl std::fmt::Display for Sent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { text, likes, comments } = self;
        write!(f, "{text}.{likes}.{comments}")
    }
}

#[cfg(test)]
mod tests {
    use madang_kernel::Id;

    use super::*;
    use crate::live::{Change, Reading};

    #[test]
    fn what_was_sent_survives_its_name() {
        let sent = Sent { text: 3, likes: 0, comments: u64::MAX };
        assert_eq!(Sent::parse(&sent.to_string()), Some(sent));
        for text in ["", "1", "1.2", "1.2.x", "1.2.3.4", "-1.2.3"] {
            assert_eq!(Sent::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_comment_that_overtook_another_is_sent_once_and_the_other_still() {
        let (mut changes, mut named) = (Changes::default(), HashSet::new());
        let comment =
            |version: u64| Change::Commented(CommentId::from_raw(version as i64), Reading { count: version, version });
        let sent = Sent { comments: 5, ..Sent::default() };
        changes.merge(&comment(7));
        let (sent, update) = sent.update(&changes, &mut named);
        assert_eq!((sent.comments, update.created, update.comments), (5, vec!["7".to_owned()], Some(7)));
        changes.merge(&comment(6));
        let (sent, update) = sent.update(&changes, &mut named);
        assert_eq!((sent.comments, update.created, update.missed), (7, vec!["6".to_owned()], false));
    }

    #[test]
    fn one_who_comes_back_is_sent_only_what_differs() {
        let update = || Update {
            likes: Some(1),
            comments: Some(2),
            views: None,
            version: 1,
            created: vec![],
            edited: vec![],
            deleted: vec![],
            missed: false,
            gone: false,
        };
        let present = Sent { text: 1, likes: 1, comments: 2 };
        assert!(opening(Some(present), present, update()).is_none());
        assert!(opening(None, present, update()).is_some());
        assert!(opening(Some(Sent { comments: 1, ..present }), present, update()).is_some());
    }
}
