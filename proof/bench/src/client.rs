//! The least HTTP client that is still correct: one keep-alive connection, one request at a time, whole answers.
//!
//! The load generator shares the machine with what it measures, so what it costs is taken from both sides' figures.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// No answer of ours is longer.
const ANSWER_BYTES_MAX: usize = 4 << 20;
const BUFFER_BYTES: usize = 16 << 10;

/// A request as bytes on the wire.
#[derive(Debug, Clone)]
pub(crate) struct Request(Vec<u8>);

impl Request {
    /// Whether it changes nothing.
    pub(crate) fn is_get(&self) -> bool {
        self.0.starts_with(b"GET ")
    }

    /// A GET without a body.
    pub(crate) fn get(path: &str) -> Self {
        Self(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n").into_bytes())
    }

    /// The same by somebody behind a proxy, at this address.
    pub(crate) fn get_from(path: &str, address: &str) -> Self {
        Self(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nx-forwarded-for: {address}\r\n\r\n").into_bytes())
    }

    /// The same by somebody who takes gzip.
    pub(crate) fn get_gzip(path: &str) -> Self {
        Self(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\naccept-encoding: gzip\r\n\r\n").into_bytes())
    }

    /// A request without a body by the holder of a token.
    pub(crate) fn bodiless(method: &str, path: &str, token: &str) -> Self {
        let head = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n");
        Self((head + "content-length: 0\r\n\r\n").into_bytes())
    }

    /// A POST of JSON by the holder of a token.
    pub(crate) fn post(path: &str, token: &str, json: &str) -> Self {
        Self::post_with(path, &format!("authorization: Bearer {token}\r\n"), json)
    }

    /// A POST of JSON by somebody unknown.
    pub(crate) fn post_as_guest(path: &str, json: &str) -> Self {
        Self::post_with(path, "", json)
    }

    /// The same by somebody behind a proxy, at this address.
    pub(crate) fn post_from(path: &str, address: &str, json: &str) -> Self {
        Self::post_with(path, &format!("x-forwarded-for: {address}\r\n"), json)
    }

    fn post_with(path: &str, header: &str, json: &str) -> Self {
        let length = json.len();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\n{header}content-type: application/json\r\n\
             content-length: {length}\r\n\r\n"
        );
        Self((head + json).into_bytes())
    }
}

/// Why there was no response.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Broken {
    /// The connection is gone.
    #[error("connection: {}", .0.kind())]
    Connection(#[from] std::io::Error),
    /// What came back is no response that this client understands.
    #[error("response: {0}")]
    Malformed(&'static str),
}

/// Status and body of a response; the body lies in the connection's buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Response<'a> {
    pub(crate) status: u16,
    pub(crate) body: &'a [u8],
}

/// One keep-alive connection.
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    /// Connects.
    pub(crate) async fn open(address: SocketAddr) -> Result<Self, Broken> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(BUFFER_BYTES) })
    }

    /// Sends a request and reads its whole answer. After an error the connection is of no use any more.
    pub(crate) async fn exchange(&mut self, request: &Request) -> Result<Response<'_>, Broken> {
        self.stream.write_all(&request.0).await?;
        self.buffer.clear();
        let head = loop {
            self.read_more().await?;
            if let Some(head) = Head::parse(&self.buffer)? {
                break head;
            }
        };
        let end = head.bytes + head.body_bytes;
        if end > ANSWER_BYTES_MAX {
            return Err(Broken::Malformed("too long"));
        }
        while self.buffer.len() < end {
            self.read_more().await?;
        }
        if self.buffer.len() > end {
            return Err(Broken::Malformed("longer than its content-length"));
        }
        Ok(Response { status: head.status, body: &self.buffer[head.bytes..end] })
    }

    async fn read_more(&mut self) -> Result<(), Broken> {
        if self.buffer.len() >= ANSWER_BYTES_MAX {
            return Err(Broken::Malformed("too long"));
        }
        match self.stream.read_buf(&mut self.buffer).await? {
            0 => Err(Broken::Malformed("cut off")),
            _ => Ok(()),
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Head {
    status: u16,
    bytes: usize,
    body_bytes: usize,
}

impl Head {
    /// The head at the start of `buffer`, once it is complete.
    fn parse(buffer: &[u8]) -> Result<Option<Self>, Broken> {
        let Some(end) = buffer.windows(4).position(|window| window == b"\r\n\r\n") else {
            return Ok(None);
        };
        let mut lines = buffer[..end].split(|byte| *byte == b'\n');
        let status = lines.next().and_then(|line| line.strip_prefix(b"HTTP/1.1 ")).and_then(|rest| rest.get(..3));
        let status = status.and_then(number).ok_or(Broken::Malformed("no HTTP/1.1"))?;
        let length = lines.find_map(|line| {
            let (name, value) = line.split_at(line.iter().position(|byte| *byte == b':')?);
            name.eq_ignore_ascii_case(b"content-length").then(|| value[1..].trim_ascii())
        });
        let body_bytes = match length {
            Some(digits) => number(digits).ok_or(Broken::Malformed("content-length is no number"))?,
            None if status == 204 || status == 304 => 0,
            None => return Err(Broken::Malformed("no content-length")),
        };
        // A status has three digits, so it fits.
        Ok(Some(Self { status: status as u16, bytes: end + 4, body_bytes }))
    }
}

fn number(digits: &[u8]) -> Option<usize> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    /// What the client makes of these pieces, sent one after the other.
    async fn answer_of(pieces: &'static [&'static [u8]]) -> Result<(u16, Vec<u8>), Broken> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.set_nodelay(true).unwrap();
            let mut request = [0; 1024];
            assert_ne!(stream.read(&mut request).await.unwrap(), 0);
            for piece in pieces {
                stream.write_all(piece).await.unwrap();
                tokio::task::yield_now().await;
            }
        };
        let client = async {
            let mut connection = Connection::open(address).await?;
            connection.exchange(&Request::get("/")).await.map(|answer| (answer.status, answer.body.to_vec()))
        };
        tokio::join!(server, client).1
    }

    #[tokio::test]
    async fn an_answer_in_pieces_is_read_whole() {
        let answer = answer_of(&[b"HTTP/1.1 200 OK\r\nContent-Le", b"ngth: 5\r\n\r", b"\nhe", b"llo"]).await.unwrap();
        assert_eq!(answer, (200, b"hello".to_vec()));
        let answer = answer_of(&[b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n"]).await.unwrap();
        assert_eq!(answer, (503, Vec::new()));
        assert_eq!(answer_of(&[b"HTTP/1.1 204 No Content\r\n\r\n"]).await.unwrap().0, 204);
    }

    #[tokio::test]
    async fn what_is_no_whole_answer_is_an_error() {
        let cases: [(&'static [&'static [u8]], &str); 5] = [
            (&[b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhel"], "cut off"),
            (&[b""], "cut off"),
            (&[b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nhello"], "longer than its content-length"),
            (&[b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"], "no content-length"),
            (&[b"SSH-2.0\r\n\r\n"], "no HTTP/1.1"),
        ];
        for (pieces, expected) in cases {
            let error = answer_of(pieces).await.unwrap_err().to_string();
            assert!(error.contains(expected), "{error} is not {expected}");
        }
    }
}
