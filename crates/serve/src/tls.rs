//! TLS for small installations: a certificate and a key in PEM files, read again when they change.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig};

use crate::server::Error;

/// Shortest interval between two looks at the files.
const CHECK_INTERVAL: Duration = Duration::from_secs(60);

/// The PEM files of a certificate with its chain, and of its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate, followed by those of its issuers.
    pub certificate: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

/// The certificate in use.
pub(crate) struct Tls {
    files: TlsFiles,
    stamp: [Option<SystemTime>; 2],
    checked: Instant,
    acceptor: TlsAcceptor,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").field("files", &self.files).finish_non_exhaustive()
    }
}

impl Tls {
    /// Reads certificate and key.
    pub fn open(files: &TlsFiles) -> Result<Tls, Error> {
        let (stamp, acceptor) = (files.stamp(), files.acceptor()?);
        Ok(Tls { files: files.clone(), stamp, checked: Instant::now(), acceptor })
    }

    /// The acceptor of connections. A renewed certificate is used within a minute; one that cannot be read is reported, and
    /// the former stays in use.
    pub fn acceptor(&mut self) -> TlsAcceptor {
        if self.checked.elapsed() >= CHECK_INTERVAL {
            self.checked = Instant::now();
            self.reload();
        }
        self.acceptor.clone()
    }

    fn reload(&mut self) {
        let stamp = self.files.stamp();
        if stamp == self.stamp {
            return;
        }
        self.stamp = stamp;
        match self.files.acceptor() {
            Ok(acceptor) => {
                self.acceptor = acceptor;
                log::info!("read the certificate {} again", self.files.certificate.display());
            }
            Err(error) => log::error!("{error}; the former certificate stays in use"),
        }
    }
}

impl TlsFiles {
    fn stamp(&self) -> [Option<SystemTime>; 2] {
        [&self.certificate, &self.key].map(|path| std::fs::metadata(path).and_then(|about| about.modified()).ok())
    }

    fn acceptor(&self) -> Result<TlsAcceptor, Error> {
        let of_certificate = |cause: String| Error::Tls { path: self.certificate.clone(), cause };
        let of_key = |cause: String| Error::Tls { path: self.key.clone(), cause };
        let certificates = CertificateDer::pem_file_iter(&self.certificate)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| of_certificate(error.to_string()))?;
        if certificates.is_empty() {
            return Err(of_certificate("it has no certificate in PEM format".to_owned()));
        }
        let key = PrivateKeyDer::from_pem_file(&self.key).map_err(|error| of_key(error.to_string()))?;
        let mut config = config(certificates, key).map_err(|error| of_key(error.to_string()))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

fn config(
    certificates: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<ServerConfig, rustls::Error> {
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    builder.with_safe_default_protocol_versions()?.with_no_client_auth().with_single_cert(certificates, key)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a self-signed certificate and its key.
    fn write(folder: &std::path::Path) -> TlsFiles {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let files = TlsFiles { certificate: folder.join("certificate.pem"), key: folder.join("key.pem") };
        std::fs::write(&files.certificate, made.cert.pem()).unwrap();
        std::fs::write(&files.key, made.signing_key.serialize_pem()).unwrap();
        files
    }

    #[test]
    fn a_wrong_file_is_named_with_its_cause() {
        let folder = tempfile::tempdir().unwrap();
        let files = write(folder.path());
        assert!(Tls::open(&files).is_ok());
        std::fs::write(&files.key, "no key").unwrap();
        let error = Tls::open(&files).unwrap_err().to_string();
        assert!(error.contains("key.pem"), "{error}");
        std::fs::remove_file(&files.certificate).unwrap();
        let error = Tls::open(&files).unwrap_err().to_string();
        assert!(error.contains("certificate.pem"), "{error}");
    }

    #[test]
    fn a_renewed_certificate_is_read_and_a_broken_one_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let mut tls = Tls::open(&write(folder.path())).unwrap();
        let before = Arc::as_ptr(tls.acceptor.config());
        tls.stamp = [None; 2];
        write(folder.path());
        tls.reload();
        let renewed = Arc::as_ptr(tls.acceptor.config());
        assert_ne!(before, renewed);
        std::fs::write(folder.path().join("key.pem"), "no key").unwrap();
        tls.stamp = [None; 2];
        tls.reload();
        assert_eq!(renewed, Arc::as_ptr(tls.acceptor.config()));
    }
}
