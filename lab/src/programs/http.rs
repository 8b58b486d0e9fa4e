//! HTTP as the programs speak it: a server that answers everything with JSON or a problem, and a client with a time-out.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context as _;
use axum::Router;
use axum::response::IntoResponse as _;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::header::{self, HeaderValue};
use hyper::{Method, Request, StatusCode};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use super::problem::Problem;
use super::process;
use super::secret::Secret;
use super::server::{self, Limits};

/// The largest body that anybody sends, in bytes.
pub const BODY_MAX_BYTES: usize = 256 * 1024;
/// How long a client keeps a connection that it does not use: shorter than any server does, so that no request is sent on one
/// that is just being closed.
const KEPT: Duration = Duration::from_secs(5);

/// Serves until the process is asked to end.
pub async fn serve(listen: SocketAddr, router: Router) -> anyhow::Result<()> {
    let not_found = || async { Problem::NotFound("there is no such resource".to_owned()).into_response() };
    let router = router.fallback(not_found).method_not_allowed_fallback(|| async { Problem::Method.into_response() });
    let listener =
        tokio::net::TcpListener::bind(listen).await.with_context(|| format!("could not listen on {listen}"))?;
    server::serve(listener, router, Limits::default(), process::asked_to_end()).await;
    Ok(())
}

/// What a server answered.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Its status.
    pub status: StatusCode,
    /// Its content type.
    pub content_type: String,
    /// Its body.
    pub body: Bytes,
}

/// A client that waits so long and no longer.
#[derive(Debug, Clone)]
pub struct HttpClient {
    client: Client<HttpConnector, Full<Bytes>>,
    timeout: Duration,
    authorization: Option<HeaderValue>,
}

impl HttpClient {
    /// A client with this patience.
    #[must_use]
    pub fn new(timeout: Duration) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_connect_timeout(Some(timeout));
        connector.set_nodelay(true);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(KEPT)
            .build(connector);
        Self { client, timeout, authorization: None }
    }

    /// The same, which shows that it knows a secret.
    #[must_use]
    pub fn knowing(self, secret: &Secret) -> Self {
        Self { authorization: Some(secret.authorization()), ..self }
    }

    /// Asks for something.
    pub async fn get(&self, url: &str) -> anyhow::Result<Answer> {
        self.send(Method::GET, url, Bytes::new()).await
    }

    /// Sends something.
    pub async fn send(&self, method: Method, url: &str, body: impl Into<Bytes>) -> anyhow::Result<Answer> {
        let mut request = Request::builder().method(method).uri(url).header(header::CONTENT_TYPE, "application/json");
        if let Some(authorization) = &self.authorization {
            request = request.header(header::AUTHORIZATION, authorization);
        }
        let request = request.body(Full::new(body.into()))?;
        let asked = async {
            let (head, body) = self.client.request(request).await?.into_parts();
            let body = Limited::new(body, BODY_MAX_BYTES).collect().await.map_err(anyhow::Error::from_boxed)?;
            let content_type = head.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
            let content_type = content_type.unwrap_or_default().to_owned();
            Ok(Answer { status: head.status, content_type, body: body.to_bytes() })
        };
        tokio::time::timeout(self.timeout, asked).await.context("no answer in time")?
    }
}
