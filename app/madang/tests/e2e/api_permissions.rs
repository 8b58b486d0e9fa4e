//! Every call of the contract, by everybody who might send it, about their own and about what others wrote: who may, and
//! what the others are told.

use serde_json::{Value, json};

use crate::server::{ADMIN, TestServer, eventually};

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
const CALLS: [Call; 67] = [
    ("POST /members", r#"{"name":"new_{n}","password":"correct horse battery"}"#, 201, Who::Anybody),
    ("POST /sessions", r#"{"name":"root_admin","password":"correct horse battery"}"#, 201, Who::Anybody),
    ("GET /members/me", "", 200, Who::SignedIn),
    ("GET /members/{target}", "", 200, Who::Anybody),
    ("GET /members/{target}/articles", "", 200, Who::Anybody),
    ("GET /members/{target}/comments", "", 200, Who::Anybody),
    ("GET /boards", "", 200, Who::Anybody),
    ("GET /boards/{board}", "", 200, Who::Anybody),
    ("GET /boards/{board}/articles", "", 200, Who::Anybody),
    ("GET /boards/{board}/articles/count", "", 200, Who::Anybody),
    ("GET /articles/{article}", "", 200, Who::Anybody),
    ("GET /articles?sort=active", "", 200, Who::Anybody),
    // Nothing to look for: refused alike with and without a search engine.
    ("GET /search?q=%20", "", 422, Who::Anybody),
    ("GET /boards/{board}/articles?sort=active", "", 200, Who::Anybody),
    ("GET /articles/{article}/comments", "", 200, Who::Anybody),
    ("GET /articles/{article}/comments/count", "", 200, Who::Anybody),
    ("GET /comments/{comment}", "", 200, Who::Anybody),
    ("GET /articles/{article}/like", "", 200, Who::Anybody),
    ("GET /articles/{article}/likes", "", 200, Who::Anybody),
    ("GET /articles/{article}/views", "", 200, Who::Anybody),
    ("POST /articles/{article}/views", "", 200, Who::Anybody),
    ("GET /hot-articles", "", 200, Who::Anybody),
    ("GET /hot-articles/{today}", "", 200, Who::Anybody),
    ("POST /boards", r#"{"slug":"b-{n}","title":"t","comment_mode":"tree"}"#, 201, Who::Admin),
    ("GET /boards/{board}/moderators", "", 200, Who::Anybody),
    ("PUT /boards/{board}", r#"{"title":"General","description":"","position":0,"archived":false}"#, 200, Who::Admin),
    ("DELETE /boards/{board}", "", 409, Who::Admin),
    ("POST /boards/{board}/articles", DRAFT, 201, Who::Member),
    ("POST /articles/{article}/comments", r#"{"content":"c"}"#, 201, Who::Member),
    ("PUT /articles/{article}/like", "", 200, Who::Member),
    ("DELETE /articles/{article}/like", "", 200, Who::Member),
    ("POST /articles/{article}/reports", REASON, 201, Who::Member),
    ("POST /comments/{comment}/reports", REASON, 201, Who::Member),
    ("GET /reports", "", 200, Who::SiteModerator),
    ("GET /reports?open=false", "", 200, Who::SiteModerator),
    ("GET /reports?board_id={board}", "", 200, Who::Moderator),
    ("GET /reports?board_id={board}&open=false&limit=1", "", 200, Who::Moderator),
    ("PUT /reports/{report}/resolution", r#"{"note":"done"}"#, 200, Who::Moderator),
    ("PUT /reports/{report}/resolution", "", 200, Who::Moderator),
    ("GET /moderation/log", "", 200, Who::SiteModerator),
    ("GET /moderation/log?board_id={board}", "", 200, Who::Moderator),
    ("PUT /articles/{article}/pin", r#"{"until":null}"#, 200, Who::Moderator),
    ("DELETE /articles/{article}/pin", "", 200, Who::Moderator),
    ("PUT /articles/{article}/lock", "", 200, Who::Moderator),
    ("DELETE /articles/{article}/lock", "", 200, Who::Moderator),
    ("POST /articles/{removed_article}/restore", "", 200, Who::Moderator),
    ("POST /comments/{removed_comment}/restore", "", 200, Who::Moderator),
    ("PUT /articles/{article}", DRAFT, 200, Who::AuthorOrModerator),
    ("PUT /comments/{comment}", r#"{"content":"c"}"#, 200, Who::AuthorOrModerator),
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
    ("POST /members/{target}/password-reset", "", 201, Who::Admin),
    ("PUT /password-resets/{report}", r#"{"password":"correct horse battery"}"#, 404, Who::Anybody),
    ("POST /password-resets", r#"{"email":"a@b.example"}"#, 404, Who::Anybody),
    ("PUT /members/me/email", r#"{"email":"a@b.example","password":"correct horse battery"}"#, 404, Who::SignedIn),
    ("PUT /boards/{board}/moderators/{target}", "", 200, Who::Admin),
    ("DELETE /boards/{board}/moderators/{target}", "", 204, Who::Admin),
    (
        "PUT /members/me/password",
        r#"{"current":"correct horse battery","new":"correct horse battery"}"#,
        204,
        Who::SignedIn,
    ),
    ("GET /articles/{other_article}/like", "", 200, Who::Anybody),
    ("GET /sessions", "", 200, Who::SignedIn),
    ("DELETE /sessions/others", "", 204, Who::SignedIn),
    ("DELETE /sessions/{article}", "", 404, Who::SignedIn),
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

/// Everybody who might send something, and whether they are suspended. Administrators never are.
const SENDERS: [(Sender, bool); 9] = [
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

/// What the rows of one sender are about.
struct Scene {
    sender: Sender,
    suspended: bool,
    own: bool,
    token: Option<String>,
    article: String,
    other_article: String,
    comment: String,
    removed_article: String,
    removed_comment: String,
    report: String,
    target: String,
    number: String,
}

/// The site of the test, with what all scenes share.
struct Stage {
    server: TestServer,
    admin: String,
    board: String,
    other_board: String,
    today: String,
}

impl Stage {
    fn open() -> Self {
        let server = TestServer::shared();
        let (admin, board) = (server.sign_in(ADMIN), server.general());
        let other_board = server.trees();
        let today = text(&server.get("/api/v1/hot-articles").json(200)["days"][0], "date");
        Self { server, admin, board, other_board, today }
    }

    fn send(&self, token: Option<&str>, line: &str, body: &str) -> crate::http::Answer {
        let (method, path) = line.split_once(' ').expect("a method and a path");
        let mut call = self.server.call(method, &format!("/api/v1{path}"));
        if let Some(token) = token {
            call = call.token(token);
        }
        if !body.is_empty() {
            call = call.text("application/json", body);
        }
        call.send()
    }

    fn by_admin(&self, line: &str, body: &Value) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let answer = self.send(Some(&self.admin), line, &body);
        assert!((200..300).contains(&answer.status), "{line}: {}", answer.text());
    }

    /// Everything but the standing of the sender.
    fn set(&self, (sender, suspended): (Sender, bool), own: bool, number: usize) -> (Scene, String) {
        let server = &self.server;
        let (_, author) = server.member(&format!("author_{number}_"));
        let (target, _) = server.member(&format!("target_{number}_"));
        let (id, token) = server.member(&format!("sender_{number}_"));
        let writer = if own { &token } else { &author };
        let article = server.article_id(&self.board, writer);
        let comment = self.send(Some(writer), &format!("POST /articles/{article}/comments"), r#"{"content":"c"}"#);
        let comment = text(&comment.json(201), "comment_id");
        let report = self.send(Some(&self.admin), &format!("POST /comments/{comment}/reports"), REASON);
        let report = text(&report.json(201), "report_id");
        let other_article = server.article_id(&self.board, &author);
        let removed_article = server.article_id(&self.board, &author);
        self.by_admin(&format!("DELETE /articles/{removed_article}"), &json!({"reason": "spam"}));
        let removed_comment = format!("POST /articles/{other_article}/comments");
        let removed_comment = self.send(Some(&author), &removed_comment, r#"{"content":"c"}"#);
        let removed_comment = text(&removed_comment.json(201), "comment_id");
        self.by_admin(&format!("DELETE /comments/{removed_comment}"), &json!({"reason": "spam"}));
        let token = (sender != Sender::Guest).then_some(token);
        let number = server.own(&format!("{number}x"));
        let scene = Scene {
            sender,
            suspended,
            own,
            token,
            article,
            other_article,
            comment,
            removed_article,
            removed_comment,
            report,
            target,
            number,
        };
        (scene, id)
    }

    /// Makes the sender what the scene says.
    fn place(&self, scene: &Scene, id: &str) {
        let role = |role: &str| self.by_admin(&format!("PUT /members/{id}/role"), &json!({"role": role}));
        let appoint = |board: &str| self.by_admin(&format!("PUT /boards/{board}/moderators/{id}"), &Value::Null);
        match scene.sender {
            Sender::Guest | Sender::Member => {}
            Sender::BoardModerator => appoint(&self.board),
            Sender::OtherBoardModerator => appoint(&self.other_board),
            Sender::Moderator => role("moderator"),
            Sender::Admin => role("admin"),
        }
        if scene.suspended {
            self.suspend(id);
        }
    }

    fn suspend(&self, id: &str) {
        let body = json!({"until": "2099-01-01T00:00:00Z", "reason": "a test"});
        self.by_admin(&format!("PUT /members/{id}/suspension"), &body);
    }

    /// Waits until every process knows what was changed so far: changes are learnt in their order.
    fn wait_until_known(&self) {
        let (id, token) = self.server.member("sentinel");
        let article = self.server.article_id(&self.board, &token);
        self.suspend(&id);
        for line in [
            format!("POST /boards/{}/articles", self.board),
            format!("POST /articles/{article}/comments"),
            format!("PUT /articles/{article}/like"),
        ] {
            let body = if line.starts_with("PUT") { "" } else { r#"{"title":"t","content":"c"}"# };
            eventually(&line, || (self.send(Some(&token), &line, body).status == 403).then_some(()));
        }
    }

    fn status(&self, scene: &Scene, (line, body, ..): &Call) -> u16 {
        let line = line
            .replace("{board}", &self.board)
            .replace("{article}", &scene.article)
            .replace("{other_article}", &scene.other_article)
            .replace("{comment}", &scene.comment)
            .replace("{removed_article}", &scene.removed_article)
            .replace("{removed_comment}", &scene.removed_comment)
            .replace("{report}", &scene.report)
            .replace("{target}", &scene.target)
            .replace("{today}", &self.today);
        let body = body.replace("{n}", &scene.number);
        self.send(scene.token.as_deref(), &line, &body).status
    }
}

fn text(answer: &Value, field: &str) -> String {
    answer[field].as_str().expect("text").to_owned()
}

#[test]
fn every_call_is_allowed_to_whom_the_table_says() {
    let stage = Stage::open();
    let mut scenes = Vec::new();
    for sender in SENDERS {
        for own in [false, true] {
            if !(own && sender.0 == Sender::Guest) {
                scenes.push(stage.set(sender, own, scenes.len()));
            }
        }
    }
    for (scene, id) in &scenes {
        stage.place(scene, id);
    }
    stage.wait_until_known();
    let mut wrong = Vec::new();
    for (scene, _) in &scenes {
        let Scene { sender, suspended, own, .. } = scene;
        for call in &CALLS {
            let (found, expected) = (stage.status(scene, call), expected(*sender, *suspended, *own, call));
            if found != expected {
                let about = if *own { "their own" } else { "another's" };
                wrong.push(format!(
                    "{sender:?} (suspended: {suspended}), {about}: {} gave {found}, not {expected}",
                    call.0
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_table_has_every_call_of_the_description() {
    let server = TestServer::shared();
    let description = server.ask("article", "/openapi.json").json(200);
    let mut missing = Vec::new();
    for (path, item) in description["paths"].as_object().expect("paths") {
        let Some(path) = path.strip_prefix("/api/v1") else { continue };
        for method in ["get", "post", "put", "delete"].into_iter().filter(|method| item.get(method).is_some()) {
            let shape = shape(&format!("{} {path}", method.to_uppercase()));
            if !CALLS.iter().any(|(line, ..)| self::shape(line) == shape) {
                missing.push(format!("{method} {path}"));
            }
        }
    }
    assert!(missing.is_empty(), "who may send these? {missing:?}");
}

/// A call with its parameters all alike, and without its query.
fn shape(line: &str) -> String {
    let line = line.split('?').next().unwrap_or(line);
    line.split('/').map(|part| if part.starts_with('{') { "{}" } else { part }).collect::<Vec<_>>().join("/")
}
