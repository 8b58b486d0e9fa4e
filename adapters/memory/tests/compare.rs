//! The model in memory against its owners: what differs is found, and what is only on its way is not.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use madang_article_read::{
    ActiveArticle, ArticleGroup, ArticleHead, ArticleOwner, ArticlePlace, ArticleText, Change, CommentOwner, Count,
    Difference, Discussion, Entry, Filled, Group, LikeOwner, NewestArticles, Owners, ReadModel, ReadService, State,
    ViewOwner,
};
use madang_board::{ArticleId, BoardId, MemberId, Pin};
use madang_event::{ArticleLikes, Envelope, Event, Writer};
use madang_kernel::{EventId, Id, ManualClock, Page, PageNumber, PageSize, Scroll, ShardId, StoreError, Timestamp};
use madang_memory::MemoryReadModel;

const ARTICLES: i64 = 600;

/// Owners of a handful of articles, with lists of nothing.
#[derive(Default)]
struct Owned(Mutex<BTreeMap<ArticleId, (ArticleText, Discussion, Count)>>);

impl Owned {
    fn each<T>(&self, articles: &[ArticleId], look: impl Fn(&(ArticleText, Discussion, Count)) -> T) -> Vec<Option<T>> {
        let owned = self.0.lock().unwrap();
        articles.iter().map(|article| owned.get(article).map(&look)).collect()
    }
}

#[async_trait]
impl ArticleOwner for Owned {
    async fn articles(&self, articles: &[ArticleId]) -> Result<Vec<Option<ArticleText>>, StoreError> {
        Ok(self.each(articles, |owned| owned.0.clone()))
    }

    async fn newest(&self, _: BoardId, _: usize) -> Result<Option<NewestArticles>, StoreError> {
        Ok(None)
    }

    async fn site_newest(&self, _: Option<ArticleId>, _: usize) -> Result<Vec<ArticlePlace>, StoreError> {
        Ok(Vec::new())
    }

    async fn places(&self, articles: &[ArticleId]) -> Result<Vec<Option<ArticlePlace>>, StoreError> {
        Ok(vec![None; articles.len()])
    }

    async fn pins(&self, _: BoardId) -> Result<Arc<[Pin]>, StoreError> {
        Ok(Arc::default())
    }

    async fn page(&self, _: BoardId, _: PageNumber, _: PageSize) -> Result<Option<Page<ArticleHead>>, StoreError> {
        Ok(None)
    }

    async fn scroll(
        &self,
        _: BoardId,
        _: Option<ArticleId>,
        _: PageSize,
    ) -> Result<Option<Scroll<ArticleHead, ArticleId>>, StoreError> {
        Ok(None)
    }
}

#[async_trait]
impl CommentOwner for Owned {
    async fn active(&self, _: Option<BoardId>, _: Timestamp, _: usize) -> Result<Vec<ActiveArticle>, StoreError> {
        Ok(Vec::new())
    }

    async fn comment_counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<Discussion>>, StoreError> {
        Ok(self.each(articles, |owned| owned.1.clone()))
    }
}

#[async_trait]
impl LikeOwner for Owned {
    async fn like_counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<Count>>, StoreError> {
        Ok(self.each(articles, |owned| owned.2))
    }
}

#[async_trait]
impl ViewOwner for Owned {
    async fn view_counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<u64>>, StoreError> {
        Ok(self.each(articles, |_| 0))
    }
}

struct Site {
    owned: Arc<Owned>,
    model: Arc<MemoryReadModel>,
    service: ReadService,
}

impl Site {
    /// Articles `1..=ARTICLES`, all of them in the model as their owners have them.
    async fn filled() -> Self {
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_750_000_000_000)));
        let model = Arc::new(MemoryReadModel::new(64 << 20, clock.clone()));
        let owned = Arc::new(Owned::default());
        let owners = Owners {
            articles: owned.clone(),
            comments: owned.clone(),
            likes: owned.clone(),
            views: owned.clone(),
            joined: None,
        };
        let service = ReadService::new(model.clone(), owners, clock);
        let site = Self { owned, model, service };
        for raw in 1..=ARTICLES {
            site.owned.0.lock().unwrap().insert(article(raw), (text(raw, 1), count(1, 1).into(), count(2, 2)));
            site.put(raw, entry(raw, 1, count(1, 1), count(2, 2))).await;
        }
        site
    }

    async fn put(&self, raw: i64, entry: Entry) {
        let reservation = self.model.reserve(&[article(raw)]).await.unwrap();
        let filled = self.model.fill(reservation, vec![(article(raw), Some(entry))]).await.unwrap();
        assert!(matches!(filled[..], [Filled::Stored(Some(_))]));
    }

    /// The owner of likes goes on, and the model hears of it or does not.
    async fn like(&self, raw: i64, likes: u64, heard: bool) {
        self.owned.0.lock().unwrap().get_mut(&article(raw)).unwrap().2 = count(likes, likes);
        if heard {
            let key = article(raw);
            let event = ArticleLikes { article_id: key, liked: vec![], unliked: vec![], like_count: likes };
            let event = Event::ArticleLikesChanged(event);
            let (event_id, occurred_at) = (EventId::from_raw(1), Timestamp::from_millis(0));
            let envelope = Envelope { event_id, occurred_at, key, version: likes, event };
            self.model.merge(Change::of(envelope).into_iter().collect()).await.unwrap();
        }
    }

    async fn differences(&self) -> Vec<Difference> {
        let compared = self.service.compare().await.unwrap();
        assert_eq!(compared.articles, ARTICLES as u64);
        self.service.still_differing(compared.differences).await.unwrap()
    }
}

#[tokio::test]
async fn everything_held_is_looked_at_and_absences_are_not() {
    let site = Site::filled().await;
    let reservation = site.model.reserve(&[article(9_999)]).await.unwrap();
    site.model.fill(reservation, vec![(article(9_999), None)]).await.unwrap();
    let mut held = Vec::new();
    for shard in ShardId::all() {
        for (article, entry) in site.model.entries(shard).await.unwrap() {
            assert_eq!(ShardId::of_parts(article), shard);
            assert!(entry.live().is_some());
            held.push(article.raw());
        }
    }
    held.sort_unstable();
    assert_eq!(held, (1..=ARTICLES).collect::<Vec<_>>());
    assert_eq!(site.differences().await, []);
}

#[tokio::test]
async fn every_kind_of_difference_is_found() {
    let site = Site::filled().await;
    // Each is damaged on the owners' side: what the model holds is what it was told once.
    let mut expected = Vec::new();
    {
        let mut owned = site.owned.0.lock().unwrap();
        let mut expect = |raw, group, held, owned| {
            expected.push(Difference { article_id: article(raw), group, held, owned });
        };
        owned.get_mut(&article(1)).unwrap().0 = text(1, 2);
        expect(1, Group::Article, State::Text(1), State::Text(2));
        owned.get_mut(&article(2)).unwrap().0.content = "another text at the same version".into();
        expect(2, Group::Article, State::Text(1), State::Text(1));
        owned.remove(&article(3));
        expect(3, Group::Article, State::Text(1), State::Gone);
        let locked = Discussion { locked: true, ..count(1, 1).into() };
        owned.get_mut(&article(4)).unwrap().1 = locked.clone();
        expect(4, Group::Comments, State::Discussed(count(1, 1).into()), State::Discussed(locked));
        owned.get_mut(&article(5)).unwrap().2 = count(1, 1);
        expect(5, Group::Likes, State::Counted(count(2, 2)), State::Counted(count(1, 1)));
    }
    site.put(6, Entry { article: Some(ArticleGroup::Deleted { version: 2 }), ..Entry::default() }).await;
    let (held, owned) = (State::Gone, State::Text(1));
    expected.push(Difference { article_id: article(6), group: Group::Article, held, owned });
    let mut found = site.differences().await;
    found.sort_by_key(|difference| difference.article_id);
    assert_eq!(found, expected);
    assert_eq!(
        found[4].to_string(),
        "article 5: the query model has its likes as 2 (version 2), the owner as 1 (version 1)"
    );
}

#[tokio::test]
async fn what_arrives_before_the_second_look_is_no_difference() {
    let site = Site::filled().await;
    for raw in [1, 2] {
        site.like(raw, 3, false).await;
    }
    let found = site.service.compare().await.unwrap().differences;
    assert_eq!(found.len(), 2);
    // One has heard of it since, and its owner has gone on; the other has heard nothing.
    site.like(1, 3, true).await;
    site.like(1, 4, false).await;
    let left = site.service.still_differing(found).await.unwrap();
    assert_eq!(left.iter().map(|difference| difference.article_id).collect::<Vec<_>>(), [article(2)]);
}

#[tokio::test]
async fn what_the_model_does_not_know_it_does_not_have_wrong() {
    let site = Site::filled().await;
    site.model.clear_now();
    let compared = site.service.compare().await.unwrap();
    assert_eq!((compared.articles, compared.differences), (0, vec![]));
    assert_eq!(site.model.size_now().entries, 0, "nothing is loaded by looking");
}

fn article(raw: i64) -> ArticleId {
    ArticleId::from_raw(raw)
}

fn count(count: u64, version: u64) -> Count {
    Count { count, version }
}

fn entry(raw: i64, version: u64, comments: Count, likes: Count) -> Entry {
    let article = Some(ArticleGroup::Live(Arc::new(text(raw, version))));
    Entry { article, comments: Some(comments.into()), likes: Some(likes) }
}

fn text(raw: i64, version: u64) -> ArticleText {
    let head = ArticleHead {
        article_id: article(raw),
        board_id: BoardId::from_raw(1),
        title: "t".into(),
        writer: Writer { member_id: MemberId::from_raw(1), name: "w".into() },
        created_at: Timestamp::from_millis(0),
        modified_at: Timestamp::from_millis(0),
        version,
    };
    ArticleText { head, content: "c".into(), content_html: "<p>c</p>".into() }
}
