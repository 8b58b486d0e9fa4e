//! JSON bodies: what cannot be read is malformed (400), what can be read and does not fit names its field (422).

use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use bytes::Bytes;
use madang_server::FieldProblem;
use serde::de::{DeserializeOwned, IgnoredAny};

use super::body;
use crate::ApiError;
use crate::state::Shared;

/// The longest message about a body that is sent back: serde quotes what it was given.
const MESSAGE_CHARS_MAX: usize = 200;

/// A JSON object, with the bytes it was sent as.
pub(crate) struct Json<T> {
    /// The object.
    pub(crate) value: T,
    /// The body as sent.
    pub(crate) bytes: Bytes,
}

impl<T: DeserializeOwned, C: Send + Sync> FromRequest<Shared<C>> for Json<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, api: &Shared<C>) -> Result<Self, ApiError> {
        let labelled = is_json(request.headers());
        let bytes = body::read(request, api.policy.body_bytes).await?;
        if !labelled {
            return Err(ApiError::NotJson);
        }
        Ok(Self { value: parse(&bytes)?, bytes })
    }
}

/// A JSON object, or no body at all; `null` is another way to send none.
pub(crate) struct OptionalJson<T>(pub(crate) Option<T>);

impl<T: DeserializeOwned, C: Send + Sync> FromRequest<Shared<C>> for OptionalJson<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, api: &Shared<C>) -> Result<Self, ApiError> {
        let labelled = is_json(request.headers());
        let bytes = body::read(request, api.policy.body_bytes).await?;
        match (bytes.is_empty(), labelled) {
            (true, _) => Ok(Self(None)),
            (false, true) if bytes.trim_ascii() == b"null" => Ok(Self(None)),
            (false, true) => Ok(Self(Some(parse(&bytes)?))),
            (false, false) => Err(ApiError::NotJson),
        }
    }
}

/// `application/json` or `application/<anything>+json`, whatever parameters follow.
fn is_json(headers: &HeaderMap) -> bool {
    let Some(kind) = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()) else {
        return false;
    };
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind.strip_prefix("application/").is_some_and(|sub| sub == "json" || sub.ends_with("+json"))
}

pub(super) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    let text = std::str::from_utf8(bytes).map_err(|_| ApiError::Malformed("The body is not UTF-8.".into()))?;
    // serde takes an array for a struct, field after field; the contract does not.
    if !text.trim_ascii_start().starts_with('{') {
        well_formed(text)?;
        return Err(ApiError::invalid("", "the body must be a JSON object"));
    }
    serde_json::from_str(text).map_err(|_| diagnose::<T>(text))
}

fn well_formed(text: &str) -> Result<(), ApiError> {
    serde_json::from_str::<IgnoredAny>(text).map(drop).map_err(|error| malformed(&error))
}

/// Reads a body that did not fit a second time, to find out why: only those who err pay for it.
fn diagnose<T: DeserializeOwned>(text: &str) -> ApiError {
    let deserializer = &mut serde_json::Deserializer::from_str(text);
    let Err(error) = serde_path_to_error::deserialize::<_, T>(deserializer) else {
        // The object fits: what follows it does not.
        return well_formed(text)
            .err()
            .unwrap_or(ApiError::Malformed("The body must be one JSON object, with nothing after it.".into()));
    };
    if !error.inner().is_data() {
        return malformed(error.inner());
    }
    if let Err(malformed) = well_formed(text) {
        return malformed;
    }
    let path = error.path().to_string();
    let message = without_position(&error.inner().to_string());
    if message.starts_with("duplicate field") {
        return ApiError::Malformed(format!("The body has a {message}.").into());
    }
    if let Some(field) = message.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`')) {
        return ApiError::Invalid(vec![FieldProblem::new(field.to_owned(), "is missing")]);
    }
    ApiError::Invalid(vec![FieldProblem::new(path, requirement(&message))])
}

/// What a field must be, of what the parser says of it: a client need not know by which type it is read.
fn requirement(message: &str) -> String {
    let Some((_, expected)) = message.split_once(", expected ") else { return message.to_owned() };
    let is_number = expected.strip_prefix(['u', 'i']).is_some_and(|bits| bits.parse::<u8>().is_ok() || bits == "size");
    match expected {
        _ if is_number => "must be a whole number".to_owned(),
        "a boolean" => "must be true or false".to_owned(),
        "a sequence" => "must be an array".to_owned(),
        "a map" => "must be an object".to_owned(),
        expected if expected.starts_with("struct ") => "must be an object".to_owned(),
        expected => format!("must be {expected}"),
    }
}

fn malformed(error: &serde_json::Error) -> ApiError {
    let message: String = error.to_string().chars().take(MESSAGE_CHARS_MAX).collect();
    ApiError::Malformed(format!("The body is not JSON: {message}.").into())
}

fn without_position(message: &str) -> String {
    let end = message.rfind(" at line ").unwrap_or(message.len());
    message[..end].chars().take(MESSAGE_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    #[expect(dead_code, reason = "only whether it parses matters here")]
    struct Draft {
        title: String,
        content: String,
    }

    fn refusal(body: &[u8]) -> ApiError {
        parse::<Draft>(body).unwrap_err()
    }

    #[test]
    fn what_cannot_be_read_is_malformed() {
        let bodies: [&[u8]; 12] = [
            b"",
            b"{",
            b"nonsense",
            b"{\"title\":\"a\",}",
            b"{\"title\":5,",
            b"{\"title\":\"a\",\"content\":\"b\"} trailing",
            b"{\"title\":\"a\",\"title\":\"b\",\"content\":\"c\"}",
            b"{\"title\":\"\xff\",\"content\":\"b\"}",
            b"{\"title\":\"\\ud800\",\"content\":\"b\"}",
            b"{\"title\":\"a\nb\",\"content\":\"b\"}",
            b"[1,",
            b"\xef\xbb\xbf{\"title\":\"a\",\"content\":\"b\"}",
        ];
        for body in bodies {
            let error = refusal(body);
            assert!(matches!(error, ApiError::Malformed(_)), "{}: {error:?}", String::from_utf8_lossy(body));
        }
    }

    #[test]
    fn a_field_is_told_what_it_must_be_and_not_how_it_is_read() {
        #[derive(Debug, serde::Deserialize)]
        #[serde(rename_all = "lowercase")]
        enum Kind {
            Two,
            Tree,
        }
        #[derive(Debug, serde::Deserialize)]
        #[expect(dead_code, reason = "only whether it parses matters here")]
        struct Any {
            text: Option<String>,
            number: Option<u32>,
            list: Option<Vec<String>>,
            switch: Option<bool>,
            kind: Option<Kind>,
            id: Option<madang_board::ArticleId>,
        }
        for (body, message) in [
            (r#"{"text":5}"#, "text must be a string."),
            (r#"{"number":-1}"#, "number must be a whole number."),
            (r#"{"number":"x"}"#, "number must be a whole number."),
            (r#"{"list":"x"}"#, "list must be an array."),
            (r#"{"switch":0}"#, "switch must be true or false."),
            (r#"{"kind":"flat"}"#, "kind must be `two` or `tree`."),
            (r#"{"id":"x"}"#, "id must be a decimal number from 1 to 9223372036854775807."),
            ("[]", "the body must be a JSON object."),
        ] {
            assert_eq!(parse::<Any>(body.as_bytes()).unwrap_err().to_string(), message, "{body}");
        }
    }

    #[test]
    fn what_does_not_fit_names_its_field() {
        let cases: [(&[u8], &str); 7] = [
            (b"{\"title\":5,\"content\":\"b\"}", "title"),
            (b"{\"title\":null,\"content\":\"b\"}", "title"),
            (b"{\"title\":\"a\",\"content\":[\"b\"]}", "content"),
            (b"{\"title\":\"a\"}", "content"),
            (b"{}", "title"),
            (b"[\"a\",\"b\"]", ""),
            (b"\"title\"", ""),
        ];
        for (body, field) in cases {
            match refusal(body) {
                ApiError::Invalid(errors) => assert_eq!(errors[0].field, field, "{errors:?}"),
                other => panic!("{}: {other:?}", String::from_utf8_lossy(body)),
            }
        }
    }

    #[test]
    fn unknown_fields_are_ignored() {
        let body = format!("{{\"title\":\"a\",\"content\":\"b\",\"more\":{}1{}}}", "[".repeat(60), "]".repeat(60));
        assert_eq!(parse::<Draft>(body.as_bytes()).unwrap().title, "a");
    }

    #[test]
    fn a_quoted_body_is_not_echoed_at_length() {
        let body = format!("{{\"title\":{{}},\"content\":\"{}\"}}", "x".repeat(10_000));
        assert!(refusal(body.as_bytes()).to_string().len() < 400);
    }
}
