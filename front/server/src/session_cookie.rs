//! The session cookie: set and read in one way, so that a sign-in on a page is one for the API.

use axum::http::{HeaderMap, HeaderValue, header};
use cookie::time::OffsetDateTime;
use cookie::{Cookie, SameSite};
use madang_kernel::Timestamp;

/// The cookie that carries the token.
pub const SESSION_COOKIE: &str = "madang_session";

/// The value of a cookie that a request carries.
pub fn cookie_value<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let values = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let cookies = values.flat_map(Cookie::split_parse).filter_map(Result::ok);
    cookies.filter(|cookie| cookie.name() == name).find_map(|cookie| cookie.value_raw())
}

/// What a request carries as the token of its session.
pub fn session_token(headers: &HeaderMap) -> Option<&str> {
    cookie_value(headers, SESSION_COOKIE)
}

/// The header that stores a token until it ends: out of reach for scripts, and not sent along by other sites' forms.
pub fn store_session(token: &str, expires_at: Timestamp, secure: bool) -> Option<HeaderValue> {
    let expires = OffsetDateTime::from_unix_timestamp(expires_at.as_millis().div_euclid(1_000)).ok();
    let cookie = Cookie::build((SESSION_COOKIE, token)).path("/").http_only(true).same_site(SameSite::Lax);
    HeaderValue::from_str(&cookie.secure(secure).expires(expires).to_string()).ok()
}

/// The header that takes it away: the first moment of 1970 is over.
pub fn forget_session(secure: bool) -> Option<HeaderValue> {
    store_session("", Timestamp::from_millis(0), secure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cookie_is_out_of_reach_for_scripts_and_other_sites() {
        let expires_at = Timestamp::from_millis(1_704_067_200_999);
        let plain = "madang_session=t; HttpOnly; SameSite=Lax; Path=/; Expires=Mon, 01 Jan 2024 00:00:00 GMT";
        assert_eq!(store_session("t", expires_at, false).unwrap(), plain);
        let secure = store_session("t", expires_at, true).unwrap();
        assert!(secure.to_str().unwrap().contains("; Secure;"), "{secure:?}");
        assert!(forget_session(false).unwrap().to_str().unwrap().starts_with("madang_session=; "));
    }

    #[test]
    fn the_token_is_found_among_other_cookies() {
        let found = |value: &'static str| {
            session_token(&HeaderMap::from_iter([(header::COOKIE, HeaderValue::from_static(value))])).map(str::to_owned)
        };
        assert_eq!(found("a=b; madang_session=t.o.k; c=d").as_deref(), Some("t.o.k"));
        assert_eq!(found("lonely; madang_session=t").as_deref(), Some("t"));
        assert_eq!(found("madang_session_old=x; madang_sessio=y"), None);
    }
}
