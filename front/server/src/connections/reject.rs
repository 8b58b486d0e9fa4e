//! The response to a connection past the bound: written without reading a request, then closed.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const RESPONSE: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\n\
    content-type: application/problem+json\r\n\
    content-length: 129\r\n\
    retry-after: 1\r\n\
    cache-control: no-store\r\n\
    x-content-type-options: nosniff\r\n\
    connection: close\r\n\r\n\
    {\"type\":\"urn:madang:problem:unavailable\",\"title\":\"Not available\",\"status\":503,\
    \"detail\":\"too many connections: try again shortly\"}";
/// How long the client has to read it.
const LINGER: Duration = Duration::from_secs(1);

/// Refuses a connection with 503. A socket closed while a request lies unread in it resets the connection, and the
/// response with it: so what comes is read, for a moment, and thrown away.
pub(super) async fn reject(mut stream: TcpStream) {
    let rejected = async {
        stream.write_all(RESPONSE).await?;
        stream.shutdown().await?;
        let mut thrown_away = [0; 1_024];
        while stream.read(&mut thrown_away).await? > 0 {}
        Ok::<(), std::io::Error>(())
    };
    // Whether it was heard is the client's affair.
    let _ = tokio::time::timeout(LINGER, rejected).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_response_is_as_long_as_it_says() {
        let text = std::str::from_utf8(RESPONSE).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "{} bytes", body.len());
        assert_eq!(serde_json::from_str::<serde_json::Value>(body).unwrap()["status"], 503);
    }
}
