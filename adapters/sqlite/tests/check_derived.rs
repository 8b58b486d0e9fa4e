//! A check finds what consumer groups keep and should not, or have otherwise than its source; not what they have yet to hear.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;
use madang_article::{Article, ArticleStore, Board, CommentMode, CreateArticle, DeleteArticle, NewBoard};
use madang_board::check::{ArticlePart, CheckFinding, CheckReport, HotFinding};
use madang_board::{ArticleId, BoardId, CommentId, MemberId};
use madang_comment::{CommentStore, CreateComment, CreateOutcome, DepthMax};
use madang_event::{Topic, Writer};
use madang_hot_article::{HotConsumer, Progress, SiteDays};
use madang_kernel::{EventId, ID_EPOCH_MS, Id, SystemClock, Timestamp};
use madang_like::{Like, LikeOutcome, LikeStore};
use madang_messaging::{Consumer, ConsumerConfig, GroupId, OnError, Supervisor};
use madang_sqlite::{
    CheckDerived, CheckOptions, Priority, SqliteArticles, SqliteComments, SqliteHot, SqliteLikes, SqliteLog,
    SqliteProgress, SqliteViews, Tx,
};
use madang_view::{ViewStore, WriteBack};
use support::{TestDb, broken};

/// The clock of a test database: 2027-01-15T08:00Z.
const NOW_MS: i64 = 1_800_000_000_000;
/// Far longer than anything here takes, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// The groups that clean up.
const CLEANERS: [&str; 3] = ["comment", "like", "view"];

#[tokio::test]
async fn a_site_whose_groups_have_heard_everything_is_sound() {
    let site = Site::heard().await;
    let report = site.check().await;
    assert_eq!((report.findings, report.left_out), (vec![], vec![]));
    assert_eq!((report.comments, report.likes, report.view_counts, report.hot_scores), (2, 2, 2, 2));
    assert_eq!(report.hot_sources, 6, "three counters of each article");
}

#[tokio::test]
async fn parts_of_an_article_that_nobody_knows_are_found() {
    let without = |part| CheckFinding::WithoutArticle { article_id: article(9), part };
    for (damage, part) in [
        (
            "INSERT INTO article_comment_count (article_id, comment_count, row_count, version, greatest_id, locked) VALUES (?1, 0, 0, 2, 0, 0)",
            ArticlePart::Comments,
        ),
        ("INSERT INTO article_like_count VALUES (?1, 0, 2)", ArticlePart::Likes),
        ("INSERT INTO article_view_count VALUES (?1, 5, 2)", ArticlePart::Views),
    ] {
        let site = Site::heard().await;
        site.damage(damage, 9).await;
        let found = site.check().await.findings;
        assert!(found.contains(&without(part)), "{damage}: {found:?}");
    }
}

#[tokio::test]
async fn a_mark_of_a_deletion_on_an_article_that_is_there_is_found() {
    for (damage, part) in [
        ("INSERT INTO comment_article_gone (article_id, gone_at) VALUES (?1, 1)", ArticlePart::Comments),
        ("INSERT INTO like_article_gone (article_id) VALUES (?1)", ArticlePart::Likes),
        ("INSERT INTO view_article_gone (article_id) VALUES (?1)", ArticlePart::Views),
    ] {
        let site = Site::heard().await;
        site.damage(damage, 1).await;
        let found = site.check().await.findings;
        let marked = CheckFinding::MarkedAsGone { article_id: article(1), part };
        assert!(found.contains(&marked), "{damage}: {found:?}");
    }
}

#[tokio::test]
async fn parts_that_wait_for_a_group_are_no_difference() {
    let site = Site::heard().await;
    site.delete(1).await;
    assert_eq!(site.check().await.findings, [], "nobody has heard of the deletion");
    site.at_head("like").await;
    let found = site.check().await.findings;
    assert_eq!(found, [CheckFinding::WithoutArticle { article_id: article(1), part: ArticlePart::Likes }]);
    site.damage("INSERT INTO like_article_gone (article_id) VALUES (?1)", 1).await;
    assert_eq!(site.check().await.findings, [], "it is marked, so its likes wait to be cleaned up");
}

#[tokio::test]
async fn a_group_that_cannot_be_judged_is_named() {
    let site = Site::heard().await;
    site.damage("UPDATE log_group SET fell_behind = 1 WHERE group_name = 'like' AND ?1 > 0", 1).await;
    site.damage("DELETE FROM log_group WHERE group_name = 'hot-article' AND ?1 > 0", 1).await;
    site.damage("INSERT INTO article_like_count VALUES (?1, 0, 2)", 9).await;
    let report = site.check().await;
    assert_eq!(report.findings, []);
    assert_eq!(
        report.left_out,
        [
            "likes of articles that are gone: group like fell behind and is being rebuilt",
            "scores with the counters of today: group hot-article has not joined the log",
        ]
    );
}

#[tokio::test]
async fn scores_that_differ_from_their_counters_are_found() {
    let article_id = article(1);
    let source = |part, scored, counted| CheckFinding::Hot(HotFinding::Source { article_id, part, scored, counted });
    for (damage, expected) in [
        (
            "UPDATE hot_score SET like_version = 0 WHERE article_id = ?1",
            vec![source(ArticlePart::Likes, Some((1, 0)), Some((1, 1)))],
        ),
        (
            "UPDATE hot_score SET comment_count = 7, score = score + 12 WHERE article_id = ?1",
            vec![source(ArticlePart::Comments, Some((7, 1)), Some((1, 1)))],
        ),
        (
            "UPDATE hot_score SET view_version = 9 WHERE article_id = ?1",
            vec![source(ArticlePart::Views, Some((6, 9)), Some((6, 1)))],
        ),
        (
            "DELETE FROM hot_score WHERE article_id = ?1",
            vec![
                source(ArticlePart::Likes, None, Some((1, 1))),
                source(ArticlePart::Comments, None, Some((1, 1))),
                source(ArticlePart::Views, None, Some((6, 1))),
            ],
        ),
        (
            "UPDATE hot_score SET deleted = 1, score = 0 WHERE article_id = ?1",
            vec![CheckFinding::Hot(HotFinding::Presence { article_id, is_there: true })],
        ),
    ] {
        let site = Site::heard().await;
        site.damage(damage, 1).await;
        assert_eq!(site.check().await.findings, expected, "{damage}");
    }
    let site = Site::heard().await;
    site.damage("DELETE FROM article_view_count WHERE article_id = ?1", 1).await;
    let found = site.check().await.findings;
    assert!(found.contains(&source(ArticlePart::Views, Some((6, 1)), None)), "{found:?}");
    let site = Site::heard().await;
    site.damage("DELETE FROM article WHERE article_id = ?1", 1).await;
    let found = site.check().await.findings;
    let gone = CheckFinding::Hot(HotFinding::Presence { article_id, is_there: false });
    assert!(found.contains(&gone), "{found:?}");
}

#[tokio::test]
async fn scores_are_compared_only_where_their_group_has_heard_everything() {
    let site = Site::heard().await;
    site.like(1, 20).await;
    assert_eq!(site.check().await.findings, [], "the like is in the counter, and its event waits");
    site.damage("UPDATE hot_score SET view_count = view_count - 1, score = score - 1 WHERE article_id = ?1", 2).await;
    let found = site.check().await.findings;
    assert!(
        matches!(found[..], [CheckFinding::Hot(HotFinding::Source { article_id, part: ArticlePart::Views, .. })]
            if article_id == article(2)),
        "another article's events do not hide it: {found:?}"
    );
}

#[tokio::test]
async fn counters_that_went_on_after_their_day_are_no_difference() {
    let site = Site::heard().await;
    site.test.clock.advance(Duration::from_secs(86_400));
    site.like(1, 20).await;
    site.consume().await;
    assert_eq!(site.check().await.findings, []);
}

#[tokio::test]
async fn scores_of_another_time_zone_are_no_difference() {
    let site = Site::heard().await;
    // In Kiritimati the articles are of the same day; in Niue it is still the day before.
    let report = site.check_in("Pacific/Niue").await;
    assert_eq!((report.findings, report.hot_sources), (vec![], 6));
}

struct Site {
    test: TestDb,
    days: SiteDays,
}

impl Site {
    /// Two articles of today, each with a like, a comment and views, and groups that have heard of all of it.
    async fn heard() -> Self {
        let site = Self { test: TestDb::fresh(), days: SiteDays::new(TimeZone::UTC) };
        let store = SqliteArticles::new(site.test.db.clone());
        store.create_board(NewBoard { board: board(), idempotency: None }).await.unwrap();
        for number in [1, 2] {
            store.create(new_article(number)).await.unwrap();
            site.like(number, 10).await;
            site.comment(number).await;
            let view_count = number.cast_unsigned() + 5;
            let written = WriteBack { article_id: article(number), view_count, event_id: EventId::from_raw(3) };
            SqliteViews::new(site.test.db.clone()).write_back(vec![written]).await.unwrap();
        }
        let log = SqliteLog::new(site.test.db.clone());
        let article_topic = [Topic::Article.name().to_owned()];
        for group in CLEANERS {
            log.register_group_at_head(&GroupId::new(group), &article_topic).await.unwrap();
        }
        site.consume().await;
        site
    }

    async fn like(&self, number: i64, member: i64) {
        let member = Writer { member_id: MemberId::from_raw(member), name: "m".into() };
        let (created_at, event_id) = (Timestamp::from_millis(NOW_MS), EventId::from_raw(4));
        let like = Like { article_id: article(number), member, created_at, event_id };
        let outcome = SqliteLikes::new(self.test.db.clone()).like(like).await.unwrap();
        assert!(matches!(outcome, LikeOutcome::Done(answer) if answer.changed));
    }

    async fn comment(&self, number: i64) {
        let new = CreateComment {
            despite_lock: false,
            comment_id: CommentId::from_raw(number),
            article_id: article(number),
            board_id: BoardId::from_raw(1),
            parent_id: None,
            mode: CommentMode::TwoLevel,
            depth_max: DepthMax::DEFAULT,
            content: "c".into(),
            content_html: "<p>c</p>\n".into(),
            writer: Writer { member_id: MemberId::from_raw(1), name: "w".into() },
            created_at: Timestamp::from_millis(NOW_MS),
            event_id: EventId::from_raw(5),
            idempotency: None,
        };
        let outcome = SqliteComments::new(self.test.db.clone()).create(new).await.unwrap();
        assert!(matches!(outcome, CreateOutcome::Created(_)));
    }

    async fn delete(&self, number: i64) {
        let delete = DeleteArticle {
            article_id: article(number),
            expected_version: None,
            event_id: EventId::from_raw(6),
            act: None,
        };
        SqliteArticles::new(self.test.db.clone()).delete(delete).await.unwrap();
    }

    /// Runs the group of the scores until it has heard everything.
    async fn consume(&self) {
        let (db, group) = (&self.test.db, GroupId::new("hot-article"));
        let store = Arc::new(SqliteHot::new(db.clone()));
        let handler = HotConsumer::new(store, self.test.clock.clone(), self.days.clone(), group.clone());
        let topics = Topic::ALL.map(|topic| topic.name().to_owned()).to_vec();
        let config = ConsumerConfig::new(group.clone(), topics);
        let log = Arc::new(SqliteLog::new(db.clone()));
        let consumer = Consumer::new(config, log, Arc::new(handler), Arc::new(SystemClock));
        let supervisor = Supervisor::new("test");
        supervisor.spawn("hot-article", OnError::Restart, move |stop| consumer.clone().run(stop));
        let progress = SqliteProgress::new(db.clone(), group);
        let heard = async {
            let mut ticks = tokio::time::interval(Duration::from_millis(5));
            while !progress.caught_up(Timestamp::from_millis(i64::MAX)).await.unwrap() {
                ticks.tick().await;
            }
        };
        tokio::time::timeout(PATIENCE, heard).await.expect("everything is heard in time");
        assert!(supervisor.shutdown(PATIENCE).await.aborted.is_empty());
    }

    /// Has a group claim that it has done everything.
    async fn at_head(&self, group: &'static str) {
        let done = "UPDATE log_group SET done = (SELECT max(position) FROM event_log) WHERE group_name = ?1";
        let claim = move |tx: &Tx| tx.execute(done, [group]).map_err(broken);
        assert_eq!(self.test.db.write(Priority::Foreground, claim).await.unwrap(), 1);
    }

    /// Changes what belongs to an article behind everybody's back.
    async fn damage(&self, sql: &'static str, number: i64) {
        let damage = move |tx: &Tx| tx.execute(sql, [article(number).raw()]).map_err(broken);
        assert!(self.test.db.write(Priority::Foreground, damage).await.unwrap() > 0, "{sql}");
    }

    async fn check(&self) -> CheckReport {
        self.check_in("UTC").await
    }

    async fn check_in(&self, zone: &str) -> CheckReport {
        let derived = CheckDerived {
            comment_group: GroupId::new("comment"),
            like_group: GroupId::new("like"),
            view_group: GroupId::new("view"),
            hot_group: GroupId::new("hot-article"),
            days: SiteDays::new(TimeZone::get(zone).unwrap()),
        };
        let options = CheckOptions { derived: Some(derived), ..CheckOptions::default() };
        madang_sqlite::check(&self.test.db, options, |_| {}).await.unwrap()
    }
}

/// An article that was created now.
fn article(number: i64) -> ArticleId {
    ArticleId::from_raw((NOW_MS - ID_EPOCH_MS) << 22 | number)
}

fn board() -> Board {
    Board {
        board_id: BoardId::from_raw(1),
        slug: "board".into(),
        title: "Board".into(),
        comment_mode: CommentMode::TwoLevel,
        description: String::new(),
        position: 0,
        created_at: Timestamp::from_millis(0),
    }
}

fn new_article(number: i64) -> CreateArticle {
    let article = Article {
        article_id: article(number),
        board_id: BoardId::from_raw(1),
        title: "t".into(),
        content: "c".into(),
        content_html: "<p>c</p>".into(),
        writer: Writer { member_id: MemberId::from_raw(1), name: "w".into() },
        created_at: Timestamp::from_millis(NOW_MS),
        modified_at: Timestamp::from_millis(NOW_MS),
        version: 1,
    };
    CreateArticle { article, event_id: EventId::from_raw(number), idempotency: None }
}
