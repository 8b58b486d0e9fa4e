//! A cluster of the version before opens unchanged. `tests/version_before` holds its six databases, as `mariadb-dump` wrote them
//! after that version had served a small site: a board with articles, comments, likes and views.

use madang_board::{CommentId, MemberId, Role};
use madang_comment::{CommentStore as _, EditComment, EditOutcome};
use madang_kernel::{EventId, Id as _, Timestamp};
use madang_member::{CreateMember, Member, MemberStore as _, NewMember, name_skeleton};
use madang_mysql::{MysqlCheck, MysqlComments, MysqlMembers, Service};

use crate::support::TestDb;

const DUMPS: [(Service, &str, u64); 6] = [
    (Service::Member, include_str!("../version_before/member.sql"), 0),
    (Service::Article, include_str!("../version_before/article.sql"), 1),
    (Service::Comment, include_str!("../version_before/comment.sql"), 1),
    (Service::Like, include_str!("../version_before/like.sql"), 1),
    (Service::View, include_str!("../version_before/view.sql"), 1),
    (Service::HotArticle, include_str!("../version_before/hot_article.sql"), 0),
];

/// The rows that the dump inserts into a table, counted by their parentheses at the start of a line.
fn dumped_rows(dump: &str, table: &str) -> usize {
    let values = dump.split(&format!("INSERT INTO `{table}` VALUES")).nth(1).unwrap_or_default();
    values.split(";\n").next().unwrap_or_default().lines().filter(|line| line.starts_with('(')).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_of_the_version_before_keeps_what_is_in_it() {
    for (service, dump, rows_at_least) in DUMPS {
        let test = TestDb::restored(service, dump).await;
        let report = MysqlCheck::new(service, &test.db).run(|_| {}).await.unwrap();
        assert!(report.is_sound() && report.rows() >= rows_at_least, "{service:?}: {:?}", report.findings);
        for history in ["schema_backbone", "schema_history"] {
            let applied = test.rows::<String>(&format!("SELECT checksum FROM {history} ORDER BY version")).await;
            let before = dumped_rows(dump, history);
            assert!(before > 0 && applied.len() >= before, "{service:?}: {history}");
            assert!(
                applied[..before].iter().all(|step| dump.contains(step.as_str())),
                "{service:?}: {history} is as it was"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn members_from_before_skeletons_keep_their_names_and_nobody_else_gets_their_looks() {
    let [(service, dump, _), ..] = DUMPS;
    let row = "INSERT INTO `member` VALUES\n";
    let look_alike = "(0,2,'rооt_аdmin','rооt_аdmin','member','h',1,NULL),\n";
    let test = TestDb::restored(service, &dump.replace(row, &format!("{row}{look_alike}"))).await;
    let members = MysqlMembers::new(test.db.clone());
    assert_eq!(members.give_skeletons(10).await.unwrap(), 2);
    assert_eq!(members.give_skeletons(10).await.unwrap(), 0, "and none is left");
    for name in ["root_admin", "rооt_аdmin"] {
        assert!(members.find_credentials(name).await.unwrap().is_some(), "{name}");
    }
    let created_at = Timestamp::from_millis(1);
    let member = Member { member_id: MemberId::from_raw(3), name: "r00t_admin".into(), role: Role::Member, created_at };
    let (name_key, skeleton) = ("r00t_admin".to_owned(), name_skeleton("r00t_admin"));
    let new = NewMember { member, name_key, skeleton, password_hash: "h".into() };
    assert_eq!(members.create(new).await.unwrap(), CreateMember::NameTaken);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_people_wrote_is_there_after_the_upgrade() {
    let [_, (article, dump, _), (comment, comments, _), ..] = DUMPS;
    let articles = TestDb::restored(article, dump).await;
    assert_eq!(articles.rows::<String>("SELECT title FROM article ORDER BY article_id").await, ["First", "Second"]);
    let comments = TestDb::restored(comment, comments).await;
    assert_eq!(comments.rows::<String>("SELECT content FROM comment ORDER BY comment_id").await, ["Hello", "Welcome"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_comment_from_before_versions_is_at_its_first_and_can_be_corrected() {
    let [_, _, (service, dump, _), ..] = DUMPS;
    let test = TestDb::restored(service, dump).await;
    let ids = test.rows::<i64>("SELECT comment_id FROM comment ORDER BY comment_id").await;
    let comment_id = CommentId::from_raw(ids[0]);
    let comments = MysqlComments::new(test.db.clone());
    let found = comments.find(comment_id).await.unwrap().unwrap();
    assert_eq!((found.version, found.modified_at), (1, found.created_at));
    let edit = EditComment {
        comment_id,
        content: "Hello again".into(),
        content_html: "<p>Hello again</p>\n".into(),
        modified_at: Timestamp::from_millis(found.created_at.as_millis() + 5),
        expected_version: Some(1),
        event_id: EventId::from_raw(ids[0] + 1),
        act: None,
    };
    let EditOutcome::Edited(edited) = comments.edit(edit).await.unwrap() else { panic!("must be edited") };
    assert_eq!((edited.version, edited.writer.clone()), (2, found.writer));
    assert_eq!(comments.find(comment_id).await.unwrap(), Some(edited));
}
