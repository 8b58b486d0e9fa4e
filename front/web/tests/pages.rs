//! The pages as a browser meets them, on a site whose store is away: nothing here may need more than the link's token
//! to refuse.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request};
use http_body_util::BodyExt;
use madang_article::ArticleService;
use madang_kernel::{IdGenerator, NodeId, NodeLease, SystemClock};
use madang_member::{MemberOptions, MemberService};
use madang_web::WebState;
use tower::ServiceExt;

mod away;

fn pages(token: Option<&str>) -> Router {
    let clock = Arc::new(SystemClock);
    let lease = NodeLease { node: NodeId(1), from_ms: 0, until_ms: i64::MAX };
    let ids = Arc::new(IdGenerator::new(clock.clone(), lease));
    let store = Arc::new(away::Away);
    let members = MemberService::new(store.clone(), ids.clone(), clock.clone(), [7; 32], MemberOptions::default());
    madang_web::router(WebState {
        members: Arc::new(members),
        articles: Arc::new(ArticleService::new(store, ids, clock)),
        setup_token: token.map(Arc::from),
    })
}

async fn send(pages: &Router, request: Request<Body>) -> (u16, HeaderMap, String) {
    let (parts, body) = pages.clone().oneshot(request).await.unwrap().into_parts();
    let text = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
    (parts.status.as_u16(), parts.headers, text)
}

fn get(path: &str) -> Request<Body> {
    Request::builder().uri(path).body(Body::empty()).unwrap()
}

fn post(form: impl Into<Body>) -> Request<Body> {
    let request = Request::builder().method("POST").uri("/setup");
    request.header("content-type", "application/x-www-form-urlencoded").body(form.into()).unwrap()
}

#[tokio::test]
async fn without_the_right_token_there_is_no_set_up() {
    let closed = pages(None);
    let open = pages(Some("right"));
    for path in ["/setup", "/setup?token=", "/setup?token=wrong", "/setup?token=righ", "/setup?other=right"] {
        assert_eq!(send(&open, get(path)).await.0, 404, "{path}");
        assert_eq!(send(&closed, get(path)).await.0, 404, "{path}");
    }
    assert_eq!(send(&closed, get("/setup?token=right")).await.0, 404);
    assert_eq!(send(&open, post("token=wrong&name=ann&password=12345678")).await.0, 404);
}

#[tokio::test]
async fn forms_that_cannot_be_read_are_refused_with_a_page() {
    let open = pages(Some("right"));
    for form in ["", "token=right", "nonsense"] {
        let (status, headers, text) = send(&open, post(form)).await;
        assert!((400..500).contains(&status), "{form}: {status}");
        assert_eq!(headers["content-type"], "text/html; charset=utf-8");
        assert!(text.contains("<h1>Not understood</h1>"));
    }
    assert_eq!(send(&open, post(format!("token={}", "x".repeat(20_000)))).await.0, 413);
}

#[tokio::test]
async fn a_store_that_is_away_is_a_page_as_well() {
    let open = pages(Some("right"));
    for path in ["/", "/setup?token=right"] {
        let (status, headers, text) = send(&open, get(path)).await;
        assert_eq!((status, headers["retry-after"].as_bytes()), (503, b"1".as_slice()), "{path}");
        assert!(!text.contains("secret"));
        assert!(
            headers["content-security-policy"].to_str().unwrap().starts_with("default-src 'none'; style-src 'self'")
        );
    }
}

#[tokio::test]
async fn the_style_comes_from_the_binary() {
    let (status, headers, _) = send(&pages(None), get("/assets/madang.css")).await;
    assert_eq!((status, headers["content-type"].as_bytes()), (200, b"text/css; charset=utf-8".as_slice()));
}
