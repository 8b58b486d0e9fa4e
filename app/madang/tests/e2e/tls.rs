//! TLS without a proxy: both protocols, a certificate that is renewed while the server runs, and handshakes that must end.

use std::io::Read as _;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tempfile::TempDir;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::command;
use crate::server::{ADMIN, PASSWORD, Start, TestServer};

const HOST: &str = "board.example";

/// A server with a certificate of its own making.
struct Secured {
    server: TestServer,
    directory: TempDir,
    certificate: CertificateDer<'static>,
}

/// Writes a new certificate and its key.
fn certify(directory: &Path) -> CertificateDer<'static> {
    let rcgen::CertifiedKey { cert, signing_key } = rcgen::generate_simple_self_signed([HOST.to_owned()]).unwrap();
    let key = directory.join("key.pem");
    std::fs::write(&key, signing_key.serialize_pem()).unwrap();
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::fs::write(directory.join("certificate.pem"), cert.pem()).unwrap();
    cert.der().clone()
}

impl Secured {
    fn start(settings: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let certificate = certify(directory.path());
        let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
        let start = Start::in_directory(&directory.path().join("data"))
            .with_admin()
            .set("tls_certificate", &path("certificate.pem"))
            .set("tls_key", &path("key.pem"));
        let server = settings.iter().fold(start, |start, (key, value)| start.set(key, value)).start();
        Self { server, directory, certificate }
    }

    /// Shakes hands, believing one certificate only.
    async fn connect(
        &self,
        certificate: &CertificateDer<'static>,
        protocol: &[u8],
    ) -> std::io::Result<TlsStream<tokio::net::TcpStream>> {
        let mut roots = RootCertStore::empty();
        roots.add(certificate.clone()).unwrap();
        let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![protocol.to_vec()];
        let stream = tokio::net::TcpStream::connect(&self.server.address).await?;
        TlsConnector::from(Arc::new(config)).connect(ServerName::try_from(HOST).unwrap(), stream).await
    }
}

#[tokio::test]
async fn http_1_and_http_2_are_spoken_and_browsers_are_told_to_stay_with_tls() {
    let secured = Secured::start(&[]);
    let stream = secured.connect(&secured.certificate, b"http/1.1").await.unwrap();
    let (mut http1, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(connection);
    let request = Request::get("/api/v1/boards").header("host", HOST).body(Full::<bytes::Bytes>::default()).unwrap();
    let answer = http1.send_request(request).await.unwrap();
    assert_eq!(answer.status(), 200);
    assert!(answer.headers()["strict-transport-security"].to_str().unwrap().starts_with("max-age="));

    let stream = secured.connect(&secured.certificate, b"h2").await.unwrap();
    let (mut http2, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    tasks.spawn(connection);
    let body = serde_json::json!({"name": ADMIN, "password": PASSWORD}).to_string();
    let request = Request::post(format!("https://{HOST}/api/v1/sessions")).header("content-type", "application/json");
    let answer = http2.send_request(request.body(Full::<bytes::Bytes>::from(body)).unwrap()).await.unwrap();
    assert_eq!(answer.status(), 201);
    let stored = answer.headers()["set-cookie"].to_str().unwrap();
    assert!(stored.starts_with("__Host-madang_session=") && stored.contains("Secure"), "{stored}");
    let cookie = answer.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    assert!(answer.into_body().collect().await.unwrap().to_bytes().starts_with(b"{"));

    // With the cookie from a page of this host: HTTP/2 names the host in its address, not in a header.
    let request = Request::delete(format!("https://{HOST}/api/v1/sessions/current"));
    let request = request.header("origin", format!("https://{HOST}")).header("cookie", cookie);
    assert_eq!(http2.send_request(request.body(Full::<bytes::Bytes>::default()).unwrap()).await.unwrap().status(), 204);
}

#[tokio::test]
async fn a_renewed_certificate_is_taken_on_sighup_and_a_broken_one_is_not() {
    let mut secured = Secured::start(&[]);
    let renewed = certify(secured.directory.path());
    assert!(secured.connect(&renewed, b"h2").await.is_err(), "not read yet");
    secured.server.signal("HUP");
    let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
    while secured.connect(&renewed, b"h2").await.is_err() {
        assert!(tokio::time::Instant::now() < deadline, "the new certificate is not taken");
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    secured.certificate = renewed;
    std::fs::write(secured.directory.path().join("certificate.pem"), "broken").unwrap();
    secured.server.signal("HUP");
    secured.connect(&secured.certificate, b"http/1.1").await.unwrap();
}

#[test]
fn a_handshake_that_never_ends_is_cut_and_plain_http_is_refused() {
    let secured = Secured::start(&[("head_timeout_ms", "300")]);
    let patient = || {
        let stream = TcpStream::connect(&secured.server.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    };
    let mut silent = patient();
    let mut plain = patient();
    std::io::Write::write_all(&mut plain, b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").unwrap();
    let mut said = Vec::new();
    assert!(silent.read_to_end(&mut said).is_err() || said.is_empty());
    let _ = plain.read_to_end(&mut said);
    assert!(!String::from_utf8_lossy(&said).contains("HTTP/1.1 200"));
}

#[test]
fn a_key_that_anybody_can_read_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    certify(directory.path());
    let key = directory.path().join("key.pem");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (certificate, key) =
        (format!("tls_certificate={}", path("certificate.pem")), format!("tls_key={}", path("key.pem")));
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--set", &certificate, "--set", &key];
    let ended = command::run(&directory.path().join("data"), &arguments, "").expect(1);
    assert!(ended.stderr.contains("chmod 600"), "{}", ended.stderr);
}
