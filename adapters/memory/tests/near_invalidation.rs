//! What the near cache promises beyond the port: what is heard of shows at once, a late load overwrites nothing, what is not
//! heard of shows when the TTL is over, and memory is bounded whatever comes.

#![allow(clippy::unwrap_used, reason = "the helpers of a test fail the test")]

use std::sync::Arc;
use std::time::Duration;

use madang_article_read::{
    ArticleGroup, ArticleText, BoardChange, Count, Discussion, Entry, Filled, Floor, Invalidation, ListLookup, Lookup,
    NewestArticles, Presence, ReadModel, Step, Window,
};
use madang_board::{ArticleId, BoardId, MemberId};
use madang_event::{ArticleHead, BoardCount, Writer};
use madang_kernel::{Id, ManualClock, PageNumber, PageSize, Timestamp};
use madang_memory::{Announce, MemoryReadModel, NEAR_FRESH_MS, NEAR_TTL_MS, NearReadModel, Origin};

const BUDGET_BYTES: u64 = 4 * 1024 * 1024;

struct NobodyElse;

#[async_trait::async_trait]
impl Announce for NobodyElse {
    async fn cleared(&self) {}
}

struct Site {
    far: Arc<MemoryReadModel>,
    near: NearReadModel,
    clock: Arc<ManualClock>,
}

impl Site {
    fn new() -> Self {
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_750_000_000_000)));
        let far = Arc::new(MemoryReadModel::new(512 * 1024 * 1024, Arc::clone(&clock) as _));
        let near =
            NearReadModel::new(Arc::clone(&far) as _, BUDGET_BYTES, Arc::clone(&clock) as _, Arc::new(NobodyElse));
        near.connected();
        Self { far, near, clock }
    }

    /// Puts an article into the model behind, as another process would: nobody here hears of it.
    async fn told_to_the_model(&self, article: ArticleId, entry: Option<Entry>) {
        let reservation = self.far.reserve(&[article]).await.unwrap();
        let filled = self.far.fill(reservation, vec![(article, entry)]).await.unwrap();
        assert!(matches!(filled[0], Filled::Stored(_)));
    }

    async fn listed_in_the_model(&self, board: BoardId, newest: NewestArticles) {
        let reservation = self.far.reserve_list(board).await.unwrap();
        self.far.fill_list(reservation, board, Some(newest)).await.unwrap();
    }

    async fn find(&self, article: ArticleId) -> Lookup {
        self.near.find(&[article]).await.unwrap().remove(0)
    }

    async fn likes(&self, article: ArticleId) -> Option<u64> {
        match self.find(article).await {
            Lookup::Found { entry, .. } => entry.likes.map(|likes| likes.count),
            Lookup::Miss | Lookup::Absent => None,
        }
    }

    async fn first_page(&self, board: BoardId) -> Vec<ArticleId> {
        let window = Window::Page(PageNumber::FIRST, PageSize::DEFAULT);
        match self.near.list(board, window).await.unwrap() {
            ListLookup::Found { step: Step::Inside { ids, .. }, .. } => ids,
            other => panic!("{other:?}"),
        }
    }

    fn hear(&self, heard: Invalidation) {
        self.near.invalidate(&[heard], Origin::Other);
    }

    fn pass(&self, ms: i64) {
        self.clock.advance(Duration::from_millis(u64::try_from(ms).unwrap()));
    }
}

fn article(raw: i64) -> ArticleId {
    ArticleId::from_raw(raw)
}

fn entry(article_id: ArticleId, version: u64, likes: Count, content_bytes: usize) -> Entry {
    let head = ArticleHead {
        article_id,
        board_id: BoardId::from_raw(1),
        title: "title".into(),
        writer: Writer { member_id: MemberId::from_raw(3), name: "name".into() },
        created_at: Timestamp::from_millis(0),
        modified_at: Timestamp::from_millis(0),
        version,
    };
    let text = ArticleText { head, content: "x".repeat(content_bytes), content_html: String::new() };
    Entry {
        article: Some(ArticleGroup::Live(Arc::new(text))),
        comments: Some(Discussion::default()),
        likes: Some(likes),
    }
}

fn count(count: u64, version: u64) -> Count {
    Count { count, version }
}

fn liked(article_id: ArticleId, likes: Count) -> Invalidation {
    Invalidation { article_id, floor: Floor { likes: Some(likes), ..Floor::default() }, board: None, activity: None }
}

fn edited(article_id: ArticleId, version: u64) -> Invalidation {
    Invalidation { article_id, floor: Floor { text: Some(version), ..Floor::default() }, board: None, activity: None }
}

fn on_board(article_id: ArticleId, presence: Presence, article_count: u64, version: u64) -> Invalidation {
    let board_id = BoardId::from_raw(1);
    let count = BoardCount { article_count, version };
    let board = Some(BoardChange { board_id, article_id, presence, count });
    Invalidation { article_id, floor: Floor::default(), board, activity: None }
}

#[tokio::test]
async fn what_is_heard_of_shows_at_once_and_the_older_never_again() {
    let site = Site::new();
    let one = article(7);
    site.told_to_the_model(one, Some(entry(one, 1, count(3, 3), 10))).await;
    assert_eq!(site.likes(one).await, Some(3));
    site.hear(liked(one, count(5, 5)));
    assert_eq!(site.likes(one).await, Some(5), "without a load");
    site.hear(liked(one, count(4, 4)));
    assert_eq!(site.likes(one).await, Some(5), "a late message changes nothing");
    // The model behind still has the old count: a load meets what was heard.
    site.pass(NEAR_TTL_MS);
    assert_eq!(site.likes(one).await, Some(5));
}

#[tokio::test]
async fn a_load_of_something_that_changed_before_it_was_cached_is_joined_with_the_change() {
    let site = Site::new();
    let one = article(7);
    site.told_to_the_model(one, Some(entry(one, 1, count(3, 3), 10))).await;
    // Heard before anybody here read the article, and before the model behind was told.
    site.hear(liked(one, count(9, 9)));
    assert_eq!(site.likes(one).await, Some(9));
}

#[tokio::test]
async fn a_rebuild_that_began_before_a_change_does_not_hide_it() {
    let site = Site::new();
    let one = article(7);
    let reservation = site.near.reserve(&[one]).await.unwrap();
    site.hear(liked(one, count(9, 9)));
    let old = vec![(one, Some(entry(one, 1, count(3, 3), 10)))];
    let Filled::Stored(Some(filled)) = site.near.fill(reservation, old).await.unwrap().remove(0) else { panic!() };
    assert_eq!(filled.likes, Some(count(9, 9)));
    assert_eq!(site.likes(one).await, Some(9));
    // The same with a text: only the owner has the new one.
    let reservation = site.near.reserve(&[one]).await.unwrap();
    site.hear(edited(one, 2));
    let old = vec![(one, Some(entry(one, 1, count(3, 3), 10)))];
    assert_eq!(site.near.fill(reservation, old).await.unwrap(), [Filled::Retry]);
}

#[tokio::test]
async fn a_model_that_lags_behind_an_edit_is_not_believed() {
    let site = Site::new();
    let one = article(7);
    site.told_to_the_model(one, Some(entry(one, 1, count(0, 0), 10))).await;
    assert!(matches!(site.find(one).await, Lookup::Found { .. }));
    site.hear(edited(one, 2));
    assert_eq!(site.find(one).await, Lookup::Miss);
    assert_eq!(site.near.find_anew(&[one]).await.unwrap(), [Lookup::Miss], "so the owners are asked");
    let reservation = site.near.lease(&[one]).await.unwrap().reservation;
    let told = vec![(one, Some(entry(one, 2, count(0, 0), 10)))];
    assert!(matches!(site.near.fill(reservation, told).await.unwrap()[0], Filled::Stored(Some(_))));
    let Lookup::Found { entry, .. } = site.find(one).await else { panic!("rebuilt") };
    assert_eq!(entry.live().unwrap().head.version, 2);
}

#[tokio::test]
async fn an_old_creation_that_is_heard_again_makes_nobody_ask_for_ever() {
    let site = Site::new();
    let gone = article(7);
    site.hear(edited(gone, 1));
    let reservation = site.near.lease(&[gone]).await.unwrap().reservation;
    assert_eq!(site.near.fill(reservation, vec![(gone, None)]).await.unwrap(), [Filled::Stored(None)]);
}

#[tokio::test]
async fn a_deletion_that_is_heard_of_outlives_every_load() {
    let site = Site::new();
    let one = article(7);
    site.told_to_the_model(one, Some(entry(one, 1, count(0, 0), 10))).await;
    let floor = Floor { deleted: Some(2), ..Floor::default() };
    site.hear(Invalidation { article_id: one, floor, board: None, activity: None });
    for _ in 0..2 {
        let Lookup::Found { entry, .. } = site.find(one).await else { panic!("a tombstone") };
        assert_eq!(entry.article, Some(ArticleGroup::Deleted { version: 2 }));
        site.pass(NEAR_TTL_MS);
    }
}

#[tokio::test]
async fn what_is_not_heard_of_shows_when_the_ttl_is_over() {
    let site = Site::new();
    let one = article(7);
    site.told_to_the_model(one, Some(entry(one, 1, count(3, 3), 10))).await;
    assert_eq!(site.likes(one).await, Some(3));
    site.told_to_the_model(one, Some(entry(one, 1, count(4, 4), 10))).await;
    site.pass(NEAR_FRESH_MS - 1);
    assert_eq!(site.likes(one).await, Some(3), "still cached");
    site.pass(NEAR_TTL_MS - NEAR_FRESH_MS + 1);
    assert_eq!(site.likes(one).await, Some(4));
    // Who is disconnected looks sooner, and who is connected again trusts nothing from before.
    site.told_to_the_model(one, Some(entry(one, 1, count(5, 5), 10))).await;
    site.near.disconnected();
    site.pass(150);
    assert_eq!(site.likes(one).await, Some(5));
    site.told_to_the_model(one, Some(entry(one, 1, count(6, 6), 10))).await;
    site.near.connected();
    assert_eq!(site.likes(one).await, Some(6));
}

#[tokio::test]
async fn a_clock_that_steps_back_makes_nothing_last() {
    let site = Site::new();
    let one = article(7);
    site.told_to_the_model(one, Some(entry(one, 1, count(3, 3), 10))).await;
    assert_eq!(site.likes(one).await, Some(3));
    site.told_to_the_model(one, Some(entry(one, 1, count(4, 4), 10))).await;
    site.clock.set(Timestamp::from_millis(1_750_000_000_000 - 60_000));
    assert_eq!(site.likes(one).await, Some(4));
}

#[tokio::test]
async fn a_list_follows_what_is_heard_and_no_older_load() {
    let site = Site::new();
    let (board, count) = (BoardId::from_raw(1), BoardCount { article_count: 2, version: 2 });
    let newest = NewestArticles { ids: vec![article(2), article(1)], is_all: true, count };
    site.listed_in_the_model(board, newest.clone()).await;
    assert_eq!(site.first_page(board).await, [article(2), article(1)]);
    site.hear(on_board(article(3), Presence::There, 3, 3));
    site.hear(on_board(article(1), Presence::Gone, 2, 4));
    assert_eq!(site.first_page(board).await, [article(3), article(2)]);
    // The model behind was not told.
    site.pass(NEAR_TTL_MS);
    assert_eq!(site.first_page(board).await, [article(3), article(2)]);
    // A rebuild that read before the change.
    let reservation = site.near.reserve_list(board).await.unwrap();
    site.hear(on_board(article(4), Presence::There, 3, 5));
    site.near.fill_list(reservation, board, Some(newest)).await.unwrap();
    assert_eq!(site.first_page(board).await, [article(4), article(3), article(2)]);
}

#[tokio::test]
async fn memory_is_bounded_by_bytes() {
    let site = Site::new();
    for number in 1..=4_000 {
        let one = article(number);
        site.told_to_the_model(one, Some(entry(one, 1, count(0, 0), 4_000))).await;
        assert_eq!(site.likes(one).await, Some(0));
    }
    let size = site.near.near_size();
    assert!(size.bytes <= BUDGET_BYTES && size.entries > 500, "{size:?}");
}

#[tokio::test]
async fn a_storm_about_what_nobody_reads_leaves_rendered_answers_alone() {
    let site = Site::new();
    let read = article(1);
    site.told_to_the_model(read, Some(entry(read, 1, count(0, 0), 10))).await;
    site.likes(read).await;
    let before = site.near.generation();
    for number in 2..100_000 {
        site.hear(liked(article(number), count(1, 1)));
    }
    assert_eq!(site.near.generation(), before);
    assert!(site.near.near_size().bytes <= BUDGET_BYTES);
    site.hear(liked(read, count(1, 1)));
    assert_ne!(site.near.generation(), before, "what is read changed");
    let before = site.near.generation();
    site.near.invalidate(&[liked(article(5), count(2, 2))], Origin::Own);
    assert_ne!(site.near.generation(), before, "who writes sees what they wrote");
}

#[tokio::test]
async fn a_load_from_before_it_was_cleared_is_not_cached() {
    let site = Site::new();
    let one = article(7);
    let reservation = site.near.reserve(&[one]).await.unwrap();
    site.near.forget();
    let told = vec![(one, Some(entry(one, 1, count(3, 3), 10)))];
    site.near.fill(reservation, told).await.unwrap();
    assert_eq!(site.near.near_size().entries, 0);
}
