//! Every message comes back as it was sent, whatever is in it; and what a newer version adds does no harm.

use std::fmt::Debug;

use madang_article_read::{ArticleHead, ArticleText, Count, Newest};
use madang_board::{ArticleFacts, ArticleId, BoardId, CommentMode, MemberId, Role, SessionId};
use madang_event::{BoardCount, Writer};
use madang_kernel::{Id, Page, Scroll, Timestamp};
use madang_member::{Revocation, Standing};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::articles::{FactsBody, NewestBody, PageBody, ScrollBody, TextBody};
use super::counts::CountBody;
use super::revocations::RevocationBody;
use super::*;

fn sent<T: Serialize + DeserializeOwned>(message: &T) -> T {
    let json = serde_json::to_vec(message).unwrap();
    serde_json::from_slice(&json).unwrap()
}

fn comes_back<T: Serialize + DeserializeOwned + PartialEq + Debug>(message: &T) {
    assert_eq!(&sent(message), message);
}

/// Through the body that stands for a value on the wire, and back.
fn passes<T, B>(value: &T)
where
    T: Clone + PartialEq + Debug + From<B>,
    B: From<T> + Serialize + DeserializeOwned,
{
    let received: B = sent(&B::from(value.clone()));
    assert_eq!(&T::from(received), value);
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
            passes::<_, TextBody>(&text);
            comes_back(&TextsAnswer { articles: vec![None, Some(text.into())] });
        }
        let ids = heads.iter().map(|head| head.article_id).collect();
        passes::<_, NewestBody>(&Newest { ids, is_all, count: BoardCount { article_count: known_count, version } });
        passes::<_, PageBody>(&Page { items: heads.clone(), known_count });
        passes::<_, ScrollBody>(&Scroll { items: heads.clone(), next });
        let comment_mode = if is_tree { CommentMode::Tree } else { CommentMode::TwoLevel };
        let facts = ArticleFacts { board_id, comment_mode };
        passes::<_, FactsBody>(&facts);
        comes_back(&FactsAnswer { facts: Some(facts.into()) });
        comes_back(&PageAnswer { page: Some(Page { items: heads.clone(), known_count }.into()) });
        comes_back(&ScrollAnswer { step: Some(Scroll { items: heads, next }.into()) });
        comes_back(&NewestAnswer { newest: None });
    }

    #[test]
    fn counts_come_back_as_they_were_sent(counts in vec(option::of((number(), number())), 0..20)) {
        let bodies = counts.iter().map(|count| count.map(|(count, version)| Count { count, version }.into()));
        comes_back(&CountsAnswer { counts: bodies.collect() });
        comes_back(&ViewCountsAnswer { counts: counts.iter().map(|count| count.map(|(count, _)| count)).collect() });
        for (count, version) in counts.into_iter().flatten() {
            passes::<_, CountBody>(&Count { count, version });
        }
    }

    #[test]
    fn revocations_come_back_as_they_were_sent(revocations in vec(revocation(), 0..10), next in any::<i64>()) {
        for revocation in &revocations {
            passes::<_, RevocationBody>(revocation);
        }
        comes_back(&RevocationsAnswer { revocations: revocations.into_iter().map(Into::into).collect(), next });
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
    let facts = ArticleFacts { board_id: BoardId::from_raw(7), comment_mode: CommentMode::Tree };
    assert_eq!(answer.facts.map(ArticleFacts::from), Some(facts));
}
