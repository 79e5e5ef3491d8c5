//! [`Sender`]: sends requests to receivers on its own thread.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_model::transport::Connector;
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use rustls::RootCertStore;
use tokio::runtime::{Builder, Handle};

use super::export_errors::ExportErrors;
use crate::error::error_chain;

/// Maximum size of a response.
const MAX_RESPONSE_BYTES: usize = 64 << 10;

/// Time limit for establishing a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Sends requests to receivers.
///
/// Exporters call it from threads without a runtime, and the runtime of the run is busy. Therefore
/// requests have their own thread.
#[derive(Clone)]
pub(super) struct Sender {
    client: Client<Connector, Full<Bytes>>,
    runtime: Handle,
    limit: Duration,
    recent_errors: Arc<ExportErrors>,
}

impl Sender {
    /// Starts the thread. It ends with the process. `authorities` are the certificate authorities
    /// for encrypted connections.
    ///
    /// # Errors
    ///
    /// The thread cannot be started, or TLS cannot be set up.
    pub(super) fn start(
        authorities: Arc<RootCertStore>,
        recent_errors: Arc<ExportErrors>,
    ) -> io::Result<Self> {
        let connector =
            Connector::direct(authorities, CONNECT_TIMEOUT).map_err(io::Error::other)?;
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        std::thread::Builder::new()
            .name("telemetry".to_owned())
            .spawn(move || runtime.block_on(std::future::pending::<()>()))?;
        Ok(Self {
            client: Client::builder(TokioExecutor::new()).build(connector),
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

#[async_trait]
impl HttpClient for Sender {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (client, limit) = (self.client.clone(), self.limit);
        let exchange = async move {
            let answer = client.request(request.map(Full::new)).await?;
            let (head, body) = answer.into_parts();
            let body = Limited::new(body, MAX_RESPONSE_BYTES).collect().await?;
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
