//! What every [`ViewStore`] must do: a stored count never falls, each change has one event, and what is gone stays gone.

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use madang_board::ArticleId;
use madang_event::{ArticleViews, Envelope, Event, Topic};
use madang_kernel::{Clock, EventId, Id, ManualClock, ShardId};
use madang_messaging::Message;
use madang_view::{StoredViews, ViewCount, ViewStore, WriteBack};
use tokio::task::JoinSet;

/// An adapter under test, with what the port alone does not show.
pub trait ViewStoreHarness: Send + Sync + Sized + 'static {
    /// An empty store of its own.
    fn fresh() -> impl Future<Output = Self> + Send;
    /// The store.
    fn store(&self) -> Arc<dyn ViewStore>;
    /// The clock that the store reads.
    fn clock(&self) -> &ManualClock;
    /// Every message committed so far, in commit order.
    fn committed(&self) -> impl Future<Output = Vec<Message>> + Send;
    /// What a comparison of the stored counts with their events finds wrong.
    fn differences(&self) -> impl Future<Output = Vec<String>> + Send;
}

listed_suite! {
    $ view_store_suite, view_store, ViewStoreHarness;
    what_was_never_written_counts_zero,
    a_written_count_is_found_and_reported_once,
    a_stored_count_never_falls,
    each_change_has_the_next_version,
    many_are_written_and_found_in_the_order_asked,
    one_article_twice_in_a_call_is_two_changes,
    a_deleted_article_takes_no_count_ever_again,
    an_article_that_was_never_deleted_counts_as_before,
    concurrent_writers_leave_the_greatest_count,
    a_deletion_amid_writers_leaves_no_count,
    counted_articles_are_listed_without_gap_or_overlap,
}

async fn what_was_never_written_counts_zero<H: ViewStoreHarness>(harness: H) {
    let store = harness.store();
    assert_eq!(store.find(id(1)).await.unwrap(), StoredViews::Count(0));
    assert_eq!(store.find_many(Vec::new()).await.unwrap(), []);
    assert_eq!(store.write_back(Vec::new()).await.unwrap(), []);
    assert_eq!(write(&harness, 1, 0).await, StoredViews::Count(0));
    assert!(harness.committed().await.is_empty(), "no views are no news");
}

async fn a_written_count_is_found_and_reported_once<H: ViewStoreHarness>(harness: H) {
    harness.clock().advance(Duration::from_millis(7));
    let article = id(0x1234_5678_9abc);
    let back = WriteBack { article_id: article, view_count: 42, event_id: EventId::from_raw(9) };
    harness.store().write_back(vec![back]).await.unwrap();
    assert_eq!(harness.store().find(article).await.unwrap(), StoredViews::Count(42));
    let committed = harness.committed().await;
    let [message] = &committed[..] else { panic!("one event, not {committed:?}") };
    assert_eq!((message.topic.as_str(), &message.key), (Topic::View.name(), &article.to_string()));
    assert_eq!(message.shard, ShardId::of_parts(article));
    let expected = Envelope {
        event_id: EventId::from_raw(9),
        occurred_at: harness.clock().now(),
        key: article,
        version: 1,
        event: Event::ArticleViewed(ArticleViews { article_id: article, view_count: 42 }),
    };
    assert_eq!(Envelope::decode(&message.payload).unwrap(), expected);
}

async fn a_stored_count_never_falls<H: ViewStoreHarness>(harness: H) {
    assert_eq!(write(&harness, 1, 10).await, StoredViews::Count(10));
    assert_eq!(write(&harness, 1, 4).await, StoredViews::Count(10));
    assert_eq!(write(&harness, 1, 10).await, StoredViews::Count(10));
    assert_eq!(harness.store().find(id(1)).await.unwrap(), StoredViews::Count(10));
    assert_eq!(reported(&harness).await[&id(1)], [(1, 10)]);
    assert_sound(&harness).await;
}

async fn each_change_has_the_next_version<H: ViewStoreHarness>(harness: H) {
    for count in [1, 2, 100, 100, 250] {
        write(&harness, 1, count).await;
    }
    assert_eq!(reported(&harness).await[&id(1)], [(1, 1), (2, 2), (3, 100), (4, 250)]);
    harness.store().mark_article_gone(id(3)).await.unwrap();
    let counts = harness.store().counts([1, 2, 3].map(id).to_vec()).await.unwrap();
    assert_eq!(counts, [Some(ViewCount { view_count: 250, version: 4 }), Some(ViewCount::default()), None]);
    assert_sound(&harness).await;
}

async fn many_are_written_and_found_in_the_order_asked<H: ViewStoreHarness>(harness: H) {
    let store = harness.store();
    store.mark_article_gone(id(77)).await.unwrap();
    let answers = store.write_back((1..=300).rev().map(|raw| back(raw, raw as u64)).collect()).await.unwrap();
    assert!(answers.iter().map(|answer| answer.article_id.raw()).eq((1..=300).rev()));
    let found = store.find_many(vec![id(5), id(77), id(300), id(999), id(5)]).await.unwrap();
    let [five, none, many] = [5, 0, 300].map(StoredViews::Count);
    assert_eq!(found, [five, StoredViews::Gone, many, none, five]);
    assert_eq!(harness.committed().await.len(), 299);
    assert_sound(&harness).await;
}

async fn one_article_twice_in_a_call_is_two_changes<H: ViewStoreHarness>(harness: H) {
    let answers = harness.store().write_back(vec![back(1, 3), back(1, 2), back(1, 5)]).await.unwrap();
    let stored: Vec<_> = answers.iter().map(|answer| answer.stored).collect();
    assert_eq!(stored, [3, 3, 5].map(StoredViews::Count));
    assert_eq!(reported(&harness).await[&id(1)], [(1, 3), (2, 5)]);
}

async fn a_deleted_article_takes_no_count_ever_again<H: ViewStoreHarness>(harness: H) {
    let store = harness.store();
    write(&harness, 1, 10).await;
    write(&harness, 2, 20).await;
    for _ in 0..2 {
        store.mark_article_gone(id(1)).await.unwrap();
        assert_eq!(store.find(id(1)).await.unwrap(), StoredViews::Gone);
        assert_eq!(write(&harness, 1, 1_000).await, StoredViews::Gone);
    }
    assert_eq!(store.find(id(2)).await.unwrap(), StoredViews::Count(20));
    assert_eq!(store.counted_after(None, 10).await.unwrap(), [id(2)]);
    assert_eq!(reported(&harness).await[&id(1)], [(1, 10)], "what comes late is not reported");
    assert_sound(&harness).await;
}

async fn an_article_that_was_never_deleted_counts_as_before<H: ViewStoreHarness>(harness: H) {
    let store = harness.store();
    write(&harness, 1, 10).await;
    write(&harness, 1, 12).await;
    for raw in 1..=3 {
        store.mark_article_gone(id(raw)).await.unwrap();
    }
    assert_eq!(store.gone_after(None, 10).await.unwrap(), [1, 2, 3].map(id));
    assert_eq!(store.gone_after(Some(id(1)), 1).await.unwrap(), [id(2)]);
    for raw in [1, 2, 1, 7] {
        store.restore_article(id(raw)).await.unwrap();
    }
    assert_eq!(store.gone_after(None, 10).await.unwrap(), [id(3)]);
    let counts = store.counts([1, 2, 3].map(id).to_vec()).await.unwrap();
    assert_eq!(counts, [Some(ViewCount { view_count: 12, version: 2 }), Some(ViewCount::default()), None]);
    assert_eq!(store.counted_after(None, 10).await.unwrap(), [id(1)], "what nobody viewed is not stored");
    assert_eq!(
        (write(&harness, 1, 13).await, write(&harness, 2, 1).await),
        (StoredViews::Count(13), StoredViews::Count(1))
    );
    assert_eq!(reported(&harness).await[&id(1)], [(1, 10), (2, 12), (3, 13)]);
    assert_sound(&harness).await;
}

async fn concurrent_writers_leave_the_greatest_count<H: ViewStoreHarness>(harness: H) {
    let mut writers = JoinSet::new();
    for writer in 0..16u64 {
        let store = harness.store();
        writers.spawn(async move {
            for round in 0..20u64 {
                let answers = store.write_back(vec![back(1, 1 + round * 16 + writer)]).await.unwrap();
                assert!(matches!(answers[0].stored, StoredViews::Count(stored) if stored > round * 16));
            }
        });
    }
    writers.join_all().await;
    assert_eq!(harness.store().find(id(1)).await.unwrap(), StoredViews::Count(320));
    let reported = &reported(&harness).await[&id(1)];
    assert!(reported.windows(2).all(|pair| pair[0].0 + 1 == pair[1].0 && pair[0].1 < pair[1].1), "{reported:?}");
    assert_sound(&harness).await;
}

async fn a_deletion_amid_writers_leaves_no_count<H: ViewStoreHarness>(harness: H) {
    let mut writers = JoinSet::new();
    for writer in 0..8u64 {
        let store = harness.store();
        writers.spawn(async move {
            for round in 0..20u64 {
                store.write_back((1..=5).map(|raw| back(raw, 1 + round * 8 + writer)).collect()).await.unwrap();
            }
        });
    }
    for raw in 1..=5 {
        harness.store().mark_article_gone(id(raw)).await.unwrap();
    }
    writers.join_all().await;
    let found = harness.store().find_many((1..=5).map(id).collect()).await.unwrap();
    assert_eq!(found, [StoredViews::Gone; 5]);
    assert_eq!(harness.store().counted_after(None, 10).await.unwrap(), []);
    assert_sound(&harness).await;
}

async fn counted_articles_are_listed_without_gap_or_overlap<H: ViewStoreHarness>(harness: H) {
    let store = harness.store();
    store.write_back((1..=25).map(|raw| back(raw * 3, 1)).collect()).await.unwrap();
    let (mut after, mut seen) = (None, Vec::new());
    loop {
        let slice = store.counted_after(after, 10).await.unwrap();
        assert!(slice.len() <= 10);
        let Some(last) = slice.last() else { break };
        after = Some(*last);
        seen.extend(slice);
    }
    assert_eq!(seen, (1..=25).map(|raw| id(raw * 3)).collect::<Vec<_>>());
}

fn id(raw: i64) -> ArticleId {
    ArticleId::from_raw(raw)
}

fn back(raw: i64, view_count: u64) -> WriteBack {
    WriteBack { article_id: id(raw), view_count, event_id: EventId::from_raw(raw * 10_000 + view_count as i64 + 1) }
}

async fn write<H: ViewStoreHarness>(harness: &H, raw: i64, view_count: u64) -> StoredViews {
    let answers = harness.store().write_back(vec![back(raw, view_count)]).await.unwrap();
    assert_eq!((answers.len(), answers[0].article_id), (1, id(raw)));
    answers[0].stored
}

/// The (version, count) pairs reported of each article, in commit order.
async fn reported<H: ViewStoreHarness>(harness: &H) -> HashMap<ArticleId, Vec<(u64, u64)>> {
    let mut reported: HashMap<_, Vec<_>> = HashMap::new();
    for message in harness.committed().await {
        let envelope = Envelope::decode(&message.payload).unwrap();
        let Event::ArticleViewed(views) = envelope.event else { panic!("only views are written") };
        assert_eq!(views.article_id, envelope.key);
        reported.entry(envelope.key).or_default().push((envelope.version, views.view_count));
    }
    reported
}

async fn assert_sound<H: ViewStoreHarness>(harness: &H) {
    assert_eq!(harness.differences().await, Vec::<String>::new());
}
