//! Requests sent straight into the router, and what came back.

#![allow(dead_code, reason = "each test file uses its part")]

pub(crate) mod board_site;
mod failing_parts;
pub(crate) mod failing_site;
mod read_side;

use std::io::Read as _;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt;
use tower::ServiceExt;

/// What came back.
pub(crate) struct Answer {
    /// The status.
    pub(crate) status: StatusCode,
    /// The headers.
    pub(crate) headers: HeaderMap,
    /// The body as text, whether it was sent compressed or not.
    pub(crate) text: String,
    /// How many bytes of body were sent.
    pub(crate) sent_bytes: usize,
}

impl Answer {
    /// A header as text; empty when it is missing.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }

    /// A cookie that is set, as a browser sends it back.
    pub(crate) fn cookie(&self, name: &str) -> String {
        let all = self.headers.get_all("set-cookie").iter().map(|value| value.to_str().unwrap());
        let found =
            all.map(|cookie| cookie.split(';').next().unwrap()).find(|pair| pair.split('=').next() == Some(name));
        found.unwrap_or_else(|| panic!("no cookie {name}")).to_owned()
    }

    /// The body, which must be JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// Checks the status of an answer that is no problem.
    pub(crate) fn assert(&self, status: u16) -> &Self {
        assert_eq!(self.status.as_u16(), status, "{}", self.text);
        self
    }

    /// Checks that this is a complete problem with the given status.
    pub(crate) fn assert_problem(&self, status: u16) -> &Self {
        assert_eq!(self.status.as_u16(), status, "{}", self.text);
        assert_eq!(self.header("content-type"), "application/problem+json");
        let problem = self.json();
        assert_eq!(problem["status"], status);
        for field in ["type", "title", "detail"] {
            assert!(problem[field].as_str().is_some_and(|text| !text.is_empty()), "{field}: {}", self.text);
        }
        assert!(
            problem["detail"].as_str().is_some_and(|detail| detail.ends_with('.')),
            "a whole sentence: {}",
            self.text
        );
        assert!(!self.text.contains("secret"), "internals leaked: {}", self.text);
        self
    }
}

/// Sends a request with headers and a body.
pub(crate) async fn send(site: &Router, line: &str, headers: &[(&str, &str)], body: impl Into<Body>) -> Answer {
    let (method, path) = line.split_once(' ').unwrap();
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = site.clone().oneshot(request.body(body.into()).unwrap()).await.unwrap();
    let (parts, body) = response.into_parts();
    let sent = body.collect().await.unwrap().to_bytes();
    let mut text = String::new();
    if parts.headers.get("content-encoding").is_some_and(|coding| coding == "gzip") {
        flate2::read::GzDecoder::new(&sent[..]).read_to_string(&mut text).unwrap();
    } else {
        text.push_str(std::str::from_utf8(&sent).unwrap());
    }
    Answer { status: parts.status, headers: parts.headers, text, sent_bytes: sent.len() }
}
