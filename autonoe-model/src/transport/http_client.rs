//! A client for HTTP, and a model behind it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt, stream};
use http_body_util::Full;
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT,
};
use hyper::{Method, Request};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use super::answer::{Answer, Body};
use super::call::Call;
use super::connector::{Connector, ProxyRoute};
use super::timeouts::within;
use super::{Authorities, BaseUrl, SecretWords, Timeouts, failure};
use crate::contract::{
    ModelClient, ModelError, ModelErrorCode, ModelIdentity, ModelRequest, ModelStream,
};
use crate::wire::{Encoded, Wire};

/// How long a connection that nobody uses is kept. Providers close them after a minute or
/// more, and a request that meets a closing connection fails.
const IDLE: Duration = Duration::from_secs(30);

const AGENT: &str = concat!("autonoe/", env!("CARGO_PKG_VERSION"));

/// All that a connection to a provider needs.
#[derive(Debug)]
pub(crate) struct HttpSettings {
    pub(crate) base_url: BaseUrl,
    /// The key and further headers; they win over those of the protocol.
    pub(crate) headers: HeaderMap,
    pub(crate) timeouts: Timeouts,
    pub(crate) proxy: Option<ProxyRoute>,
    /// Who vouches for the provider.
    pub(crate) authorities: Authorities,
    /// What must not be in any error.
    pub(crate) secrets: SecretWords,
}

/// Sends requests to one provider. Connections are kept and used again; redirections are
/// not followed, because the key would go with them.
#[derive(Debug)]
pub(crate) struct HttpClient {
    client: Client<Connector, Full<Bytes>>,
    base_url: BaseUrl,
    headers: HeaderMap,
    timeouts: Timeouts,
    secrets: SecretWords,
}

impl HttpClient {
    /// Makes a client. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// Connections cannot be encrypted here.
    pub(crate) fn new(settings: HttpSettings) -> Result<Self, rustls::Error> {
        let HttpSettings {
            base_url,
            headers,
            timeouts,
            proxy,
            authorities,
            secrets,
        } = settings;
        let connector = Connector::new(authorities, proxy, timeouts.connect())?;
        let client = Client::builder(TokioExecutor::new())
            .pool_idle_timeout(IDLE)
            .pool_timer(TokioTimer::new())
            .build(connector);
        Ok(Self {
            client,
            base_url,
            headers,
            timeouts,
            secrets,
        })
    }

    /// Sends a request, and returns the answer when it begins.
    ///
    /// # Errors
    ///
    /// The provider cannot be reached, or does not answer in time.
    pub(super) async fn post(&self, encoded: &Encoded) -> Result<Answer, ModelError> {
        let host = self.base_url.host();
        let request = self.request(encoded)?;
        let limit = self.timeouts.head();
        let missing = format!("{host} did not begin to answer");
        let response = within(limit, &missing, self.client.request(request))
            .await?
            .map_err(|error| {
                let failed = failure::of_request(&error, host);
                match error.is_connect() {
                    true => failed.with_nothing_used(),
                    false => failed,
                }
            })?;
        let (head, body) = response.into_parts();
        Ok(Answer {
            status: head.status,
            headers: head.headers,
            body: Body::new(body, self.timeouts.silence(), host),
        })
    }

    /// Returns an error without secrets.
    pub(super) fn without_secrets(&self, error: ModelError) -> ModelError {
        self.secrets.removed_from(error)
    }

    fn request(&self, encoded: &Encoded) -> Result<Request<Full<Bytes>>, ModelError> {
        let unsendable = |what: &str| {
            let message = format!("the request cannot be sent: {what}");
            ModelError::new(ModelErrorCode::Unknown, message)
        };
        let uri = self.base_url.join(&encoded.path);
        let uri = uri.ok_or_else(|| unsendable("its path is none"))?;
        let body = serde_json::to_vec(&encoded.body);
        let body = body.map_err(|error| unsendable(&error.to_string()))?;
        let mut request = Request::new(Full::new(Bytes::from(body)));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = uri;
        let headers = request.headers_mut();
        headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        for (name, value) in &encoded.headers {
            let value = HeaderValue::from_str(value);
            let value = value.map_err(|_| unsendable("a header has an illegal value"))?;
            headers.insert(HeaderName::from_static(name), value);
        }
        for (name, value) in &self.headers {
            headers.insert(name, value.clone());
        }
        Ok(request)
    }
}

/// A model that is asked over the protocol `W`.
pub(crate) struct HttpModel<W> {
    wire: Arc<W>,
    http: Arc<HttpClient>,
    identity: ModelIdentity,
}

impl<W: Wire> HttpModel<W> {
    pub(crate) fn new(wire: Arc<W>, http: Arc<HttpClient>, identity: ModelIdentity) -> Self {
        Self {
            wire,
            http,
            identity,
        }
    }
}

impl<W: Wire> fmt::Debug for HttpModel<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpModel")
            .field("identity", &self.identity)
            .field("protocol", &self.wire.protocol())
            .finish_non_exhaustive()
    }
}

impl<W: Wire> ModelClient for HttpModel<W> {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn stream(&self, request: &ModelRequest) -> ModelStream {
        let encoded = self.wire.encode(&self.identity.model, request);
        let call = Call::new(self.wire.clone(), self.http.clone(), encoded);
        stream::unfold(call, async |mut call| {
            let event = call.next().await?;
            Some((event, call))
        })
        // Without it, who looks once more after the end would panic.
        .fuse()
        .boxed()
    }
}
