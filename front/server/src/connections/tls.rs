//! TLS by rustls: a certificate that can be renewed without a restart, and the protocols we speak over it.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::{ClientHello, ResolvesServerCert};
use tokio_rustls::rustls::sign::CertifiedKey;
use tokio_rustls::rustls::{self, ServerConfig};
use tokio_rustls::server::TlsStream;

const HTTP_2: &[u8] = b"h2";
const HTTP_1: &[u8] = b"http/1.1";
/// What a key file may not allow: others anything, its group to write.
const TOO_OPEN: u32 = 0o027;

/// Why there is no TLS.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read as what it should be.
    #[error("{}: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The key file can be read by anybody.
    #[error("{} may be read or changed by others (mode {mode:03o}): chmod 600 it", path.display())]
    TooOpen {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// Certificate and key do not go together, or are of a kind that rustls does not take.
    #[error("the certificate and the key cannot be used")]
    Unusable(#[from] rustls::Error),
}

/// A certificate with its key.
pub struct Tls {
    acceptor: TlsAcceptor,
    files: (PathBuf, PathBuf),
    certificate: Arc<CurrentCertificate>,
}

/// The protocol that client and server agreed on (ALPN).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protocol {
    Http1,
    Http2,
}

impl Tls {
    /// Reads a chain of certificates and its key, both as PEM.
    pub fn load(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        let current = Arc::new(CurrentCertificate(RwLock::new(read(certificate, key)?)));
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(current.clone());
        config.alpn_protocols = vec![HTTP_2.to_vec(), HTTP_1.to_vec()];
        let acceptor = TlsAcceptor::from(Arc::new(config));
        Ok(Self { acceptor, files: (certificate.to_owned(), key.to_owned()), certificate: current })
    }

    /// The server's own certificate, as new connections get it (DER).
    pub fn certificate(&self) -> Vec<u8> {
        let certified = self.certificate.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        certified.cert.first().map(|own| own.to_vec()).unwrap_or_default()
    }

    /// Reads the files again; connections made from now on get what they hold. When they cannot be used, the old
    /// certificate stays.
    pub fn reload(&self) -> Result<(), TlsError> {
        let fresh = read(&self.files.0, &self.files.1)?;
        *self.certificate.0.write().unwrap_or_else(PoisonError::into_inner) = fresh;
        Ok(())
    }

    pub(super) async fn accept<S>(&self, stream: S) -> std::io::Result<(TlsStream<S>, Protocol)>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let stream = self.acceptor.accept(stream).await?;
        let is_http2 = stream.get_ref().1.alpn_protocol() == Some(HTTP_2);
        Ok((stream, if is_http2 { Protocol::Http2 } else { Protocol::Http1 }))
    }
}

/// The certificate that new connections get.
#[derive(Debug)]
struct CurrentCertificate(RwLock<Arc<CertifiedKey>>);

impl ResolvesServerCert for CurrentCertificate {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.read().unwrap_or_else(PoisonError::into_inner).clone())
    }
}

fn read(certificate: &Path, key: &Path) -> Result<Arc<CertifiedKey>, TlsError> {
    let unreadable = |path: &Path, reason: String| TlsError::Unreadable { path: path.to_owned(), reason };
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| unreadable(certificate, error.to_string()))?;
    if chain.is_empty() {
        return Err(unreadable(certificate, "there is no certificate in it".to_owned()));
    }
    let about = std::fs::metadata(key).map_err(|error| unreadable(key, error.to_string()))?;
    let mode = about.mode() & 0o777;
    if mode & TOO_OPEN != 0 {
        return Err(TlsError::TooOpen { path: key.to_owned(), mode });
    }
    let key = PrivateKeyDer::from_pem_file(key).map_err(|error| unreadable(key, error.to_string()))?;
    Ok(Arc::new(CertifiedKey::from_der(chain, key, &ring::default_provider())?))
}
