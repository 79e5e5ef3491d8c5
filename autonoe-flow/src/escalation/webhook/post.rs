//! A single delivery attempt of a webhook request.

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
use rustls::{ClientConfig, RootCertStore};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

const AGENT: &str = concat!("autonoe/", env!("CARGO_PKG_VERSION"));

/// The outcome of one attempt.
#[derive(Debug)]
pub(super) enum Attempt {
    /// The service responded.
    Answered {
        status: u16,
        /// The wait that the service requested.
        retry_after: Option<Duration>,
    },
    /// The connection failed, or closed before a response.
    Unreachable { source: BoxError },
    /// The service did not respond in time.
    TimedOut,
    /// The request or the client could not be built.
    Unsendable { source: BoxError },
}

/// A webhook request.
#[derive(Clone, Debug)]
pub(super) struct WebhookRequest {
    pub(super) uri: Uri,
    pub(super) id: String,
    /// Unix time in seconds.
    pub(super) at: i64,
    pub(super) signature: Option<String>,
    pub(super) body: Bytes,
}

impl WebhookRequest {
    /// Sends the request once. Redirects are not followed: the signature is meant for this address
    /// only.
    ///
    /// `trusted` are the certificate authorities for `https`.
    pub(super) async fn post(self, time: Duration, trusted: Arc<RootCertStore>) -> Attempt {
        let prepare = || Ok::<_, BoxError>((client(trusted)?, self.request()?));
        let (client, request) = match prepare() {
            Ok(prepared) => prepared,
            Err(source) => return Attempt::Unsendable { source },
        };
        match tokio::time::timeout(time, client.request(request)).await {
            Err(_) => Attempt::TimedOut,
            Ok(Err(error)) => Attempt::Unreachable {
                source: Box::new(error),
            },
            // The body of the response is not read.
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

/// Creates a client that keeps no idle connections, because escalations are rare.
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

/// Reads the wait in seconds. A date is ignored.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse();
    seconds.ok().map(Duration::from_secs)
}
