//! What people do on a site, in as few words as a test needs.

use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::process::{ADMIN, PASSWORD};

impl Cluster {
    /// Signs in and gives the token.
    pub(crate) fn sign_in(&self, name: &str) -> String {
        let body = json!({"name": name, "password": PASSWORD});
        let answer = self.call("POST", "/api/v1/sessions").json(&body).send().json(201);
        answer["token"].as_str().expect("a token").to_owned()
    }

    /// Signs the administrator in.
    pub(crate) fn admin(&self) -> String {
        self.sign_in(ADMIN)
    }

    /// Registers a member and signs them in.
    pub(crate) fn member(&self, name: &str) -> String {
        let body = json!({"name": name, "password": PASSWORD});
        self.call("POST", "/api/v1/members").json(&body).send().json(201);
        self.sign_in(name)
    }

    /// A new board, by its id.
    pub(crate) fn board(&self, slug: &str, mode: &str) -> String {
        let body = json!({"slug": slug, "title": slug, "comment_mode": mode});
        let board = self.call("POST", "/api/v1/boards").token(&self.admin()).json(&body).send().json(201);
        board["board_id"].as_str().expect("an id").to_owned()
    }

    /// Writes an article and gives its id.
    pub(crate) fn article(&self, board: &str, token: &str, title: &str) -> String {
        let body = json!({"title": title, "content": "Some *text*."});
        let path = format!("/api/v1/boards/{board}/articles");
        let article = self.call("POST", &path).token(token).json(&body).send().json(201);
        article["article_id"].as_str().expect("an id").to_owned()
    }

    /// Comments and gives the comment.
    pub(crate) fn comment(&self, article: &str, token: &str, parent: Option<&str>) -> Value {
        let body = json!({"content": "a word", "parent_id": parent});
        let path = format!("/api/v1/articles/{article}/comments");
        self.call("POST", &path).token(token).json(&body).send().json(201)
    }

    pub(crate) fn like(&self, article: &str, token: &str) -> Value {
        self.call("PUT", &format!("/api/v1/articles/{article}/like")).token(token).send().json(200)
    }

    /// Looks at an article as a guest with this browser.
    pub(crate) fn view(&self, article: &str, browser: &str) -> Value {
        let path = format!("/api/v1/articles/{article}/views");
        self.call("POST", &path).header("user-agent", browser).send().json(200)
    }

    /// The article as readers see it.
    pub(crate) fn read(&self, article: &str) -> Value {
        self.get(&format!("/api/v1/articles/{article}")).json(200)
    }
}
