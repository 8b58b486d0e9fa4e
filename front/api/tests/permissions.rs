//! Every call of the contract, by everybody who might send it, about their own and about what others wrote: who may, and
//! what the others are told.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use madang_kernel::Role;
use support::board_site::BoardSite;

/// Who may send a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Who {
    Anybody,
    /// Whoever is signed in, also while suspended: one's own account.
    SignedIn,
    /// Members who are not suspended.
    Member,
    AuthorOrModerator,
    /// A moderator of the board, or of the site.
    Moderator,
    SiteModerator,
    Admin,
}

/// Method and path, a body, the status of success, who may.
type Call = (&'static str, &'static str, u16, Who);

const DRAFT: &str = r#"{"title":"t","content":"c"}"#;
const REASON: &str = r#"{"reason":"spam"}"#;

/// The contract, in an order in which nothing is missing before it is needed.
const CALLS: [Call; 43] = [
    ("POST /members", r#"{"name":"new_{n}","password":"correct horse"}"#, 201, Who::Anybody),
    ("POST /sessions", r#"{"name":"root","password":"correct horse"}"#, 201, Who::Anybody),
    ("GET /members/me", "", 200, Who::SignedIn),
    ("GET /members/{target}", "", 200, Who::Anybody),
    ("GET /members/{target}/articles", "", 200, Who::Anybody),
    ("GET /members/{target}/comments", "", 200, Who::Anybody),
    ("GET /boards", "", 200, Who::Anybody),
    ("GET /boards/{board}", "", 200, Who::Anybody),
    ("GET /boards/{board}/articles", "", 200, Who::Anybody),
    ("GET /boards/{board}/articles/count", "", 200, Who::Anybody),
    ("GET /articles/{article}", "", 200, Who::Anybody),
    ("GET /articles/{article}/comments", "", 200, Who::Anybody),
    ("GET /articles/{article}/comments/count", "", 200, Who::Anybody),
    ("GET /comments/{comment}", "", 200, Who::Anybody),
    ("GET /articles/{article}/like", "", 200, Who::Anybody),
    ("GET /articles/{article}/likes", "", 200, Who::Anybody),
    ("GET /articles/{article}/views", "", 200, Who::Anybody),
    ("POST /articles/{article}/views", "", 200, Who::Anybody),
    ("GET /hot-articles", "", 200, Who::Anybody),
    ("POST /boards", r#"{"slug":"board-{n}","title":"t","comment_mode":"tree"}"#, 201, Who::Admin),
    ("POST /boards/{board}/articles", DRAFT, 201, Who::Member),
    ("POST /articles/{article}/comments", r#"{"content":"c"}"#, 201, Who::Member),
    ("PUT /articles/{article}/like", "", 200, Who::Member),
    ("DELETE /articles/{article}/like", "", 200, Who::Member),
    ("POST /articles/{article}/reports", REASON, 201, Who::Member),
    ("POST /comments/{comment}/reports", REASON, 201, Who::Member),
    ("GET /reports", "", 200, Who::SiteModerator),
    ("GET /reports?open=false", "", 200, Who::SiteModerator),
    ("PUT /reports/{report}/resolution", r#"{"note":"done"}"#, 200, Who::Moderator),
    ("PUT /reports/{report}/resolution", "", 200, Who::Moderator),
    ("GET /moderation/log", "", 200, Who::SiteModerator),
    ("PUT /articles/{article}", DRAFT, 200, Who::AuthorOrModerator),
    ("DELETE /comments/{comment}", REASON, 204, Who::AuthorOrModerator),
    ("DELETE /articles/{article}", REASON, 204, Who::AuthorOrModerator),
    (
        "PUT /members/{target}/suspension",
        r#"{"until":"2099-01-01T00:00:00Z","reason":"spam"}"#,
        200,
        Who::SiteModerator,
    ),
    ("DELETE /members/{target}/suspension", "", 204, Who::SiteModerator),
    ("PUT /members/{target}/role", r#"{"role":"moderator"}"#, 200, Who::Admin),
    ("PUT /members/{target}/role", r#"{"role":"member"}"#, 200, Who::Admin),
    ("PUT /boards/{board}/moderators/{target}", "", 204, Who::Admin),
    ("DELETE /boards/{board}/moderators/{target}", "", 204, Who::Admin),
    ("PUT /members/me/password", r#"{"current":"correct horse","new":"correct horse"}"#, 204, Who::SignedIn),
    ("GET /articles/{other_article}/like", "", 200, Who::Anybody),
    ("DELETE /sessions/current", "", 204, Who::SignedIn),
];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sender {
    Guest,
    Member,
    BoardModerator,
    OtherBoardModerator,
    Moderator,
    Admin,
}

fn expected(sender: Sender, suspended: bool, own: bool, (_, _, ok, who): &Call) -> u16 {
    let site = matches!(sender, Sender::Moderator | Sender::Admin);
    let moderates = site || sender == Sender::BoardModerator;
    let may = match who {
        Who::Anybody => return *ok,
        _ if sender == Sender::Guest => return 401,
        Who::SignedIn => return *ok,
        _ if suspended => false,
        Who::Member => true,
        Who::AuthorOrModerator => own || moderates,
        Who::Moderator => moderates,
        Who::SiteModerator => site,
        Who::Admin => sender == Sender::Admin,
    };
    if may { *ok } else { 403 }
}

/// What a row of the table is about.
struct Scene {
    sender: Option<String>,
    board: String,
    article: String,
    other_article: String,
    comment: String,
    report: String,
    target: String,
    number: usize,
}

impl Scene {
    async fn set(site: &BoardSite, sender: Sender, suspended: bool, own: bool, number: usize) -> Self {
        let author = site.bearer(&format!("author_{number}")).await;
        let target = site.register(&format!("target_{number}"), Role::Member).await.0;
        let other_board = format!(r#"{{"slug":"other-{number}","title":"t","comment_mode":"tree"}}"#);
        let other_board =
            last(site.by(&site.admin, "POST /api/v1/boards", &other_board).await.assert(201).header("location"));
        let role = match sender {
            Sender::Moderator => Role::Moderator,
            Sender::Admin => Role::Admin,
            _ => Role::Member,
        };
        let (id, who) = site.register(&format!("sender_{number}"), role).await;
        let board = match sender {
            Sender::BoardModerator => Some(site.board.clone()),
            Sender::OtherBoardModerator => Some(other_board),
            _ => None,
        };
        if let Some(board) = board {
            site.by(&site.admin, &format!("PUT /api/v1/boards/{board}/moderators/{id}"), "").await.assert(204);
        }
        let writer = if own { &who } else { &author };
        let article = last(&site.article(writer).await);
        let line = format!("POST /api/v1/articles/{article}/comments");
        let comment = last(site.by(writer, &line, r#"{"content":"c"}"#).await.assert(201).header("location"));
        let line = format!("POST /api/v1/comments/{comment}/reports");
        let report =
            site.by(&site.admin, &line, REASON).await.assert(201).json()["report_id"].as_str().unwrap().to_owned();
        let other_article = last(&site.article(&author).await);
        if suspended {
            let until = r#"{"until":"2099-01-01T00:00:00Z","reason":"test"}"#;
            site.by(&site.admin, &format!("PUT /api/v1/members/{id}/suspension"), until).await.assert(200);
        }
        let sender = (sender != Sender::Guest).then_some(who);
        Self { sender, board: site.board.clone(), article, other_article, comment, report, target, number }
    }

    async fn send(&self, site: &BoardSite, (line, body, ..): &Call) -> u16 {
        let (method, path) = line.split_once(' ').unwrap();
        let path = path
            .replace("{board}", &self.board)
            .replace("{article}", &self.article)
            .replace("{other_article}", &self.other_article)
            .replace("{comment}", &self.comment)
            .replace("{report}", &self.report)
            .replace("{target}", &self.target);
        let body = body.replace("{n}", &self.number.to_string());
        let line = format!("{method} /api/v1{path}");
        let answer = match &self.sender {
            Some(sender) => site.by(sender, &line, &body).await,
            None if body.is_empty() => site.guest(&line).await,
            None => site.send(&line, &[support::board_site::JSON], body).await,
        };
        answer.status.as_u16()
    }
}

fn last(path: &str) -> String {
    path.rsplit('/').next().unwrap().to_owned()
}

#[tokio::test]
async fn every_call_is_allowed_to_whom_the_table_says() {
    let site = BoardSite::open().await;
    let senders = [
        (Sender::Guest, false),
        (Sender::Member, false),
        (Sender::Member, true),
        (Sender::BoardModerator, false),
        (Sender::BoardModerator, true),
        (Sender::OtherBoardModerator, false),
        (Sender::Moderator, false),
        (Sender::Moderator, true),
        (Sender::Admin, false),
    ];
    let (mut number, mut wrong) = (0, Vec::new());
    for (sender, suspended) in senders {
        for own in [false, true] {
            if own && sender == Sender::Guest {
                continue;
            }
            number += 1;
            let scene = Scene::set(&site, sender, suspended, own, number).await;
            for call in &CALLS {
                let (found, expected) = (scene.send(&site, call).await, expected(sender, suspended, own, call));
                if found != expected {
                    let about = if own { "their own" } else { "another's" };
                    wrong.push(format!(
                        "{sender:?} (suspended: {suspended}), {about}: {} gave {found}, not {expected}",
                        call.0
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn nobody_suspends_their_like_and_the_last_administrator_stays() {
    let site = BoardSite::open().await;
    let (first, moderator) = site.register("first", Role::Moderator).await;
    let (second, _) = site.register("second", Role::Moderator).await;
    let suspend = async |who: &str, whom: &str| {
        let body = r#"{"until":"2099-01-01T00:00:00Z","reason":"spam"}"#;
        site.by(who, &format!("PUT /api/v1/members/{whom}/suspension"), body).await.status.as_u16()
    };
    assert_eq!(suspend(&moderator, &second).await, 403);
    assert_eq!(suspend(&moderator, &first).await, 403);
    assert_eq!(suspend(&site.admin, &second).await, 200);
    let root =
        site.by(&site.admin, "GET /api/v1/members/me", "").await.json()["member_id"].as_str().unwrap().to_owned();
    assert_eq!(suspend(&site.admin, &root).await, 403);
    let role = |role: &str| format!(r#"{{"role":"{role}"}}"#);
    let promote = site.by(&site.admin, &format!("PUT /api/v1/members/{second}/role"), &role("admin")).await;
    promote.assert_problem(409);
    let (third, admin) = site.register("third", Role::Admin).await;
    site.by(&admin, &format!("PUT /api/v1/members/{root}/role"), &role("member")).await.assert(200);
    site.by(&admin, &format!("PUT /api/v1/members/{third}/role"), &role("member")).await.assert_problem(403);
    site.by(&site.admin, &format!("PUT /api/v1/members/{third}/role"), &role("member")).await.assert_problem(403);
}

#[tokio::test]
async fn what_moderators_do_is_told_in_the_log_with_its_reason() {
    let site = BoardSite::open().await;
    let (author, (moderator_id, moderator)) =
        (site.bearer("author").await, site.register("mod", Role::Moderator).await);
    let article = last(&site.article(&author).await);
    site.by(&moderator, &format!("DELETE /api/v1/articles/{article}"), REASON).await.assert(204);
    let own = last(&site.article(&moderator).await);
    site.by(&moderator, &format!("DELETE /api/v1/articles/{own}"), REASON).await.assert(204);
    let log = site.by(&site.admin, "GET /api/v1/moderation/log", "").await.json();
    assert_eq!(log["items"].as_array().unwrap().len(), 1, "what one wrote oneself is nobody's business: {log}");
    let act = &log["items"][0];
    assert_eq!(
        (&act["kind"], &act["reason"], &act["subject_id"]),
        (&"article_deleted".into(), &"spam".into(), &article.into())
    );
    assert_eq!((&act["moderator_id"], &act["moderator_name"]), (&moderator_id.into(), &"mod".into()));
    for line in ["DELETE /api/v1/moderation/log", "PUT /api/v1/moderation/log", "POST /api/v1/moderation/log"] {
        site.by(&site.admin, line, "").await.assert_problem(405);
    }
    let too_long = format!(r#"{{"reason":"{}"}}"#, "x".repeat(501));
    let article = last(&site.article(&author).await);
    site.by(&moderator, &format!("DELETE /api/v1/articles/{article}"), &too_long).await.assert_problem(422);
}

#[tokio::test]
async fn a_members_lists_are_theirs_newest_first() {
    let site = BoardSite::open().await;
    let (id, author) = site.register("author", Role::Member).await;
    let other = site.bearer("other").await;
    let mut articles = Vec::new();
    for _ in 0..3 {
        articles.insert(0, last(&site.article(&author).await));
        site.article(&other).await;
    }
    let list = async |path: &str| site.guest(&format!("GET /api/v1/members/{id}/{path}")).await.assert(200).json();
    let first = list("articles?limit=2").await;
    let rest = list(&format!("articles?limit=2&before={}", first["next"].as_str().unwrap())).await;
    let ids = |list: &serde_json::Value, field: &str| {
        list["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item[field].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!([ids(&first, "article_id"), ids(&rest, "article_id")].concat(), articles);
    assert!(rest["next"].is_null() && first["items"][0]["like_count"] == 0);
    let line = format!("POST /api/v1/articles/{}/comments", articles[0]);
    let comment = last(site.by(&author, &line, r#"{"content":"c"}"#).await.assert(201).header("location"));
    site.by(&other, &line, r#"{"content":"c"}"#).await.assert(201);
    assert_eq!(ids(&list("comments").await, "comment_id"), [comment]);
    site.guest(&format!("GET /api/v1/members/{id}/articles?before=x")).await.assert_problem(400);
    site.guest(&format!("GET /api/v1/members/{id}/comments?limit=0")).await.assert_problem(422);
    site.guest("GET /api/v1/members/x/articles").await.assert_problem(404);
}
