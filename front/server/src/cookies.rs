//! The cookies of a member: the session's, and the note of a device on which they signed in. Set and read in one way, so that
//! a sign-in on a page is one for the API. Where cookies are sent over TLS only, their names say so (`__Host-`): a browser
//! then takes them from this very host alone, never from a neighbour or over plain HTTP.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, header};
use cookie::time::OffsetDateTime;
use cookie::{Cookie, SameSite};
use madang_kernel::Timestamp;

/// The cookie that carries the token.
pub const SESSION_COOKIE: &str = "madang_session";
/// The cookie that carries a device's note.
const DEVICE_COOKIE: &str = "madang_device";
/// Before the name of a cookie that is sent over TLS only.
const SECURE_PREFIX: &str = "__Host-";
/// How long a device is remembered after its last sign-in.
const DEVICE_KEPT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The value of a cookie that a request carries.
pub fn cookie_value<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let values = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let cookies = values.flat_map(Cookie::split_parse).filter_map(Result::ok);
    cookies.filter(|cookie| cookie.name() == name).find_map(|cookie| cookie.value_raw())
}

/// What a request carries as the token of its session.
pub fn session_token(headers: &HeaderMap) -> Option<&str> {
    // Sessions from before the prefix are read under their old name for one more version.
    secure_or_plain(headers, SESSION_COOKIE)
}

/// What a request carries as the note of its device.
pub fn device_note(headers: &HeaderMap) -> Option<&str> {
    secure_or_plain(headers, DEVICE_COOKIE)
}

fn secure_or_plain<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    cookie_value(headers, &format!("{SECURE_PREFIX}{name}")).or_else(|| cookie_value(headers, name))
}

/// Has the browser store a token until it ends: out of reach for scripts, and not sent along by other sites' forms.
pub fn store_session(headers: &mut HeaderMap, token: &str, expires_at: Timestamp, secure: bool) {
    set(headers, SESSION_COOKIE, token, expires_at, secure);
}

/// Has the browser forget it: the first moment of 1970 is over.
pub fn forget_session(headers: &mut HeaderMap, secure: bool) {
    set(headers, SESSION_COOKIE, "", Timestamp::from_millis(0), secure);
}

/// Has the browser store the note of the device it runs on.
pub fn store_device(headers: &mut HeaderMap, note: &str, now: Timestamp, secure: bool) {
    set(headers, DEVICE_COOKIE, note, now.plus(DEVICE_KEPT), secure);
}

fn set(headers: &mut HeaderMap, name: &str, value: &str, expires_at: Timestamp, secure: bool) {
    let gone = Timestamp::from_millis(0);
    let written = if secure {
        // What an older version stored under the plain name would outlive a sign-out.
        vec![(format!("{SECURE_PREFIX}{name}"), value, expires_at), (name.to_owned(), "", gone)]
    } else {
        vec![(name.to_owned(), value, expires_at)]
    };
    for (name, value, expires_at) in written {
        let expires = OffsetDateTime::from_unix_timestamp(expires_at.as_millis().div_euclid(1_000)).ok();
        let cookie = Cookie::build((name, value)).path("/").http_only(true).same_site(SameSite::Lax);
        // Tokens and notes are of the URL-safe alphabet: there is nothing that a header would not take.
        if let Ok(text) = HeaderValue::from_str(&cookie.secure(secure).expires(expires).to_string()) {
            headers.append(header::SET_COOKIE, text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set_cookies(store: impl FnOnce(&mut HeaderMap)) -> Vec<String> {
        let mut headers = HeaderMap::new();
        store(&mut headers);
        headers.get_all(header::SET_COOKIE).iter().map(|value| value.to_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn the_cookie_is_out_of_reach_for_scripts_and_other_sites() {
        let expires_at = Timestamp::from_millis(1_704_067_200_999);
        let plain = "madang_session=t; HttpOnly; SameSite=Lax; Path=/; Expires=Mon, 01 Jan 2024 00:00:00 GMT";
        assert_eq!(set_cookies(|headers| store_session(headers, "t", expires_at, false)), [plain]);
        let gone = set_cookies(|headers| forget_session(headers, false));
        assert!(gone[0].starts_with("madang_session=; "), "{gone:?}");
    }

    #[test]
    fn over_tls_the_name_binds_the_cookie_to_its_host_and_the_old_one_goes() {
        let expires_at = Timestamp::from_millis(1_704_067_200_999);
        let secure = set_cookies(|headers| store_session(headers, "t", expires_at, true));
        let expected =
            "__Host-madang_session=t; HttpOnly; SameSite=Lax; Secure; Path=/; Expires=Mon, 01 Jan 2024 00:00:00 GMT";
        assert_eq!(secure[0], expected);
        assert!(secure[1].starts_with("madang_session=; ") && secure[1].contains(" 1970 "), "{secure:?}");
        let device = set_cookies(|headers| store_device(headers, "n", expires_at, true));
        assert!(
            device[0].starts_with("__Host-madang_device=n; HttpOnly") && device[0].contains(" 2024 "),
            "{device:?}"
        );
    }

    #[test]
    fn the_token_is_found_among_other_cookies() {
        let found = |value: &'static str| {
            session_token(&HeaderMap::from_iter([(header::COOKIE, HeaderValue::from_static(value))])).map(str::to_owned)
        };
        assert_eq!(found("a=b; madang_session=t.o.k; c=d").as_deref(), Some("t.o.k"));
        assert_eq!(found("lonely; madang_session=t").as_deref(), Some("t"));
        assert_eq!(found("madang_session=planted; __Host-madang_session=t").as_deref(), Some("t"));
        assert_eq!(found("madang_session_old=x; madang_sessio=y"), None);
    }
}
