//! A delivery of a webhook request: its attempts, and [`DeliveryPolicy`], their retries.

use std::sync::Arc;
use std::time::Duration;

use autonoe_core::time::backoff;
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

/// Number of attempts and waits of a delivery.
///
/// An attempt is retried when the service could not be reached, did not answer in time, or answered
/// with status 429 or 500 and above. Any other answer is final.
///
/// ```
/// use std::time::Duration;
///
/// use autonoe_flow::escalation::DeliveryPolicy;
///
/// let policy = DeliveryPolicy { max_attempts: 2, ..DeliveryPolicy::default() };
///
/// assert_eq!(policy.attempt_timeout, Duration::from_secs(10));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryPolicy {
    /// Maximum number of attempts, including the first. There is always one.
    pub max_attempts: u32,
    /// Time limit of one attempt, from the connection to the status of the response.
    pub attempt_timeout: Duration,
    /// The wait after the first attempt. It doubles with each further attempt.
    pub initial_backoff: Duration,
    /// The maximum wait, even if the service requests a longer one.
    pub max_backoff: Duration,
}

impl Default for DeliveryPolicy {
    fn default() -> Self {
        Self {
            max_attempts: 5,
            attempt_timeout: Duration::from_secs(10),
            initial_backoff: Duration::from_secs(1),
            max_backoff: Duration::from_secs(30),
        }
    }
}

/// The decision after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeliveryDecision {
    Done,
    Retry { after: Duration },
    GiveUp,
}

impl DeliveryPolicy {
    /// Decides about attempt number `tried`, counted from 1.
    pub(super) fn decide(&self, tried: u32, attempt: &Attempt) -> DeliveryDecision {
        let requested = match attempt {
            Attempt::Answered { status, .. } if (200..300).contains(status) => {
                return DeliveryDecision::Done;
            }
            Attempt::Answered {
                status: 429 | 500..,
                retry_after,
            } => retry_after.unwrap_or_default(),
            Attempt::Answered { .. } | Attempt::Unsendable { .. } => {
                return DeliveryDecision::GiveUp;
            }
            Attempt::Unreachable { .. } | Attempt::TimedOut => Duration::ZERO,
        };
        if tried >= self.max_attempts {
            return DeliveryDecision::GiveUp;
        }
        let wait = backoff(self.initial_backoff, self.max_backoff, tried);
        DeliveryDecision::Retry {
            after: wait.max(requested).min(self.max_backoff),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(status: u16) -> Attempt {
        Attempt::Answered {
            status,
            retry_after: None,
        }
    }

    #[test]
    fn only_transient_delivery_failures_are_retried() {
        let policy = DeliveryPolicy::default();
        let retry = DeliveryDecision::Retry {
            after: Duration::from_secs(1),
        };
        for (attempt, expected) in [
            (answered(200), DeliveryDecision::Done),
            (answered(204), DeliveryDecision::Done),
            (answered(301), DeliveryDecision::GiveUp),
            (answered(308), DeliveryDecision::GiveUp),
            (answered(400), DeliveryDecision::GiveUp),
            (answered(401), DeliveryDecision::GiveUp),
            (answered(410), DeliveryDecision::GiveUp),
            (answered(429), retry),
            (answered(500), retry),
            (answered(503), retry),
            (Attempt::TimedOut, retry),
            (Attempt::Unreachable { source: "x".into() }, retry),
            (
                Attempt::Unsendable { source: "x".into() },
                DeliveryDecision::GiveUp,
            ),
        ] {
            assert_eq!(policy.decide(1, &attempt), expected, "{attempt:?}");
        }
    }

    #[test]
    fn waits_double_up_to_the_longest_and_heed_the_service() {
        let policy = DeliveryPolicy {
            max_attempts: 9,
            ..DeliveryPolicy::default()
        };
        let after = |tried, retry_after: Option<u64>| {
            let attempt = Attempt::Answered {
                status: 503,
                retry_after: retry_after.map(Duration::from_secs),
            };
            match policy.decide(tried, &attempt) {
                DeliveryDecision::Retry { after } => after.as_secs(),
                other => panic!("{other:?}"),
            }
        };

        let own: Vec<u64> = (1..9).map(|tried| after(tried, None)).collect();

        assert_eq!(own, [1, 2, 4, 8, 16, 30, 30, 30]);
        assert_eq!(after(1, Some(7)), 7);
        assert_eq!(after(4, Some(7)), 8);
        assert_eq!(after(1, Some(86_400)), 30);
        assert_eq!(
            policy.decide(9, &Attempt::TimedOut),
            DeliveryDecision::GiveUp
        );
    }
}
