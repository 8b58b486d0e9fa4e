//! What every [`ModerationStore`] must do: a report is kept and settled once, and every act of a moderator is told with the
//! change it belongs to.

use std::future::Future;
use std::sync::Arc;

use madang_board::{
    Act, ActId, ActKind, Actor, ArticleId, BoardId, CommentId, MemberId, Report, ReportId, Reported, Resolution, Role,
};
use madang_kernel::{Id, PageSize, Timestamp};
use madang_member::{
    Change, ChangeMember, ChangeOutcome, Member, MemberStore, ModerationStore, NewMember, NewReport, ResolveReport,
};

/// An adapter under test.
pub trait ModerationStoreHarness: Send + Sync + Sized + 'static {
    /// An empty store of its own.
    fn fresh() -> impl Future<Output = Self> + Send;
    /// The store.
    fn store(&self) -> Arc<dyn ModerationStore>;
    /// The members beside it, whose changes it tells of.
    fn members(&self) -> Arc<dyn MemberStore>;
}

listed_suite! {
    $ moderation_store_suite, moderation_store, ModerationStoreHarness;
    a_report_is_found_as_it_was_made,
    a_reporter_reports_one_thing_once,
    reports_are_listed_newest_first_by_their_state,
    what_is_reported_on_a_board_is_listed_by_itself,
    a_report_is_settled_once_with_its_act,
    a_change_of_a_member_and_its_act_commit_together,
}

async fn a_report_is_found_as_it_was_made<H: ModerationStoreHarness>(harness: H) {
    let store = harness.store();
    for report in [report(1, Reported::Article(ArticleId::from_raw(9)), 3), report(2, comment(9), 3)] {
        assert_eq!(store.report(NewReport { report: report.clone() }).await.unwrap(), report);
        assert_eq!(store.find_report(report.report_id).await.unwrap(), Some(report));
    }
    assert_eq!(store.find_report(ReportId::from_raw(99)).await.unwrap(), None);
}

async fn a_reporter_reports_one_thing_once<H: ModerationStoreHarness>(harness: H) {
    let store = harness.store();
    let first = report(1, comment(9), 3);
    store.report(NewReport { report: first.clone() }).await.unwrap();
    assert_eq!(store.report(NewReport { report: report(2, comment(9), 3) }).await.unwrap(), first);
    assert_eq!(store.find_report(ReportId::from_raw(2)).await.unwrap(), None);
    let others = report(3, comment(9), 4);
    assert_eq!(store.report(NewReport { report: others.clone() }).await.unwrap(), others);
}

async fn reports_are_listed_newest_first_by_their_state<H: ModerationStoreHarness>(harness: H) {
    let store = harness.store();
    for id in 1..=7 {
        store.report(NewReport { report: report(id, comment(100 + id), 3) }).await.unwrap();
    }
    for id in [2, 5] {
        store.resolve(resolve(id, 1_000 + id)).await.unwrap();
    }
    for size in [1, 2, 5, 100] {
        assert_eq!(listed(&store, true, size).await, [7, 6, 4, 3, 1], "in steps of {size}");
        assert_eq!(listed(&store, false, size).await, [5, 2], "in steps of {size}");
    }
}

async fn what_is_reported_on_a_board_is_listed_by_itself<H: ModerationStoreHarness>(harness: H) {
    let store = harness.store();
    for id in 1..=6 {
        let board_id = BoardId::from_raw(5 + id % 2);
        store.report(NewReport { report: Report { board_id, ..report(id, comment(100 + id), 3) } }).await.unwrap();
    }
    store.resolve(resolve(4, 1_000)).await.unwrap();
    let on = async |board: i64, open: bool, before: Option<i64>| {
        let (board, before) = (Some(BoardId::from_raw(board)), before.map(ReportId::from_raw));
        let found = store.reports(open, board, before, size(2)).await.unwrap();
        found.items.iter().map(|report| report.report_id.raw()).collect::<Vec<_>>()
    };
    assert_eq!(on(5, true, None).await, [6, 2]);
    assert_eq!(on(5, false, None).await, [4]);
    assert_eq!((on(6, true, None).await, on(6, true, Some(3)).await), (vec![5, 3], vec![1]));
    assert!(on(7, true, None).await.is_empty());
}

async fn a_report_is_settled_once_with_its_act<H: ModerationStoreHarness>(harness: H) {
    let store = harness.store();
    let open = report(1, comment(9), 3);
    store.report(NewReport { report: open.clone() }).await.unwrap();
    let first = resolve(1, 500);
    let settled = store.resolve(first.clone()).await.unwrap().unwrap();
    assert_eq!(settled, Report { resolution: Some(first.resolution.clone()), ..open });
    assert_eq!(store.resolve(resolve(1, 501)).await.unwrap(), Some(settled), "it stays as it was settled");
    assert_eq!(store.resolve(resolve(99, 502)).await.unwrap(), None);
    let acts = store.acts(None, None, size(10)).await.unwrap();
    assert_eq!((acts.items, acts.next), (vec![first.act], None));
}

async fn a_change_of_a_member_and_its_act_commit_together<H: ModerationStoreHarness>(harness: H) {
    let (store, members) = (harness.store(), harness.members());
    let member = Member {
        member_id: MemberId::from_raw(1),
        name: "ann".into(),
        role: Role::Admin,
        created_at: Timestamp::from_millis(1),
    };
    let new = NewMember { member, name_key: "ann".into(), skeleton: "ann".into(), password_hash: "$argon2id$".into() };
    members.create(new).await.unwrap();
    let mut expected = Vec::new();
    for id in 1..=5 {
        let act =
            by_ann(Act { board_id: Some(BoardId::from_raw(id)), ..act(700 + id, ActKind::ModeratorAppointed, 1) });
        let change = Change::Appoint(BoardId::from_raw(id));
        expected.insert(0, act.clone());
        assert!(matches!(members.change(with(change, act)).await.unwrap(), ChangeOutcome::Changed(_)));
    }
    let refused = with(Change::Role(Role::Member), by_ann(act(800, ActKind::RoleGiven, 1)));
    assert!(matches!(members.change(refused).await.unwrap(), ChangeOutcome::Refused(_)));
    let first = store.acts(None, None, size(3)).await.unwrap();
    let rest = store.acts(None, first.next, size(3)).await.unwrap();
    let third = Some(BoardId::from_raw(3));
    assert_eq!(store.acts(third, None, size(3)).await.unwrap().items, [expected[2].clone()], "those of one board");
    assert_eq!(store.acts(third, Some(expected[2].act_id), size(3)).await.unwrap().items, []);
    assert_eq!(([first.items, rest.items].concat(), rest.next), (expected, None), "what was refused is not told");
}

/// The administrator's doing.
fn by_ann(act: Act) -> Act {
    Act { moderator_id: MemberId::from_raw(1), ..act }
}

fn with(change: Change, act: Act) -> ChangeMember {
    ChangeMember { member_id: MemberId::from_raw(1), change, changed_at: act.acted_at, act: Some(act) }
}

async fn listed(store: &Arc<dyn ModerationStore>, open: bool, step: u32) -> Vec<i64> {
    let (mut listed, mut before) = (Vec::new(), None);
    loop {
        let found = store.reports(open, None, before, size(step)).await.unwrap();
        listed.extend(found.items.iter().map(|report| report.report_id.raw()));
        before = found.next;
        if before.is_none() {
            return listed;
        }
    }
}

fn size(size: u32) -> PageSize {
    PageSize::new("limit", i64::from(size)).unwrap()
}

fn comment(id: i64) -> Reported {
    Reported::Comment(CommentId::from_raw(id))
}

fn report(id: i64, reported: Reported, reporter: i64) -> Report {
    Report {
        report_id: ReportId::from_raw(id),
        reported,
        article_id: ArticleId::from_raw(9),
        board_id: BoardId::from_raw(5),
        reporter_id: MemberId::from_raw(reporter),
        reporter_name: "신고자".into(),
        reason: format!("spam {id} 🌳"),
        reported_at: Timestamp::from_millis(1_750_000_000_000 + id),
        resolution: None,
    }
}

fn resolve(report: i64, act_id: i64) -> ResolveReport {
    let resolved_at = Timestamp::from_millis(1_750_000_001_000);
    let resolution = Resolution { moderator_id: MemberId::from_raw(8), note: format!("done {act_id}"), resolved_at };
    let act = Act { reason: resolution.note.clone(), ..act(act_id, ActKind::ReportResolved, report) };
    ResolveReport { report_id: ReportId::from_raw(report), resolution, act }
}

fn act(id: i64, kind: ActKind, subject: i64) -> Act {
    let moderator = Actor::new(MemberId::from_raw(8), "관리자", Role::Moderator);
    Act::of(&moderator, ActId::from_raw(id), kind, subject, Timestamp::from_millis(1_750_000_001_000))
}
