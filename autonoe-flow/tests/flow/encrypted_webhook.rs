//! Webhooks with encrypted connections.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use autonoe_flow::escalation::{DeliveryPolicy, WebhookNotifier};
use autonoe_flow::{FlowErrorKind, Notifier};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

use crate::hook_server::{HookServer, Reply};
use crate::webhook::{Waits, escalation, notice, notifier, verified};

/// Accepts encrypted connections and forwards them to a server. It stops when it is dropped.
struct Encrypted {
    address: SocketAddr,
    authority: CertificateDer<'static>,
    task: JoinHandle<()>,
}

impl Encrypted {
    async fn before(server: &HookServer) -> Self {
        let behind = server.url("").trim_start_matches("http://").to_owned();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .expect("a port");
        let address = listener.local_addr().expect("it is bound");
        let (acceptor, authority) = certified();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
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
            task,
        }
    }

    fn url(&self) -> String {
        format!("https://{}/hook", self.address)
    }
}

impl Drop for Encrypted {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Creates a certificate authority and a server with a certificate of it.
fn certified() -> (TlsAcceptor, CertificateDer<'static>) {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().expect("a key");
    let authority = CertifiedIssuer::self_signed(params, key).expect("an authority");
    let params = CertificateParams::new(["127.0.0.1".to_owned()]).expect("a name");
    let key = KeyPair::generate().expect("a key");
    let certificate = params.signed_by(&key, &authority).expect("a certificate");
    let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .expect("they fit");
    (TlsAcceptor::from(Arc::new(config)), authority.der().clone())
}

fn trusting(authority: &CertificateDer<'static>) -> WebhookNotifier {
    let once = DeliveryPolicy {
        max_attempts: 1,
        ..DeliveryPolicy::default()
    };
    let mut authorities = RootCertStore::empty();
    authorities.add(authority.clone()).expect("it is valid");
    notifier(&Waits::new())
        .with_policy(once)
        .with_authorities(Arc::new(authorities))
}

#[tokio::test]
async fn a_notice_is_delivered_to_a_service_with_a_trusted_certificate() {
    let server = HookServer::start([Reply::Status(204)]).await;
    let encrypted = Encrypted::before(&server).await;
    let to = escalation(&encrypted.url(), Some("ops"));

    let delivered = trusting(&encrypted.authority).notify(&to, &notice(4)).await;

    delivered.expect("it was taken");
    let (id, ..) = verified(&server.received()[0]);
    assert_eq!(id, "5f_2a-4-initial_draft-2");
}

#[tokio::test]
async fn untrusted_service_receives_no_notice() {
    let server = HookServer::start([]).await;
    let (encrypted, another) = (
        Encrypted::before(&server).await,
        Encrypted::before(&server).await,
    );
    let to = escalation(&encrypted.url(), Some("ops"));

    let delivered = trusting(&another.authority).notify(&to, &notice(4)).await;

    assert_eq!(
        delivered.expect_err("not taken").kind(),
        FlowErrorKind::Notification
    );
    assert_eq!(server.received().len(), 0);
}

#[tokio::test]
async fn https_notice_is_never_sent_in_plain_text() {
    let server = HookServer::start([]).await;
    let encrypted = Encrypted::before(&server).await;
    let to = escalation(&server.url("/").replace("http:", "https:"), Some("ops"));

    let delivered = trusting(&encrypted.authority).notify(&to, &notice(4)).await;

    assert_eq!(
        delivered.expect_err("not taken").kind(),
        FlowErrorKind::Notification
    );
    assert_eq!(server.received().len(), 0);
}

#[test]
fn certificate_authorities_are_required_before_the_start() {
    let to = escalation("https://hooks.example.com/secret/path", Some("ops"));

    let error = notifier(&Waits::new())
        .resolve(&to)
        .expect_err("nobody does");

    assert_eq!(error.kind(), FlowErrorKind::DependencyResolution);
    assert_eq!(
        error.to_string(),
        "no certificate authorities are configured, so the webhook at hooks.example.com cannot be \
         verified"
    );
}
