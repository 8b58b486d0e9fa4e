//! Somebody with a browser: keeps cookies, sends forms with their tokens, comes from our own pages.

use std::cell::RefCell;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderName, Request};
use http_body_util::BodyExt;
use tower::ServiceExt;

use super::Answer;

/// Somebody with a browser.
pub(crate) struct Person {
    pages: Router,
    cookies: RefCell<Vec<(String, String)>>,
    language: &'static str,
}

impl Person {
    /// Somebody who has never been here.
    pub(crate) fn new(pages: Router) -> Self {
        Self { pages, cookies: RefCell::default(), language: "en" }
    }

    /// The same with another language.
    pub(crate) fn speaking(self, language: &'static str) -> Self {
        Self { language, ..self }
    }

    /// Looks at a page.
    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], String::new()).await
    }

    /// Looks at a page with more headers.
    pub(crate) async fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.send("GET", path, headers, String::new()).await
    }

    /// Sends a form as it is.
    pub(crate) async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        self.post_with(path, &[("sec-fetch-site", "same-origin")], fields).await
    }

    /// Sends a form with these headers.
    pub(crate) async fn post_with(&self, path: &str, headers: &[(&str, &str)], fields: &[(&str, &str)]) -> Answer {
        let body: Vec<_> = fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        let kind = [("content-type", "application/x-www-form-urlencoded")];
        self.send("POST", path, &[&kind, headers].concat(), body.join("&")).await
    }

    /// Begins to send a form, and never ends.
    pub(crate) async fn post_without_end(&self, path: &str) -> Answer {
        let never = Body::from_stream(futures_util::stream::pending::<Result<Vec<u8>, std::io::Error>>());
        let headers = [("content-type", "application/x-www-form-urlencoded"), ("sec-fetch-site", "same-origin")];
        self.send("POST", path, &headers, never).await
    }

    /// Opens a page with a form and sends it, with what its hidden fields say.
    pub(crate) async fn submit(&self, page: &str, path: &str, fields: &[(&str, &str)]) -> Answer {
        let form = self.get(page).await;
        let (token, idempotency) = (form.hidden("form_token"), form.hidden("once"));
        let hidden = [("form_token", token.as_str()), ("once", idempotency.as_str())];
        self.post(path, &[&hidden, fields].concat()).await
    }

    /// The value of a cookie.
    pub(crate) fn cookie(&self, name: &str) -> Option<String> {
        self.cookies.borrow().iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    }

    async fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: impl Into<Body>) -> Answer {
        let path = path.split('#').next().unwrap();
        let mut request = Request::builder().method(method).uri(path);
        request = request.header("host", "board.example").header("accept", "text/html");
        request = request.header("accept-language", self.language);
        let cookies: Vec<_> = self.cookies.borrow().iter().map(|(name, value)| format!("{name}={value}")).collect();
        if !cookies.is_empty() {
            request = request.header("cookie", cookies.join("; "));
        }
        let mut request = request.body(body.into()).unwrap();
        for (name, value) in headers {
            // In place of what a browser would send.
            request.headers_mut().insert(name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
        }
        let response = self.pages.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        for cookie in parts.headers.get_all("set-cookie") {
            self.remember(cookie.to_str().unwrap());
        }
        let body = body.collect().await.unwrap().to_bytes().to_vec();
        Answer { status: parts.status, headers: parts.headers, body }
    }

    fn remember(&self, cookie: &str) {
        let (name, value) = cookie.split(';').next().unwrap().split_once('=').unwrap();
        let mut cookies = self.cookies.borrow_mut();
        cookies.retain(|(known, _)| known != name);
        if !value.is_empty() {
            cookies.push((name.to_owned(), value.to_owned()));
        }
    }
}

fn encoded(text: &str) -> String {
    let keep = |byte: u8| byte.is_ascii_alphanumeric();
    text.bytes().map(|byte| if keep(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}
