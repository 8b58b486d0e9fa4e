//! The response to a connection past the bound: written without reading a request, then closed.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const RESPONSE: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\n\
    content-type: application/problem+json\r\n\
    content-length: 154\r\n\
    retry-after: 1\r\n\
    cache-control: no-store\r\n\
    x-content-type-options: nosniff\r\n\
    connection: close\r\n\r\n\
    {\"type\":\"urn:madang:problem:unavailable\",\"title\":\"Not available\",\"status\":503,\
    \"detail\":\"There are too many connections at the moment. Try again shortly.\"}";
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
    use axum::response::IntoResponse;
    use futures_util::FutureExt;
    use http_body_util::BodyExt;

    use super::*;
    use crate::Rejection;

    #[test]
    fn the_response_is_the_problem_of_an_overload() {
        let text = std::str::from_utf8(RESPONSE).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "{} bytes", body.len());
        let rejection = Rejection::overloaded("There are too many connections at the moment. Try again shortly.");
        assert!(head.starts_with(&format!("HTTP/1.1 {}\r\n", rejection.status())), "{head}");
        let expected = rejection.into_response().into_body().collect().now_or_never().unwrap().unwrap().to_bytes();
        assert_eq!(body.as_bytes(), expected);
    }
}
