//! The set-up link on a real store: it makes one administrator, and then it is over.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use madang_article::ArticleService;
use madang_kernel::{IdGenerator, NodeId, NodeLease, Role, SystemClock};
use madang_member::{MemberOptions, MemberService};
use madang_sqlite::{Sqlite, SqliteArticles, SqliteMembers, SqliteOptions};
use madang_web::WebState;
use tower::ServiceExt;

async fn fresh_site(directory: &tempfile::TempDir) -> WebState {
    let clock = Arc::new(SystemClock);
    let db = Sqlite::open(SqliteOptions::in_directory(directory.path()), clock.clone()).unwrap();
    let lease = NodeLease { node: NodeId(1), from_ms: 0, until_ms: i64::MAX };
    let ids = Arc::new(IdGenerator::new(clock.clone(), lease));
    let options = MemberOptions { hash_memory_kib: 8, hash_passes: 1, ..MemberOptions::default() };
    let store = Arc::new(SqliteMembers::new(db.clone()));
    let members = Arc::new(MemberService::new(store, ids.clone(), clock.clone(), [7; 32], options));
    let articles = Arc::new(ArticleService::new(Arc::new(SqliteArticles::new(db)), ids, clock));
    articles.ensure_first_board().await.unwrap();
    WebState { members, articles, setup_token: Some("right".into()) }
}

async fn get(pages: &Router, path: &str) -> (u16, String) {
    send(pages, Request::builder().uri(path).body(Body::empty()).unwrap()).await
}

async fn post(pages: &Router, form: &str) -> (u16, String) {
    let request = Request::builder().method("POST").uri("/setup");
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    send(pages, request.body(Body::from(form.to_owned())).unwrap()).await
}

async fn send(pages: &Router, request: Request<Body>) -> (u16, String) {
    let (parts, body) = pages.clone().oneshot(request).await.unwrap().into_parts();
    let text = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
    (parts.status.as_u16(), text)
}

#[tokio::test]
async fn the_link_makes_one_administrator_and_is_then_gone() {
    let directory = tempfile::tempdir().unwrap();
    let site = fresh_site(&directory).await;
    let pages = madang_web::router(site.clone());
    assert_eq!(get(&pages, "/setup?token=right").await.0, 200);
    let (status, form) = post(&pages, "token=right&name=%22%3Cb%3E&password=12345678").await;
    assert_eq!(status, 422);
    assert!(form.contains("value=\"&quot;&lt;b&gt;\"") && form.contains("role=\"alert\""), "{form}");

    let forms = ["token=right&name=ann&password=12345678", "token=right&name=bob&password=12345678"];
    let ((first, _), (second, _)) = tokio::join!(post(&pages, forms[0]), post(&pages, forms[1]));
    assert_eq!((first, second), (201, 410));
    assert_eq!(site.members.sign_in("ann", "12345678").await.unwrap().member.role, Role::Admin);
    assert!(site.members.sign_in("bob", "12345678").await.is_err());
    assert_eq!(get(&pages, "/setup?token=right").await.0, 410);
}

#[tokio::test]
async fn the_front_page_lists_the_boards() {
    let directory = tempfile::tempdir().unwrap();
    let pages = madang_web::router(fresh_site(&directory).await);
    let (status, page) = get(&pages, "/").await;
    assert_eq!(status, 200);
    assert!(page.contains("<small>0 articles</small>") && page.contains("href=\"/docs\""), "{page}");
}
