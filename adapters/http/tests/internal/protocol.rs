//! Both ends together, over a real listener: peers answer as their owners would, and only to those who have the secret.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::support::{Peer, Site, article, asking, board, options, secret};
use axum::body::Body;
use axum::http::{Request, StatusCode};
use madang_article_read::{ArticleOwner, CommentOwner, LikeOwner, ViewOwner};
use madang_board::{ArticleId, ArticleLookup, BoardId, MemberId, Role, SessionId};
use madang_http::{BODY_BYTES_MAX, InternalParts, InternalSecret, OutboxOf, PeerOptions, PeerOutbox, internal_router};
use madang_kernel::{Id, ManualClock, PageNumber, PageSize, StoreError, Timestamp};
use madang_member::{Revocation, RevocationCursor, RevocationSource, Sessions, Standing};
use madang_messaging::UnsentMessages as _;
use tower::ServiceExt;

const PATHS: [&str; 10] = [
    "articles/facts",
    "articles/texts",
    "articles/newest",
    "articles/page",
    "articles/scroll",
    "comments/counts",
    "likes/counts",
    "views/counts",
    "members/revocations",
    "outbox/unsent-before",
];

fn size(size: i64) -> PageSize {
    PageSize::new("limit", size).unwrap()
}

#[tokio::test]
async fn peers_answer_as_their_owners_would() {
    let site = Site::of(250);
    let peer = Peer::serve(site.router(secret())).await;
    let (peers, _) = asking(&options(&[&peer.address]));
    // More than one call may ask for, with one that does not exist among them, and one twice.
    let ids: Vec<ArticleId> = (100..=251).chain([100]).map(article).collect();
    assert_eq!(peers.facts(article(3)).await.unwrap(), site.facts(article(3)).await.unwrap());
    assert_eq!(peers.facts(article(251)).await.unwrap(), None);
    assert_eq!(
        ArticleOwner::articles(&*peers, &ids).await.unwrap(),
        ArticleOwner::articles(&*site, &ids).await.unwrap()
    );
    assert_eq!(peers.comment_counts(&ids).await.unwrap(), site.comment_counts(&ids).await.unwrap());
    assert_eq!(peers.like_counts(&ids).await.unwrap(), site.like_counts(&ids).await.unwrap());
    assert_eq!(peers.view_counts(&ids).await.unwrap(), site.view_counts(&ids).await.unwrap());
    assert_eq!(peers.views_in_memory(article(1)), None);
    let page = PageNumber::new("page", 3).unwrap();
    for board in [board(), BoardId::from_raw(1)] {
        for limit in [0, 10, 1_000] {
            let there = site.newest(board, limit).await.unwrap();
            assert_eq!(peers.newest(board, limit).await.unwrap(), there);
        }
        let there = site.page(board, page, size(100)).await.unwrap();
        assert_eq!(peers.page(board, page, size(100)).await.unwrap(), there);
        for before in [None, Some(article(31)), Some(article(30))] {
            let there = site.scroll(board, before, size(30)).await.unwrap();
            assert_eq!(peers.scroll(board, before, size(30)).await.unwrap(), there);
        }
    }
}

#[tokio::test]
async fn counts_of_more_articles_than_one_call_may_name_come_in_their_order() {
    let site = Site::of(10_000);
    let peer = Peer::serve(site.router(secret())).await;
    let (peers, _) = asking(&options(&[&peer.address]));
    let ids: Vec<ArticleId> = (1..=2_345).rev().map(article).collect();
    assert_eq!(peers.like_counts(&ids).await.unwrap(), site.like_counts(&ids).await.unwrap());
    assert_eq!(peers.view_counts(&ids).await.unwrap(), site.view_counts(&ids).await.unwrap());
    assert_eq!(peers.like_counts(&[]).await.unwrap(), []);
}

#[tokio::test]
async fn large_texts_come_in_several_answers() {
    // 15 articles of 300,000 bytes, every one of which JSON writes as six.
    let site = Site::with_content(15, &"\u{1}".repeat(300_000));
    let peer = Peer::serve(site.router(secret())).await;
    let (peers, _) = asking(&options(&[&peer.address]));
    let ids: Vec<ArticleId> = (1..=16).map(article).collect();
    let texts = peers.articles(&ids).await.unwrap();
    assert_eq!(texts, ids.iter().map(|id| site.text(*id)).collect::<Vec<_>>());
    assert!((2..=4).contains(&site.asked()), "{} answers", site.asked());
}

#[tokio::test]
async fn a_process_without_members_learns_of_ended_sessions_and_changed_roles() {
    let site = Site::of(1);
    let ended = |raw| Revocation::SessionEnded {
        session_id: SessionId::from_raw(raw),
        expires_at: Timestamp::from_millis(i64::MAX),
    };
    let all: Vec<Revocation> = (1..=1_500)
        .map(ended)
        .chain([Revocation::MemberChanged {
            member_id: MemberId::from_raw(5),
            role: Role::Moderator,
            standing: Standing { version: 1, moderates: vec![BoardId::from_raw(9)], ..Standing::default() },
        }])
        .collect();
    site.revocations.lock().unwrap().extend(all.clone());
    let peer = Peer::serve(site.router(secret())).await;
    let (peers, clock) = asking(&options(&[&peer.address]));
    let (first, cursor) = peers.revocations_after(RevocationCursor::default(), 1_000).await.unwrap();
    let (rest, end) = peers.revocations_after(cursor, 1_000).await.unwrap();
    assert_eq!((first.len(), rest.len(), end), (1_000, 501, RevocationCursor(1_501)));
    assert_eq!([first, rest].concat(), all);
    let sessions = Sessions::new(peers, clock, [1; 32]);
    sessions.refresh().await.unwrap();
    assert_eq!(site.asked(), 4, "two pages, twice");
}

#[tokio::test]
async fn an_outbox_elsewhere_is_asked_and_one_that_nobody_has_is_not_taken_for_empty() {
    let site = Site::of(1);
    let peer = Peer::serve(site.router(secret())).await;
    let (peers, _) = asking(&options(&[&peer.address]));
    let likes = PeerOutbox::new(peers.clone(), OutboxOf::Like);
    let unsent = async |ms| likes.has_unsent_before(Timestamp::from_millis(ms)).await.unwrap();
    assert!(unsent(1_000).await && !unsent(999).await);
    let views = PeerOutbox::new(peers, OutboxOf::View);
    assert!(views.has_unsent_before(Timestamp::from_millis(999)).await.is_err());
    site.away.store(true, Ordering::SeqCst);
    assert!(likes.has_unsent_before(Timestamp::from_millis(999)).await.is_err());
}

#[tokio::test]
async fn nothing_is_told_without_the_secret() {
    let site = Site::of(1);
    let router = site.router(secret());
    let wrong = ["Bearer wrong", "Bearer ", "Basic AAAA", ""];
    for path in PATHS.iter().chain(&["nothing/here"]) {
        for authorization in wrong {
            let request = Request::post(format!("/internal/v1/{path}")).header("authorization", authorization);
            let answer = router.clone().oneshot(request.body(Body::from("not JSON")).unwrap()).await.unwrap();
            assert_eq!(answer.status(), StatusCode::UNAUTHORIZED, "{path} {authorization}");
        }
        let without = Request::post(format!("/internal/v1/{path}")).body(Body::empty()).unwrap();
        assert_eq!(router.clone().oneshot(without).await.unwrap().status(), StatusCode::UNAUTHORIZED, "{path}");
    }
    assert_eq!(site.asked(), 0);
}

#[tokio::test]
async fn peers_with_another_secret_are_unavailable_and_left_alone() {
    let site = Site::of(1);
    let peer = Peer::serve(site.router(InternalSecret::new([8; 32]))).await;
    let (peers, _) = asking(&PeerOptions { circuit_failures: 2, ..options(&[&peer.address]) });
    for call in 0..2 {
        let failed = peers.facts(article(1)).await.unwrap_err();
        assert!(failed.to_string().contains("secret"), "{call}: {failed}");
    }
    assert!(peers.states()[0].is_open);
    assert_eq!(site.asked(), 0);
}

#[tokio::test]
async fn a_part_that_a_peer_has_not_is_unavailable_and_its_others_are_not() {
    let site = Site::of(1);
    let parts = InternalParts { likes: Some(site.clone()), ..InternalParts::new(secret()) };
    let peer = Peer::serve(internal_router(parts)).await;
    let (peers, _) = asking(&options(&[&peer.address]));
    for _ in 0..20 {
        let failed = peers.facts(article(1)).await.unwrap_err();
        assert!(matches!(failed, StoreError::Unavailable { what: "articles", .. }), "{failed}");
    }
    assert_eq!(peers.like_counts(&[article(1)]).await.unwrap(), [site.count(article(1), 2)]);
    let roles = vec!["articles", "comments", "likes", "views", "members"];
    let states: Vec<_> = peers.states().into_iter().map(|state| (state.is_open, state.roles)).collect();
    assert_eq!(states, [(false, roles)], "one circuit for the process");
}

#[tokio::test]
async fn a_role_without_peers_is_unavailable() {
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(0)));
    let peers = madang_http::HttpPeers::new(&PeerOptions::new(secret()), clock);
    let failed = peers.view_counts(&[article(1)]).await.unwrap_err();
    assert!(matches!(failed, StoreError::Unavailable { what: "views", .. }), "{failed}");
    assert!(failed.to_string().contains("no peer is named"), "{failed}");
    assert_eq!(peers.states(), []);
}

/// Sends a body with the secret, without the asking end's bounds.
async fn post(site: &Arc<Site>, path: &str, body: String) -> StatusCode {
    let request = Request::post(format!("/internal/v1/{path}")).header("authorization", authorization());
    site.router(secret()).oneshot(request.body(Body::from(body)).unwrap()).await.unwrap().status()
}

/// What peers send: the base64 of HMAC-SHA-256 of the label under the key of [`secret`].
fn authorization() -> String {
    use base64::Engine;
    use hmac::{Hmac, KeyInit, Mac};
    let mut block = [0; 64];
    block[..32].copy_from_slice(&[7; 32]);
    let mac = Hmac::<sha2::Sha256>::new(&block.into()).chain_update(b"madang internal v1").finalize().into_bytes();
    format!("Bearer {}", base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(mac))
}

#[tokio::test]
async fn questions_that_are_too_large_or_make_no_sense_are_refused() {
    let site = Site::of(1);
    let ids = |count| format!("{{\"articles\":[{}]}}", vec!["\"1\""; count].join(","));
    assert_eq!(post(&site, "likes/counts", ids(1_000)).await, StatusCode::OK);
    let asked = site.asked();
    assert_eq!(post(&site, "likes/counts", ids(1_001)).await, StatusCode::BAD_REQUEST);
    assert_eq!(post(&site, "articles/texts", ids(65)).await, StatusCode::BAD_REQUEST);
    let refused = [
        ("likes/counts", "", StatusCode::BAD_REQUEST),
        ("likes/counts", "{\"articles\":[\"0\"]}", StatusCode::BAD_REQUEST),
        ("articles/newest", "{\"board_id\":\"1\",\"limit\":1001}", StatusCode::BAD_REQUEST),
        ("articles/page", "{\"board_id\":\"1\",\"page\":0,\"page_size\":30}", StatusCode::BAD_REQUEST),
        ("articles/page", "{\"board_id\":\"1\",\"page\":1,\"page_size\":101}", StatusCode::BAD_REQUEST),
        ("articles/scroll", "{\"board_id\":\"1\",\"before\":null,\"limit\":0}", StatusCode::BAD_REQUEST),
        ("members/revocations", "{\"after\":0,\"limit\":1001}", StatusCode::BAD_REQUEST),
        ("members/all", "{}", StatusCode::NOT_FOUND),
    ];
    for (path, body, status) in refused {
        assert_eq!(post(&site, path, body.to_owned()).await, status, "{path} {body}");
    }
    let too_large = " ".repeat(BODY_BYTES_MAX + 1);
    assert_eq!(post(&site, "likes/counts", too_large).await, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(site.asked(), asked, "no owner was asked");
}

#[tokio::test]
async fn what_an_owner_cannot_answer_reaches_whoever_asked() {
    let site = Site::of(1);
    let peer = Peer::serve(site.router(secret())).await;
    let (peers, _) = asking(&options(&[&peer.address]));
    site.away.store(true, Ordering::SeqCst);
    let failed = peers.like_counts(&[article(1)]).await.unwrap_err();
    let StoreError::Unavailable { what: "likes", reason, retry_after } = failed else { panic!("{failed}") };
    assert!(reason.contains("shard 3") && reason.contains(&peer.address.to_string()), "{reason}");
    assert_eq!(retry_after.as_millis(), 1_234);
    site.away.store(false, Ordering::SeqCst);
    site.broken.store(true, Ordering::SeqCst);
    let failed = peers.like_counts(&[article(1)]).await.unwrap_err();
    assert!(matches!(failed, StoreError::Broken { what: "likes", .. }), "{failed}");
    assert_eq!(site.asked(), 2, "neither was tried again: there is no other instance");
}
