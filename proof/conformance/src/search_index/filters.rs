//! Lists: what filters leave, and that a list goes on where it ended.

use madang_board::{BoardId, MemberId};
use madang_kernel::{Id, Timestamp};
use madang_search::{Change, Document, Filters, Kind, Order};

use super::SearchIndexHarness;
use super::site::{Site, article, put, put_comment};

pub(super) async fn lists_go_on_where_they_ended_without_gap_or_repetition<H: SearchIndexHarness>(harness: H) {
    let site = Site::open(harness).await;
    // Many of them score the same.
    let changes = (1..=200).map(|number| put(number, 1, "제목", if number % 3 == 0 { "마당 마당" } else { "마당" }));
    site.apply(changes.collect()).await;
    for order in [Order::Newest, Order::Relevance] {
        let whole = site.all("마당", Filters::default(), order, 50).await;
        for limit in [1, 7, 49] {
            assert_eq!(site.all("마당", Filters::default(), order, limit).await, whole, "in steps of {limit}");
        }
        let mut ids = whole.clone();
        ids.sort_unstable();
        assert_eq!(ids, (1..=200).collect::<Vec<_>>());
    }
    assert_eq!(site.newest("마당").await, (1..=200).rev().collect::<Vec<_>>());
}

pub(super) async fn filters_leave_what_they_name<H: SearchIndexHarness>(harness: H) {
    let site = Site::open(harness).await;
    let mut elsewhere = article(20, 1, "마당", "글");
    elsewhere.board_id = BoardId::from_raw(2);
    let elsewhere = Change::Put(Box::new(Document::of_article(&elsewhere)));
    site.apply(vec![
        put(10, 1, "마당", "글"),
        elsewhere,
        put_comment(30, 10, 1, "마당에서"),
        put(40, 1, "다른 것", "글"),
    ])
    .await;
    let none = Filters::default();
    let at = |millis| Some(Timestamp::from_millis(millis));
    for (filters, expected) in [
        (none, vec![30, 20, 10]),
        (Filters { kind: Some(Kind::Article), ..none }, vec![20, 10]),
        (Filters { kind: Some(Kind::Comment), ..none }, vec![30]),
        (Filters { board_id: Some(BoardId::from_raw(1)), ..none }, vec![30, 10]),
        (Filters { board_id: Some(BoardId::from_raw(3)), ..none }, vec![]),
        (Filters { writer_id: Some(MemberId::from_raw(2)), ..none }, vec![30]),
        (Filters { since: at(20), ..none }, vec![30, 20]),
        (Filters { until: at(20), ..none }, vec![10]),
        (Filters { since: at(20), until: at(30), kind: Some(Kind::Article), ..none }, vec![20]),
    ] {
        for order in [Order::Newest, Order::Relevance] {
            let mut found = site.all("마당", filters, order, 2).await;
            found.sort_unstable_by(|one, other| other.cmp(one));
            assert_eq!(found, expected, "{filters:?} {order:?}");
        }
    }
}
