//! What people do on a site, in as few words as a test needs.

use serde_json::{Value, json};

use crate::server::TestServer;

pub(crate) const ADMIN: &str = "root_admin";
pub(crate) const PASSWORD: &str = "correct horse battery";

impl TestServer {
    /// Signs in and gives the token.
    pub(crate) fn sign_in(&self, name: &str) -> String {
        let body = json!({"name": name, "password": PASSWORD});
        let answer = self.call("POST", "/api/v1/sessions").json(&body).send().json(201);
        answer["token"].as_str().expect("a token").to_owned()
    }

    /// Registers a member by a name of this test's own and signs them in; gives id and token.
    pub(crate) fn member(&self, name: &str) -> (String, String) {
        let name = self.own(name);
        let body = json!({"name": name, "password": PASSWORD});
        let member = self.call("POST", "/api/v1/members").json(&body).send().json(201);
        (member["member_id"].as_str().expect("an id").to_owned(), self.sign_in(&name))
    }

    /// The board that every new site has; in company one of this test's own that is like it.
    pub(crate) fn general(&self) -> String {
        let find = || {
            if self.has_company() {
                return self.new_board("general-", "two_level");
            }
            let boards = self.get("/api/v1/boards").json(200);
            let general = boards["items"].as_array().expect("a list").iter().find(|board| board["slug"] == "general");
            general.expect("general")["board_id"].as_str().expect("an id").to_owned()
        };
        self.board.get_or_init(find).clone()
    }

    /// A new board whose comments are trees.
    pub(crate) fn trees(&self) -> String {
        self.new_board("trees", "tree")
    }

    /// A new board with a short name of this test's own.
    pub(crate) fn new_board(&self, slug: &str, mode: &str) -> String {
        let body = json!({"slug": self.own(slug), "title": "A board", "comment_mode": mode});
        let board = self.call("POST", "/api/v1/boards").token(&self.sign_in(ADMIN)).json(&body).send().json(201);
        board["board_id"].as_str().expect("an id").to_owned()
    }

    pub(crate) fn article(&self, board: &str, token: &str, title: &str) -> Value {
        let body = json!({"title": title, "content": "Some *text*."});
        self.call("POST", &format!("/api/v1/boards/{board}/articles")).token(token).json(&body).send().json(201)
    }

    /// Writes an article and gives its id.
    pub(crate) fn article_id(&self, board: &str, token: &str) -> String {
        self.article(board, token, "about something")["article_id"].as_str().expect("an id").to_owned()
    }

    /// Registers members by the command for load tests; gives their ids and tokens.
    pub(crate) fn seeded_members(&self, count: usize) -> Vec<(i64, String)> {
        let file = tempfile::NamedTempFile::new().expect("temporary file");
        let (count_text, path) = (count.to_string(), file.path().to_str().expect("UTF-8"));
        self.command(&["seed", "--members", &count_text, "--tokens", path], "").expect(0);
        let text = std::fs::read_to_string(path).expect("tokens");
        let pair = |line: &str| line.split_once(' ').map(|(id, token)| (id.parse().expect("an id"), token.to_owned()));
        let members: Vec<_> = text.lines().filter_map(pair).collect();
        assert_eq!(members.len(), count);
        members
    }

    /// Looks at an article as a guest with this browser, on a connection of its own.
    pub(crate) fn view(&self, article: &str, browser: &str) -> Value {
        let path = format!("/api/v1/articles/{article}/views");
        self.call("POST", &path).header("user-agent", browser).send().json(200)
    }

    pub(crate) fn view_count(&self, article: &str) -> u64 {
        let views = self.get(&format!("/api/v1/articles/{article}/views")).json(200);
        views["view_count"].as_u64().expect("a count")
    }
}
