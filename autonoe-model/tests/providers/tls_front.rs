//! TLS server with its own certificate authority.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, IsCa, KeyPair,
    date_time_ymd,
};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

/// Flaw of a server's certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    None,
    AnotherName,
    Expired,
}

/// Accepts encrypted connections to `127.0.0.1` and forwards them to another server. Dropping it
/// stops it.
#[derive(Debug)]
pub(crate) struct TlsFront {
    address: SocketAddr,
    authority: String,
    connections: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl TlsFront {
    /// Starts in front of the server at `behind`, such as `http://127.0.0.1:8080`.
    pub(crate) async fn before(behind: &str, flaw: Flaw) -> Self {
        let behind = behind.trim_start_matches("http://").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (acceptor, authority) = certified(&format!("authority of {address}"), flaw);
        let connections: Arc<AtomicUsize> = Arc::default();
        let counted = connections.clone();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                let (acceptor, behind) = (acceptor.clone(), behind.clone());
                tokio::spawn(async move {
                    // A client that does not trust the certificate disconnects here.
                    let Ok(mut clear) = acceptor.accept(stream).await else {
                        return;
                    };
                    let mut server = TcpStream::connect(behind).await.expect("it is there");
                    let _ = tokio::io::copy_bidirectional(&mut clear, &mut server).await;
                });
            }
        });
        Self {
            address,
            authority,
            connections,
            task,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// Returns the certificate of its authority, in PEM.
    pub(crate) fn authority(&self) -> &str {
        &self.authority
    }

    /// Returns the number of accepted connections.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

impl Drop for TlsFront {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Creates an authority and a server certificate that it signs.
fn certified(authority: &str, flaw: Flaw) -> (TlsAcceptor, String) {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params
        .distinguished_name
        .push(DnType::CommonName, authority);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().expect("a key");
    let authority = CertifiedIssuer::self_signed(params, key).expect("an authority");

    let name = match flaw {
        Flaw::AnotherName => "api.example.org",
        _ => "127.0.0.1",
    };
    let mut params = CertificateParams::new([name.to_owned()]).expect("a name");
    if flaw == Flaw::Expired {
        params.not_after = date_time_ymd(2020, 1, 1);
    }
    let key = KeyPair::generate().expect("a key");
    let certificate = params.signed_by(&key, &authority).expect("a certificate");

    let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .expect("they fit");
    (TlsAcceptor::from(Arc::new(config)), authority.pem())
}
