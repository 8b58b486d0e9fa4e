//! The frame of every page, and the one way text gets into it.

use std::fmt;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};

/// No scripts at all; styles and forms from and to this site only.
const CSP: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
);

/// A whole page around `main`, which is HTML already.
pub(crate) fn page(status: StatusCode, title: &str, main: &str) -> Response {
    let title = Escaped(title);
    let html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title} · Madang</title>\n\
         <link rel=\"stylesheet\" href=\"/assets/madang.css\">\n</head>\n<body>\n\
         <header><a href=\"/\">Madang</a></header>\n<main>\n<h1>{title}</h1>\n{main}\n</main>\n</body>\n</html>\n"
    );
    let mut response = (status, Html(html)).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, CSP);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // The set-up token stands in an address: it must not travel on.
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// A page that says why something did not happen.
pub(crate) fn notice(status: StatusCode, title: &str, text: &str) -> Response {
    page(status, title, &format!("<p>{}</p>", Escaped(text)))
}

/// The page for a part that is away.
pub(crate) fn unavailable() -> Response {
    let mut response =
        notice(StatusCode::SERVICE_UNAVAILABLE, "Not available", "The server is busy. Please try again shortly.");
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

/// Text shown as text, in an element or in a quoted attribute.
pub(crate) struct Escaped<'a>(pub(crate) &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some(at) = rest.find(['&', '<', '>', '"', '\'']) {
            f.write_str(&rest[..at])?;
            f.write_str(match rest.as_bytes()[at] {
                b'&' => "&amp;",
                b'<' => "&lt;",
                b'>' => "&gt;",
                b'"' => "&quot;",
                _ => "&#39;",
            })?;
            rest = &rest[at + 1..];
        }
        f.write_str(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_text_is_shown_and_not_obeyed() {
        assert_eq!(
            Escaped("<a href='x'>\"마당\" & co").to_string(),
            "&lt;a href=&#39;x&#39;&gt;&quot;마당&quot; &amp; co"
        );
        assert_eq!(Escaped("").to_string(), "");
    }
}
