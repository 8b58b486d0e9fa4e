//! The few requests that tasks make: one a connection, by HTTP/1.0, whose answers end with the connection.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

/// How long a server on this machine may take to accept a connection and to send something.
const WAIT_MAX: Duration = Duration::from_secs(15);

/// What a server answered.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl Answer {
    /// The body, if the status says that all went well.
    pub(crate) fn ok(self) -> Result<String> {
        ensure!((200..300).contains(&self.status), "answered {}: {}", self.status, self.body);
        Ok(self.body)
    }

    /// The body as JSON, if all went well.
    pub(crate) fn json(self) -> Result<Value> {
        serde_json::from_str(&self.ok()?).context("the answer is no JSON")
    }
}

/// Asks for something.
pub(crate) fn get(address: &str, path: &str) -> Result<Answer> {
    send(address, "GET", path, None, None)
}

/// Sends something, as whoever has the token.
pub(crate) fn send(
    address: &str,
    method: &str,
    path: &str,
    token: Option<&str>,
    body: Option<&Value>,
) -> Result<Answer> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(WAIT_MAX))?;
    stream.set_write_timeout(Some(WAIT_MAX))?;
    stream.write_all(written(address, method, path, token, body).as_bytes())?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    parsed(&String::from_utf8_lossy(&answer))
}

/// A request as it is sent.
pub(crate) fn written(address: &str, method: &str, path: &str, token: Option<&str>, body: Option<&Value>) -> String {
    let body = body.map(Value::to_string).unwrap_or_default();
    let token = token.map(|token| format!("authorization: Bearer {token}\r\n")).unwrap_or_default();
    let kind = if body.is_empty() { "" } else { "content-type: application/json\r\n" };
    format!("{method} {path} HTTP/1.0\r\nhost: {address}\r\n{token}{kind}content-length: {}\r\n\r\n{body}", body.len())
}

/// An answer as it was received.
pub(crate) fn parsed(answer: &str) -> Result<Answer> {
    let (head, body) = answer.split_once("\r\n\r\n").context("half an answer")?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).context("no status in the answer")?;
    Ok(Answer { status, body: body.to_owned() })
}

/// A value within a query.
pub(crate) fn escaped(text: &str) -> String {
    text.bytes().fold(String::new(), |mut escaped, byte| {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => escaped.push(char::from(byte)),
            other => escaped += &format!("%{other:02X}"),
        }
        escaped
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_its_status_and_its_body() {
        let answer = parsed("HTTP/1.0 404 Not Found\r\na: b\r\n\r\nnothing\r\n\r\nhere").unwrap();
        assert_eq!((answer.status, answer.body.as_str()), (404, "nothing\r\n\r\nhere"));
        assert!(answer.json().is_err());
        assert!(parsed("HTTP/1.0 200").is_err());
    }

    #[test]
    fn a_query_survives_its_address() {
        assert_eq!(escaped("rate(a{b=\"c d\"}[5m])"), "rate%28a%7Bb%3D%22c%20d%22%7D%5B5m%5D%29");
    }
}
