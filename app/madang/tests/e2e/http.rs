//! A small HTTP client: one keep-alive connection, whole answers, no surprises.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// One connection.
pub(crate) struct Http {
    stream: BufReader<TcpStream>,
}

/// A whole answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// A request under construction.
pub(crate) struct Call {
    address: String,
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Option<Vec<u8>>,
}

impl Call {
    pub(crate) fn new(address: &str, method: &str, path: &str) -> Self {
        let (address, method, path) = (address.to_owned(), method.to_owned(), path.to_owned());
        Self { address, method, path, headers: Vec::new(), body: None }
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn token(self, token: &str) -> Self {
        self.header("authorization", &format!("Bearer {token}"))
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.text("application/json", body.to_string())
    }

    pub(crate) fn text(mut self, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        self.body = Some(body.into());
        self.header("content-type", content_type)
    }

    /// Sends it on a connection of its own; panics when there is no whole answer.
    pub(crate) fn send(self) -> Answer {
        let mut http = Http::connect(&self.address).expect("connects");
        let (method, path) = (self.method.clone(), self.path.clone());
        self.send_on(&mut http).unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }

    /// Sends it on a connection that is already there.
    pub(crate) fn send_on(self, http: &mut Http) -> io::Result<Answer> {
        let mut head = format!("{} {} HTTP/1.1\r\nhost: {}\r\n", self.method, self.path, self.address);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        let body = self.body.unwrap_or_default();
        head.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
        http.exchange(&[head.as_bytes(), &body].concat())
    }
}

impl Http {
    pub(crate) fn connect(address: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
        Ok(Self { stream: BufReader::new(stream) })
    }

    /// Sends raw bytes and reads one answer.
    pub(crate) fn exchange(&mut self, request: &[u8]) -> io::Result<Answer> {
        // A server that refuses a body early may stop reading; its answer is what counts.
        let sent = self.stream.get_mut().write_all(request);
        let answer = self.read_answer();
        answer.or_else(|error| sent.and(Err(error)))
    }

    fn read_answer(&mut self) -> io::Result<Answer> {
        let invalid = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
        let status_line = self.line()?;
        let status = status_line.split(' ').nth(1).and_then(|code| code.parse().ok()).ok_or(invalid("no status"))?;
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').ok_or(invalid("no header"))?;
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let mut answer = Answer { status, headers, body: Vec::new() };
        assert!(answer.header("transfer-encoding").is_none(), "this client reads whole bodies only");
        if status != 204 && status != 304 {
            let length = answer.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
            answer.body = vec![0; length];
            self.stream.read_exact(&mut answer.body)?;
        }
        Ok(answer)
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(line.trim_end().to_owned())
    }
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// All headers of a name.
    pub(crate) fn headers(&self, name: &str) -> Vec<&str> {
        self.headers.iter().filter(|(key, _)| key == name).map(|(_, value)| value.as_str()).collect()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON, after checking the status.
    #[track_caller]
    pub(crate) fn json(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// Checks that this is a problem of the given status, and gives it back.
    #[track_caller]
    pub(crate) fn problem(&self, status: u16, case: &str) -> Value {
        assert_eq!(self.status, status, "{case}: {}", self.text());
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{case}");
        let problem: Value =
            serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{case}: {error}: {}", self.text()));
        assert_eq!(problem["status"], status, "{case}: {problem}");
        for field in ["type", "title", "detail"] {
            assert!(problem[field].is_string(), "{case}: no {field} in {problem}");
        }
        assert!(problem["detail"].as_str().is_some_and(|text| text.ends_with('.')), "{case}: no sentence in {problem}");
        problem
    }

    /// Checks that this is a 422 that names the field.
    #[track_caller]
    pub(crate) fn invalid_field(&self, field: &str, case: &str) {
        let problem = self.problem(422, case);
        let named = problem["errors"].as_array().is_some_and(|errors| errors.iter().any(|e| e["field"] == field));
        assert!(named, "{case}: {field} is not named in {problem}");
    }
}
