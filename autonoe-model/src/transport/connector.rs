//! How a connection is made: direct or through a proxy, encrypted or not, in time.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::TryFutureExt;
use futures::future::BoxFuture;
use hyper::Uri;
use hyper::header::HeaderValue;
use hyper_rustls::{ConfigBuilderExt, HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::rt::TokioIo;
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tower_service::Service;

type BoxError = Box<dyn std::error::Error + Send + Sync>;
type Plain = TokioIo<TcpStream>;

/// A proxy that opens tunnels.
#[derive(Clone, Debug)]
pub(crate) struct ProxyRoute {
    pub(crate) uri: Uri,
    /// What the proxy is told about who asks.
    pub(crate) authorization: Option<HeaderValue>,
}

/// Who makes connections.
#[derive(Clone, Debug)]
pub(crate) struct Connector {
    https: HttpsConnector<Route>,
    limit: Duration,
}

/// The connection could not be made in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there was no connection within {0:?}")]
pub(super) struct ConnectTimedOut(pub(super) Duration);

impl Connector {
    /// Makes connections within `limit`. The certificates that the system trusts are read if
    /// connections are to be encrypted.
    ///
    /// # Errors
    ///
    /// The system trusts nobody.
    pub(crate) fn new(
        is_encrypted: bool,
        proxy: Option<ProxyRoute>,
        limit: Duration,
    ) -> io::Result<Self> {
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_nodelay(true);
        let route = match proxy {
            None => Route::Direct(http),
            Some(ProxyRoute { uri, authorization }) => {
                let tunnel = Tunnel::new(uri, http);
                Route::Tunnel(match authorization {
                    Some(value) => tunnel.with_auth(value),
                    None => tunnel,
                })
            }
        };
        let https = HttpsConnectorBuilder::new()
            .with_tls_config(tls(is_encrypted)?)
            .https_or_http()
            .enable_http1()
            .wrap_connector(route);
        Ok(Self { https, limit })
    }
}

fn tls(is_encrypted: bool) -> io::Result<ClientConfig> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?;
    let config = match is_encrypted {
        true => config.with_native_roots()?,
        // A machine without any certificates can still ask its own model.
        false => config.with_root_certificates(RootCertStore::empty()),
    };
    Ok(config.with_no_client_auth())
}

impl Service<Uri> for Connector {
    type Response = MaybeHttpsStream<Plain>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.https.poll_ready(cx)
    }

    fn call(&mut self, target: Uri) -> Self::Future {
        let limit = self.limit;
        let connecting = self.https.call(target);
        Box::pin(async move {
            let connected = tokio::time::timeout(limit, connecting).await;
            connected.map_err(|_| ConnectTimedOut(limit))?
        })
    }
}

/// The way of the bytes.
#[derive(Clone, Debug)]
enum Route {
    Direct(HttpConnector),
    Tunnel(Tunnel<HttpConnector>),
}

impl Service<Uri> for Route {
    type Response = Plain;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Plain, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        match self {
            Self::Direct(route) => route.poll_ready(cx).map_err(Into::into),
            Self::Tunnel(route) => route.poll_ready(cx).map_err(Into::into),
        }
    }

    fn call(&mut self, target: Uri) -> Self::Future {
        match self {
            Self::Direct(route) => Box::pin(route.call(target).map_err(Into::into)),
            Self::Tunnel(route) => Box::pin(route.call(target).map_err(Into::into)),
        }
    }
}
