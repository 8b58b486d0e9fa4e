//! Articles and events for the cases, and short ways to ask the model.

use std::sync::Arc;

use madang_article_read::{
    ArticleGroup, ArticleText, Change, Count, Discussion, Entry, Filled, FilledList, ListLookup, Lookup,
    NewestArticles, ReadModel, Shown, Step, Window,
};
use madang_board::{ArticleId, BoardId, CommentId, MemberId};
use madang_event::{
    ArticleDeleted, ArticleLikes, ArticleLock, ArticleState, BoardCount, CommentChange, Envelope, Event, LastComment,
    Writer,
};
use madang_kernel::{EventId, Id, PageNumber, PageSize, Timestamp};

use super::ReadModelHarness;

pub(super) struct Site<H> {
    pub(super) harness: H,
    pub(super) model: Arc<dyn ReadModel>,
}

/// An article as a case looks at it: version of its text, comments, likes.
pub(super) type Seen = (u64, u64, u64);

impl<H: ReadModelHarness> Site<H> {
    pub(super) fn open(harness: H) -> Self {
        let model = harness.model();
        Self { harness, model }
    }

    pub(super) async fn look(&self, raw: i64) -> Lookup {
        self.model.find(&[article(raw)]).await.unwrap().remove(0)
    }

    /// A fresh article; `None` when it is known to be gone. Anything else fails the case.
    pub(super) async fn seen(&self, raw: i64) -> Option<Seen> {
        match self.look(raw).await {
            Lookup::Absent => None,
            Lookup::Found { entry, is_stale: false } => seen(&entry),
            other => panic!("{other:?}"),
        }
    }

    pub(super) async fn is_missing(&self, raw: i64) -> bool {
        self.look(raw).await == Lookup::Miss
    }

    /// Rebuilds an article from what the owners told.
    pub(super) async fn fill(&self, raw: i64, told: Option<Seen>) {
        let reservation = self.model.reserve(&[article(raw)]).await.unwrap();
        let told = vec![(article(raw), told.map(|told| entry(raw, told)))];
        assert!(matches!(self.model.fill(reservation, told).await.unwrap()[..], [Filled::Stored(_)]));
    }

    pub(super) async fn merge(&self, events: impl IntoIterator<Item = Envelope>) {
        self.model.merge(events.into_iter().filter_map(Change::of).collect()).await.unwrap();
    }

    pub(super) async fn fill_list(&self, board: i64, told: Option<NewestArticles>) {
        let reservation = self.model.reserve_list(self::board(board)).await.unwrap();
        let filled = self.model.fill_list(reservation, self::board(board), told).await.unwrap();
        assert!(matches!(filled, Filled::Stored(_)));
    }

    pub(super) async fn list(&self, board: i64, window: Window) -> ListLookup {
        self.model.list(self::board(board), window).await.unwrap()
    }

    /// The first page of a fresh list and the board's count; `None` outside of what the list holds.
    pub(super) async fn first_page(&self, board: i64, size: i64) -> Option<(Vec<i64>, u64)> {
        match self.list(board, page(1, size)).await {
            ListLookup::Found { step: Step::Inside { ids, count, .. }, is_stale: false } => Some((raws(&ids), count)),
            ListLookup::Found { step: Step::Outside, .. } => None,
            other => panic!("{other:?}"),
        }
    }
}

pub(super) fn seen(entry: &Entry) -> Option<Seen> {
    match entry.shown() {
        Shown::Live { text, comment_count, like_count, .. } => {
            assert_eq!(text.content, format!("content {} \"마당\"", text.head.version));
            Some((text.head.version, comment_count, like_count))
        }
        Shown::Gone => None,
        Shown::Unknown => panic!("{entry:?}"),
    }
}

/// What a filled placeholder answered.
pub(super) fn kept(filled: &Filled<Entry>) -> Option<Seen> {
    match filled {
        Filled::Stored(entry) => entry.as_ref().and_then(seen),
        Filled::Retry => panic!("asked again"),
    }
}

/// The ids of a list that was filled.
pub(super) fn kept_list(filled: &FilledList) -> Vec<i64> {
    let Filled::Stored(Some(list)) = filled else { panic!("{filled:?}") };
    let Step::Inside { ids, .. } = list.look(page(1, 5)) else { panic!("{list:?}") };
    raws(&ids)
}

pub(super) fn article(raw: i64) -> ArticleId {
    ArticleId::from_raw(raw)
}

pub(super) fn board(raw: i64) -> BoardId {
    BoardId::from_raw(raw)
}

pub(super) fn raws(ids: &[ArticleId]) -> Vec<i64> {
    ids.iter().map(|id| id.raw()).collect()
}

pub(super) fn page(number: i64, size: i64) -> Window {
    Window::Page(PageNumber::new("page", number).unwrap(), PageSize::new("size", size).unwrap())
}

pub(super) fn newest(ids: &[i64], is_all: bool, count: u64, version: u64) -> Option<NewestArticles> {
    let ids = ids.iter().copied().map(article).collect();
    Some(NewestArticles { ids, is_all, count: BoardCount { article_count: count, version } })
}

/// What owners tell; each count has itself as version, so a greater one is newer.
pub(super) fn entry(raw: i64, (version, comments, likes): Seen) -> Entry {
    let text = ArticleText::of(state(1, raw, version, 0), version);
    let count = |count| Some(Count { count, version: count });
    let comments = count(comments).map(Discussion::from);
    Entry { article: Some(ArticleGroup::Live(Arc::new(text))), comments, likes: count(likes) }
}

fn state(board: i64, raw: i64, version: u64, board_version: u64) -> ArticleState {
    ArticleState {
        article_id: article(raw),
        board_id: self::board(board),
        title: format!("title {version}"),
        content: format!("content {version} \"마당\""),
        content_html: format!("<p>content {version}</p>"),
        writer: Writer { member_id: MemberId::from_raw(3), name: "\u{10ffff}".into() },
        created_at: Timestamp::from_millis(1_750_000_000_000),
        modified_at: Timestamp::from_millis(1_750_000_000_000 + version as i64),
        board_count: board_count(board_version),
    }
}

/// A board's count that tells its version.
pub(super) fn board_count(version: u64) -> BoardCount {
    BoardCount { article_count: 1_000 + version, version }
}

fn envelope(raw: i64, version: u64, event: Event) -> Envelope {
    let occurred_at = Timestamp::from_millis(1_750_000_000_000);
    Envelope { event_id: EventId::from_raw(1), occurred_at, key: article(raw), version, event }
}

pub(super) fn created(board: i64, raw: i64, board_version: u64) -> Envelope {
    envelope(raw, 1, Event::ArticleCreated(state(board, raw, 1, board_version)))
}

pub(super) fn edited(board: i64, raw: i64, version: u64, board_version: u64) -> Envelope {
    envelope(raw, version, Event::ArticleEdited(state(board, raw, version, board_version)))
}

pub(super) fn deleted(board: i64, raw: i64, board_version: u64) -> Envelope {
    let (article_id, board_id) = (article(raw), self::board(board));
    let board_count = board_count(board_version);
    let gone = ArticleDeleted { article_id, board_id, board_count, restorable: true };
    envelope(raw, 1_000_000, Event::ArticleDeleted(gone))
}

pub(super) fn restored(board: i64, raw: i64, board_version: u64) -> Envelope {
    let version = 1_000_001;
    envelope(raw, version, Event::ArticleRestored(state(board, raw, version, board_version)))
}

/// The count is its own version.
pub(super) fn commented(raw: i64, count: u64) -> Envelope {
    let comment_id = CommentId::from_raw(9);
    let change = CommentChange {
        article_id: article(raw),
        comment_id,
        parent_id: None,
        comment_count: count,
        locked: false,
        board_id: None,
        last: Some(last(count)),
    };
    envelope(raw, count, Event::CommentCreated(change))
}

/// Ten comments, at this version.
pub(super) fn lock_changed(raw: i64, locked: bool, version: u64) -> Envelope {
    let lock = ArticleLock { article_id: article(raw), comment_count: 10, locked, last: Some(last(version)) };
    envelope(raw, version, Event::ArticleLockChanged(lock))
}

/// The count is its own version.
pub(super) fn liked(raw: i64, count: u64) -> Envelope {
    let likes = ArticleLikes { article_id: article(raw), liked: vec![], unliked: vec![], like_count: count };
    envelope(raw, count, Event::ArticleLikesChanged(likes))
}

/// The newest comment at a version.
pub(super) fn last(version: u64) -> LastComment {
    LastComment {
        comment_id: CommentId::from_raw(100 + version as i64),
        writer: Writer { member_id: MemberId::from_raw(4), name: "\"바람\"; ".into() },
        created_at: Timestamp::from_millis(1_750_000_000_000 + version as i64),
    }
}
