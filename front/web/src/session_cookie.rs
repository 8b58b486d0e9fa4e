//! The session cookie: the same that the API sets and reads, so that a sign-in here is one there.

use axum::http::{HeaderMap, HeaderValue, header};
use madang_kernel::Timestamp;

/// The cookie that carries the token.
const NAME: &str = "madang_session";

/// The value of a cookie.
pub(crate) fn value<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let pairs = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    pairs.flat_map(|value| value.split(';')).find_map(|pair| pair.trim().strip_prefix(name)?.strip_prefix('='))
}

/// The token that the request carries.
pub(crate) fn token(headers: &HeaderMap) -> Option<&str> {
    value(headers, NAME).filter(|token| !token.is_empty())
}

/// The header that stores a token until it ends.
pub(crate) fn store(token: &str, expires_at: Timestamp, secure: bool) -> Option<HeaderValue> {
    let moment = jiff::Timestamp::from_millisecond(expires_at.as_millis()).unwrap_or(jiff::Timestamp::MAX);
    let expires = jiff::fmt::rfc2822::DateTimePrinter::new().timestamp_to_rfc9110_string(&moment).ok()?;
    let secure = if secure { "; Secure" } else { "" };
    HeaderValue::from_str(&format!("{NAME}={token}; Path=/; HttpOnly; SameSite=Lax; Expires={expires}{secure}")).ok()
}

/// The header that takes it away: the first moment of 1970 is over.
pub(crate) fn forget(secure: bool) -> Option<HeaderValue> {
    store("", Timestamp::from_millis(0), secure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cookie_is_out_of_reach_for_scripts_and_other_sites() {
        let expires_at = Timestamp::from_millis(1_704_067_200_000);
        let plain = "madang_session=t; Path=/; HttpOnly; SameSite=Lax; Expires=Mon, 01 Jan 2024 00:00:00 GMT";
        assert_eq!(store("t", expires_at, false).unwrap(), plain);
        assert_eq!(store("t", expires_at, true).unwrap(), format!("{plain}; Secure"));
    }

    #[test]
    fn the_token_is_found_among_other_cookies() {
        let found = |value: &'static str| {
            token(&HeaderMap::from_iter([(header::COOKIE, HeaderValue::from_static(value))])).map(str::to_owned)
        };
        assert_eq!(found("a=b; madang_session=t.o.k; c=d").as_deref(), Some("t.o.k"));
        assert_eq!(found("madang_session_old=x; madang_session="), None);
    }
}
