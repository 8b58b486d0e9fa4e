//! Whatever bytes a client sends, they are read or refused with a status of the contract: nothing here panics.

use axum::http::{HeaderMap, HeaderName, HeaderValue, Uri, header};
use madang_board::ArticleId;
use proptest::prelude::*;

use super::condition::IfMatch;
use super::list_query::{CommentCursorText, ListQuery};
use super::{Reader, json, session};
use madang_server::{TrustedProxies, is_same_origin, session_token};

#[derive(Debug, serde::Deserialize, serde::Serialize, PartialEq)]
struct Draft {
    title: String,
    #[serde(default)]
    parent_id: Option<ArticleId>,
}

fn headers(name: &HeaderName, values: &[Vec<u8>]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for value in values.iter().filter_map(|bytes| HeaderValue::from_bytes(bytes).ok()) {
        headers.append(name.clone(), value);
    }
    headers
}

fn any_values() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let tags = "((W/)?\"[^\"]{0,8}\"[, ]{0,3}){0,20}".prop_map(String::into_bytes);
    let bytes = prop::collection::vec(any::<u8>(), 0..60);
    prop::collection::vec(prop_oneof![tags, bytes], 0..3)
}

proptest! {
    #[test]
    fn any_query_is_a_list_or_a_client_error(
        query in prop_oneof!["[!-~]{0,80}", "((page|page_size|before|after|limit)=[-+0-9a-z%.]{0,22}&){0,5}"],
    ) {
        let Ok(uri) = format!("/x?{query}").parse::<Uri>() else { return Ok(()) };
        for refusal in [ListQuery::<ArticleId>::parse(&uri).err(), ListQuery::<CommentCursorText>::parse(&uri).err()] {
            prop_assert!(refusal.is_none_or(|error| [400, 422].contains(&error.status().as_u16())));
        }
    }

    #[test]
    fn any_condition_is_read_or_a_client_error(values in any_values()) {
        if let Err(error) = IfMatch::parse(&headers(&header::IF_MATCH, &values)) {
            prop_assert_eq!(error.status(), 400);
        }
        let seen = headers(&header::IF_NONE_MATCH, &values);
        let matches = Reader::of(&seen).has("\"1.0.0.0\"").is_some();
        let names_it = values.iter().any(|value| value.trim_ascii() == b"*" || value.windows(8).any(|w| w == b"\"1.0.0.0"));
        prop_assert!(!matches || names_it);
    }

    #[test]
    fn any_header_of_a_session_is_read_without_harm(value in "[ -~]{0,200}", host in "[ -~]{0,40}") {
        if let Some(token) = session::bearer(&value) {
            prop_assert!(!token.is_empty() && value.contains(token));
        }
        if let Some(token) = session_token(&headers(&header::COOKIE, &[value.clone().into_bytes()])) {
            prop_assert!(value.contains(token));
        }
        let mut from = headers(&header::ORIGIN, &[value.into_bytes()]);
        from.extend(headers(&header::HOST, &[host.into_bytes()]));
        let same = from.get(header::HOST).zip(from.get(header::ORIGIN)).is_some_and(|(host, origin)| {
            origin.as_bytes().to_ascii_lowercase().ends_with(&host.as_bytes().to_ascii_lowercase())
        });
        prop_assert!(!is_same_origin(&from) || same);
    }

    #[test]
    fn any_body_is_read_or_a_client_error(bytes in prop_oneof![
        prop::collection::vec(any::<u8>(), 0..100),
        "\\{(\"(title|parent_id|x)\":(\"[^\"]{0,9}\"|[0-9]{1,3}|null|\\[\\]),?){0,4}\\}?".prop_map(String::into_bytes),
    ]) {
        match json::parse::<Draft>(&bytes) {
            Ok(draft) => prop_assert_eq!(json::parse::<Draft>(&serde_json::to_vec(&draft).unwrap()).unwrap(), draft),
            Err(error) => prop_assert!([400, 422].contains(&error.status().as_u16()), "{}", error),
        }
    }

    #[test]
    fn any_forwarded_address_leaves_somebody_who_asks(
        values in prop::collection::vec(prop_oneof!["[0-9a-f:., \\[\\]]{0,60}", "(?s).{0,30}"], 0..4),
        trusted in prop_oneof!["[0-9./, ]{0,40}", Just("127.0.0.0/8, ::1".to_owned())],
    ) {
        let Ok(proxies) = trusted.parse::<TrustedProxies>() else { return Ok(()) };
        let peer = std::net::IpAddr::from([203, 0, 113, 9]);
        let client = proxies.client(peer, values.iter().map(|value| value.as_bytes()));
        if TrustedProxies::default().client(peer, values.iter().map(|value| value.as_bytes())) != peer {
            return Err(TestCaseError::fail("nobody is trusted, and somebody's word was taken"));
        }
        prop_assert!(!client.is_ipv6() || values.iter().any(|value| value.contains(':')));
    }
}
