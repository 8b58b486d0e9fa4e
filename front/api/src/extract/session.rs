//! Who asks: a bearer token, or the session cookie, which browsers send by themselves and which is therefore believed
//! on writes only when the request comes from our own pages.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use madang_member::Session;

use crate::ApiError;
use crate::state::Shared;

/// The cookie that carries the token.
pub(crate) const COOKIE_NAME: &str = "madang_session";

/// A signed-in member.
pub(crate) struct Signed(pub(crate) Session);

impl<T: Send + Sync> FromRequestParts<Shared<T>> for Signed {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &Shared<T>) -> Result<Self, ApiError> {
        let session = session(parts, api)?.ok_or(ApiError::NotSignedIn("sign in first: POST /api/v1/sessions"))?;
        if let Some(limiter) = &api.policy.limiter
            && !parts.method.is_safe()
        {
            limiter.admit_write(session.actor.member_id).await?;
        }
        Ok(Self(session))
    }
}

/// A signed-in member, or a guest. Only who sends no token at all is a guest: one who sends a bad token believes to be
/// signed in, and an answer meant for guests would be wrong for them without saying so.
pub(crate) struct Visitor(pub(crate) Option<Session>);

impl<T: Send + Sync> FromRequestParts<Shared<T>> for Visitor {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &Shared<T>) -> Result<Self, ApiError> {
        Ok(Self(session(parts, api)?))
    }
}

/// Whose token the request carries, if it carries one.
pub(super) fn session<T>(parts: &Parts, api: &Shared<T>) -> Result<Option<Session>, ApiError> {
    // A request that names a token means that token: a bad one does not fall back to the cookie.
    if let Some(value) = parts.headers.get(header::AUTHORIZATION) {
        let token = value.to_str().ok().and_then(bearer);
        let token = token.ok_or(ApiError::NotSignedIn("the Authorization header must be: Bearer <token>"))?;
        return Ok(Some(api.sessions.authenticate(token)?));
    }
    let Some(token) = cookie(&parts.headers) else {
        return Ok(None);
    };
    let session = api.sessions.authenticate(token)?;
    if !parts.method.is_safe() && !is_same_origin(&parts.headers) {
        return Err(ApiError::Forbidden("a request with the session cookie must come from this site's own pages"));
    }
    Ok(Some(session))
}

pub(super) fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim()).filter(|token| !token.is_empty())
}

pub(super) fn cookie(headers: &HeaderMap) -> Option<&str> {
    let pairs = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    pairs.flat_map(|value| value.split(';')).find_map(|pair| pair.trim().strip_prefix(COOKIE_NAME)?.strip_prefix('='))
}

/// Whether a browser says that our own page, or the person at the address bar, sent the request. Silence is no.
pub(super) fn is_same_origin(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value: &axum::http::HeaderValue| value.to_str().ok());
    if headers.contains_key("sec-fetch-site") {
        return matches!(text("sec-fetch-site"), Some("same-origin" | "none"));
    }
    let origin = text("origin").and_then(|origin| origin.split_once("://")).map(|(_, host)| host);
    matches!((origin, text("host")), (Some(origin), Some(host)) if origin.eq_ignore_ascii_case(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn only_our_own_pages_write_with_the_cookie() {
        let from = |pairs: &[(&'static str, &'static str)]| is_same_origin(&headers(pairs));
        assert!(from(&[("sec-fetch-site", "same-origin")]));
        assert!(from(&[("sec-fetch-site", "none")]));
        assert!(from(&[("origin", "https://board.example"), ("host", "Board.example")]));
        assert!(from(&[("origin", "http://127.0.0.1:8080"), ("host", "127.0.0.1:8080")]));
        assert!(!from(&[("sec-fetch-site", "cross-site"), ("origin", "http://a"), ("host", "a")]));
        assert!(!from(&[("sec-fetch-site", "same-site")]));
        assert!(!from(&[("origin", "https://evil.example"), ("host", "board.example")]));
        assert!(!from(&[("origin", "null"), ("host", "board.example")]));
        assert!(!from(&[("host", "board.example")]));
    }

    #[test]
    fn the_token_is_found_among_other_cookies() {
        let found = |value| cookie(&headers(&[("cookie", value)])).map(str::to_owned);
        assert_eq!(found("a=b; madang_session=t.o.k; c=d").as_deref(), Some("t.o.k"));
        assert_eq!(found("madang_session_old=x; madang_sessio=y"), None);
    }

    #[test]
    fn other_schemes_are_no_bearer_tokens() {
        assert_eq!(bearer("Bearer abc"), Some("abc"));
        assert_eq!(bearer("bearer abc"), Some("abc"));
        for value in ["abc", "Basic abc", "Bearer", "Bearer ", ""] {
            assert_eq!(bearer(value), None, "{value:?}");
        }
    }
}
