//! [`Sender`]: sends requests to receivers on its own thread.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use http_body_util::{BodyExt, Full, Limited};
use hyper_rustls::{ConfigBuilderExt, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use tokio::runtime::{Builder, Handle};

use super::export_errors::ExportErrors;
use crate::error::error_chain;

/// Maximum size of a response.
const LONGEST_ANSWER: usize = 64 << 10;

/// Sends requests to receivers.
///
/// Exporters call it from threads without a runtime, and the runtime of the run is busy. Therefore
/// requests have their own thread.
#[derive(Clone)]
pub(super) struct Sender {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    runtime: Handle,
    limit: Duration,
    recent_errors: Arc<ExportErrors>,
}

impl Sender {
    /// Starts the thread. It ends with the process.
    ///
    /// # Errors
    ///
    /// The thread cannot be started, or `is_encrypted` and the system has no trusted certificates.
    pub(super) fn start(is_encrypted: bool, recent_errors: Arc<ExportErrors>) -> io::Result<Self> {
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        let https = HttpsConnectorBuilder::new()
            .with_tls_config(tls(is_encrypted)?)
            .https_or_http()
            .enable_http1()
            .wrap_connector(http);
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        std::thread::Builder::new()
            .name("telemetry".to_owned())
            .spawn(move || runtime.block_on(std::future::pending::<()>()))?;
        Ok(Self {
            client: Client::builder(TokioExecutor::new()).build(https),
            runtime: handle,
            limit: Duration::MAX,
            recent_errors,
        })
    }

    /// Sets the time limit of a request.
    pub(super) fn within(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }
}

fn tls(is_encrypted: bool) -> io::Result<ClientConfig> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?;
    // Reading the system's certificates takes time, which plain connections need not spend.
    let config = if is_encrypted {
        config.with_native_roots()?
    } else {
        config.with_root_certificates(RootCertStore::empty())
    };
    Ok(config.with_no_client_auth())
}

#[async_trait]
impl HttpClient for Sender {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (client, limit) = (self.client.clone(), self.limit);
        let exchange = async move {
            let answer = client.request(request.map(Full::new)).await?;
            let (head, body) = answer.into_parts();
            let body = Limited::new(body, LONGEST_ANSWER).collect().await?;
            Ok(Response::from_parts(head, body.to_bytes()))
        };
        // The time limit also needs the runtime.
        let within = async move { tokio::time::timeout(limit, exchange).await };
        let sent = self.runtime.spawn(within);
        let answer: Result<Response<Bytes>, HttpError> = match sent.await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(format!("no response within {limit:?}").into()),
            Err(_) => Err("the request was cancelled".into()),
        };
        match &answer {
            Ok(answer) if !answer.status().is_success() => {
                let status = answer.status();
                self.recent_errors
                    .record(format!("the receiver responded with {status}"));
            }
            Ok(_) => {}
            Err(error) => self.recent_errors.record(error_chain(error.as_ref())),
        }
        answer
    }
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}
