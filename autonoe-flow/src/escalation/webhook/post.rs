//! One try to tell a service.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER, USER_AGENT};
use hyper::{Method, Request, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

const AGENT: &str = concat!("autonoe/", env!("CARGO_PKG_VERSION"));

/// What came of one try.
#[derive(Debug)]
pub(super) enum Attempt {
    /// The service answered.
    Answered {
        status: u16,
        /// How long it asks to wait.
        retry_after: Option<Duration>,
    },
    /// There was no connection, or it closed before an answer.
    Unreachable { source: BoxError },
    /// There was no answer in time.
    TimedOut,
    /// There is nothing that could be sent, or no way to send it.
    Unsendable { source: BoxError },
}

/// What is sent.
#[derive(Clone, Debug)]
pub(super) struct Letter {
    pub(super) uri: Uri,
    pub(super) id: String,
    /// Unix time in seconds.
    pub(super) at: i64,
    pub(super) signature: Option<String>,
    pub(super) body: Bytes,
}

impl Letter {
    /// Sends it once. Redirections are not followed: nobody signed for the other place.
    ///
    /// `trusted` vouch for services with encrypted connections.
    pub(super) async fn post(self, time: Duration, trusted: Arc<RootCertStore>) -> Attempt {
        let ready = || Ok::<_, BoxError>((client(trusted)?, self.request()?));
        let (client, request) = match ready() {
            Ok(ready) => ready,
            Err(source) => return Attempt::Unsendable { source },
        };
        match tokio::time::timeout(time, client.request(request)).await {
            Err(_) => Attempt::TimedOut,
            Ok(Err(error)) => Attempt::Unreachable {
                source: Box::new(error),
            },
            // What it says beside its status is not read.
            Ok(Ok(response)) => Attempt::Answered {
                status: response.status().as_u16(),
                retry_after: retry_after(response.headers()),
            },
        }
    }

    fn request(self) -> Result<Request<Full<Bytes>>, BoxError> {
        let mut request = Request::new(Full::new(self.body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.uri;
        let headers = request.headers_mut();
        headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert("webhook-id", HeaderValue::try_from(self.id)?);
        headers.insert("webhook-timestamp", HeaderValue::from(self.at));
        if let Some(signature) = self.signature {
            headers.insert("webhook-signature", HeaderValue::try_from(signature)?);
        }
        Ok(request)
    }
}

/// Escalations are rare: a connection is not kept for the next.
fn client(
    trusted: Arc<RootCertStore>,
) -> Result<Client<HttpsConnector<HttpConnector>, Full<Bytes>>, BoxError> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(trusted);
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    let connector = HttpsConnectorBuilder::new()
        .with_tls_config(config.with_no_client_auth())
        .https_or_http()
        .enable_http1()
        .wrap_connector(http);
    Ok(Client::builder(TokioExecutor::new())
        .pool_max_idle_per_host(0)
        .build(connector))
}

/// Reads a wait in seconds; a date is not heeded.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse();
    seconds.ok().map(Duration::from_secs)
}

/// Authorities that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the authorities for webhooks cannot be read: {problem}")]
pub struct InvalidAuthorities {
    problem: String,
}

/// Adds the authorities of a text in PEM.
pub(super) fn add_authorities(
    roots: &mut RootCertStore,
    pem: &[u8],
) -> Result<(), InvalidAuthorities> {
    let wrong = |problem: String| InvalidAuthorities { problem };
    let mut found = Vec::new();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        found.push(certificate.map_err(|error| wrong(error.to_string()))?);
    }
    if found.is_empty() {
        return Err(wrong("there is no certificate in PEM".to_owned()));
    }
    // Bundles of systems are old and large; one odd certificate among hundreds is passed over.
    let (added, ignored) = roots.add_parsable_certificates(found);
    tracing::debug!(added, ignored, "authorities for webhooks were read");
    match added {
        0 => Err(wrong(
            "no certificate in it is one of an authority".to_owned(),
        )),
        _ => Ok(()),
    }
}
