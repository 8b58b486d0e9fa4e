//! Every message comes back as it was sent, whatever is in it; its bytes are those that earlier versions send; and what a
//! newer version adds does no harm.

use std::fmt::Debug;

use madang_article_read::{ArticleHead, ArticleText, Count, Discussion, NewestArticles};
use madang_board::{
    Act, ActId, ActKind, ArticleFacts, ArticleId, BoardId, CommentMode, MemberId, Pin, Role, SessionId,
};
use madang_event::{BoardCount, Writer};
use madang_kernel::{Id, Page, Scroll, Timestamp};
use madang_member::{Revocation, Standing};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::*;

fn sent<T: Serialize + DeserializeOwned>(message: &T) -> T {
    let json = serde_json::to_vec(message).unwrap();
    serde_json::from_slice(&json).unwrap()
}

fn comes_back<T: Serialize + DeserializeOwned + PartialEq + Debug>(message: &T) {
    assert_eq!(&sent(message), message);
}

fn id<T: Id + Debug>() -> impl Strategy<Value = T> {
    prop_oneof![Just(1), Just(i64::MAX), 1..=i64::MAX].prop_map(T::from_raw)
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(u64::MAX), Just((1 << 53) + 1), any::<u64>()]
}

fn moment() -> impl Strategy<Value = Timestamp> {
    prop_oneof![Just(i64::MIN), Just(i64::MAX), any::<i64>()].prop_map(Timestamp::from_millis)
}

fn text() -> impl Strategy<Value = String> {
    vec(any::<char>(), 0..40).prop_map(String::from_iter)
}

fn head() -> impl Strategy<Value = ArticleHead> {
    let writer = (id(), text()).prop_map(|(member_id, name)| Writer { member_id, name });
    let parts = (id(), id(), text(), writer, moment(), moment(), number());
    parts.prop_map(|(article_id, board_id, title, writer, created_at, modified_at, version)| ArticleHead {
        article_id,
        board_id,
        title,
        writer,
        created_at,
        modified_at,
        version,
    })
}

fn standing() -> impl Strategy<Value = Standing> {
    // An end that a person gave was read from a date, so it is one: up to the year 9999.
    let until = (0_i64..253_000_000_000_000).prop_map(Timestamp::from_millis);
    let parts =
        (any::<u32>(), option::of(until), vec(id::<BoardId>(), 0..4), any::<u32>(), option::of(id::<SessionId>()));
    parts.prop_map(|(version, suspended_until, moderates, passwords, kept_session)| Standing {
        version,
        suspended_until,
        moderates,
        passwords,
        kept_session,
        suspended_for: suspended_until.map(|_| "why \"not\"".to_owned()),
    })
}

fn revocation() -> impl Strategy<Value = Revocation> {
    let role = prop_oneof![Just(Role::Member), Just(Role::Moderator), Just(Role::Admin)];
    prop_oneof![
        (id::<SessionId>(), moment())
            .prop_map(|(session_id, expires_at)| Revocation::SessionEnded { session_id, expires_at }),
        (id::<MemberId>(), role, standing()).prop_map(|(member_id, role, standing)| Revocation::MemberChanged {
            member_id,
            role,
            standing
        }),
    ]
}

proptest! {
    #[test]
    fn questions_come_back_as_they_were_sent(
        articles in vec(id::<ArticleId>(), 0..20),
        (article_id, board_id) in (id::<ArticleId>(), id::<BoardId>()),
        before in option::of(id::<ArticleId>()),
        (limit, page, after) in (any::<u32>(), any::<u32>(), any::<i64>()),
    ) {
        comes_back(&FactsOf { article_id });
        comes_back(&TextsOf { articles: articles.clone() });
        comes_back(&NewestOf { board_id, limit });
        comes_back(&PageOf { board_id, page, page_size: limit });
        comes_back(&ScrollOf { board_id, before, limit });
        comes_back(&CommentCountsOf { articles: articles.clone() });
        comes_back(&LikeCountsOf { articles: articles.clone() });
        comes_back(&ViewCountsOf { articles });
        comes_back(&RevocationsAfter { after, limit });
    }

    #[test]
    fn articles_come_back_as_they_were_sent(
        heads in vec(head(), 0..5),
        (content, content_html) in (text(), text()),
        (known_count, version) in (number(), number()),
        next in option::of(id::<ArticleId>()),
        (board_id, is_tree, is_all) in (id::<BoardId>(), any::<bool>(), any::<bool>()),
    ) {
        if let Some(head) = heads.first().cloned() {
            let text = ArticleText { head, content, content_html };
            comes_back(&TextsAnswer { articles: vec![None, Some(text)] });
        }
        let ids = heads.iter().map(|head| head.article_id).collect();
        let newest = NewestArticles { ids, is_all, count: BoardCount { article_count: known_count, version } };
        comes_back(&NewestAnswer { newest: Some(newest) });
        let comment_mode = if is_tree { CommentMode::Tree } else { CommentMode::TwoLevel };
        let facts = ArticleFacts { board_id, comment_mode, archived: is_all };
        comes_back(&FactsAnswer { facts: Some(facts) });
        comes_back(&PageAnswer { page: Some(Page { items: heads.clone(), known_count }) });
        comes_back(&ScrollAnswer { step: Some(Scroll { items: heads, next }) });
        comes_back(&NewestAnswer { newest: None });
    }

    #[test]
    fn counts_come_back_as_they_were_sent(counts in vec(option::of((number(), number())), 0..20)) {
        let versioned = counts.iter().map(|count| count.map(|(count, version)| Count { count, version }));
        comes_back(&CountsAnswer { counts: versioned.collect() });
        comes_back(&CountsAnswer { counts: counts.iter().map(|count| count.map(|(count, _)| count)).collect() });
    }

    #[test]
    fn revocations_come_back_as_they_were_sent(revocations in vec(revocation(), 0..10), next in any::<i64>()) {
        comes_back(&RevocationsAnswer { revocations, next });
    }

    #[test]
    fn failures_come_back_as_they_were_sent(error in text(), retry_after_ms in option::of(number())) {
        comes_back(&FailureBody { error, retry_after_ms });
    }

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in vec(any::<u8>(), 0..200)) {
        drop(serde_json::from_slice::<TextsOf>(&bytes));
        drop(serde_json::from_slice::<TextsAnswer>(&bytes));
        drop(serde_json::from_slice::<RevocationsAnswer>(&bytes));
    }
}

#[test]
fn what_a_newer_version_adds_is_passed_over() {
    let json = r#"{"facts":{"board_id":"7","comment_mode":"tree","locked":true},"age":3}"#;
    let answer: FactsAnswer = serde_json::from_str(json).unwrap();
    let facts = ArticleFacts { board_id: BoardId::from_raw(7), comment_mode: CommentMode::Tree, archived: false };
    assert_eq!(answer.facts, Some(facts));
}

/// The bytes of a message, both ways.
fn is_sent_as<T: Serialize + DeserializeOwned + PartialEq + Debug>(message: &T, json: &str) {
    assert_eq!(serde_json::to_string(message).unwrap(), json);
    assert_eq!(&serde_json::from_str::<T>(json).unwrap(), message);
}

#[test]
fn answers_of_articles_are_the_bytes_that_earlier_versions_send() {
    let head = ArticleHead {
        article_id: ArticleId::from_raw(7),
        board_id: BoardId::from_raw(8),
        title: "A title".into(),
        writer: Writer { member_id: MemberId::from_raw(9), name: "ann".into() },
        created_at: Timestamp::from_millis(10),
        modified_at: Timestamp::from_millis(11),
        version: 12,
    };
    let json = r#"{"article_id":"7","board_id":"8","title":"A title","writer_id":"9","writer_name":"ann","created_at_ms":10,"modified_at_ms":11,"version":12}"#;
    let text = ArticleText { head: head.clone(), content: "*text*".into(), content_html: "html".into() };
    let texts = format!(r#"{{"articles":[null,{{"head":{json},"content":"*text*","content_html":"html"}}]}}"#);
    is_sent_as(&TextsAnswer { articles: vec![None, Some(text)] }, &texts);
    let page = Page { items: vec![head.clone()], known_count: 3 };
    is_sent_as(&PageAnswer { page: Some(page) }, &format!(r#"{{"page":{{"items":[{json}],"known_count":3}}}}"#));
    let step = Scroll { items: vec![head], next: Some(ArticleId::from_raw(7)) };
    is_sent_as(&ScrollAnswer { step: Some(step) }, &format!(r#"{{"step":{{"items":[{json}],"next":"7"}}}}"#));
    let count = BoardCount { article_count: 4, version: 5 };
    let newest = NewestArticles { ids: vec![ArticleId::from_raw(7)], is_all: true, count };
    let json = r#"{"newest":{"ids":["7"],"is_all":true,"article_count":4,"version":5}}"#;
    is_sent_as(&NewestAnswer { newest: Some(newest) }, json);
    let facts = ArticleFacts { board_id: BoardId::from_raw(8), comment_mode: CommentMode::TwoLevel, archived: false };
    is_sent_as(&FactsAnswer { facts: Some(facts) }, r#"{"facts":{"board_id":"8","comment_mode":"two_level"}}"#);
    let facts = FactsAnswer { facts: Some(ArticleFacts { archived: true, ..facts }) };
    is_sent_as(&facts, r#"{"facts":{"board_id":"8","comment_mode":"two_level","archived":true}}"#);
}

#[test]
fn other_answers_are_the_bytes_that_earlier_versions_send() {
    let counts = CountsAnswer { counts: vec![Some(Count { count: 1, version: 2 }), None] };
    is_sent_as(&counts, r#"{"counts":[{"count":1,"version":2},null]}"#);
    let open = Discussion { count: 1, locked: false, last: None, version: 2 };
    let comments = CountsAnswer { counts: vec![Some(open.clone()), Some(Discussion { locked: true, ..open })] };
    is_sent_as(&comments, r#"{"counts":[{"count":1,"version":2},{"count":1,"locked":true,"version":2}]}"#);
    let pin = Pin {
        article_id: ArticleId::from_raw(7),
        board_id: BoardId::from_raw(8),
        pinned_at: Timestamp::from_millis(9),
        until: None,
    };
    let until = Pin { until: Some(Timestamp::from_millis(10)), ..pin };
    is_sent_as(
        &PinsAnswer { pins: vec![pin, until] },
        r#"{"pins":[{"article_id":"7","board_id":"8","pinned_at_ms":9,"until_ms":null},{"article_id":"7","board_id":"8","pinned_at_ms":9,"until_ms":10}]}"#,
    );
    let act = Act {
        act_id: ActId::from_raw(1),
        kind: ActKind::ArticleDeleted,
        moderator_id: MemberId::from_raw(2),
        moderator_name: "mod".into(),
        subject: 3,
        board_id: None,
        detail: "d".into(),
        reason: "r".into(),
        acted_at: Timestamp::from_millis(4),
    };
    let json = r#"{"items":[{"act_id":"1","kind":"article_deleted","moderator_id":"2","moderator_name":"mod","subject":3,"board_id":null,"detail":"d","reason":"r","acted_at_ms":4}],"next":"1"}"#;
    is_sent_as(&Scroll { items: vec![act], next: Some(ActId::from_raw(1)) }, json);
    let (session_id, expires_at) = (SessionId::from_raw(5), Timestamp::from_millis(6));
    let ended = Revocation::SessionEnded { session_id, expires_at };
    let json = r#"{"revocations":[{"kind":"session_ended","session_id":"5","expires_at_ms":6}],"next":7}"#;
    is_sent_as(&RevocationsAnswer { revocations: vec![ended], next: 7 }, json);
    let step = ActsStep { board_id: None, before: None, limit: 3 };
    let unsent = UnsentBefore { outbox: OutboxOf::Like, moment_ms: 5 };
    is_sent_as(&unsent, r#"{"outbox":"like","moment_ms":5}"#);
    is_sent_as(&UnsentAnswer { is_unsent: true }, r#"{"is_unsent":true}"#);
    is_sent_as(&ArticleActsOf(step), r#"{"board_id":null,"before":null,"limit":3}"#);
}
