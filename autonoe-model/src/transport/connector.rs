//! How a connection is made: direct or through a proxy, encrypted or not, in time.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::future::BoxFuture;
use hyper::Uri;
use hyper::header::HeaderValue;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::crypto::ring;
use tokio::net::TcpStream;
use tower_service::Service;

use super::Authorities;
use super::tunnel::{self, NoTunnel};

pub(super) type BoxError = Box<dyn std::error::Error + Send + Sync>;
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
    /// Makes connections within `limit`; those that are encrypted only to servers that
    /// `authorities` vouch for.
    ///
    /// # Errors
    ///
    /// Connections cannot be encrypted here.
    pub(crate) fn new(
        authorities: Authorities,
        proxy: Option<ProxyRoute>,
        limit: Duration,
    ) -> Result<Self, rustls::Error> {
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_nodelay(true);
        let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(authorities.roots())
            .with_no_client_auth();
        let https = HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_or_http()
            .enable_http1()
            .wrap_connector(Route { http, proxy });
        Ok(Self { https, limit })
    }
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

/// The way of the bytes: straight, or through a proxy.
#[derive(Clone, Debug)]
struct Route {
    http: HttpConnector,
    proxy: Option<ProxyRoute>,
}

impl Service<Uri> for Route {
    type Response = Plain;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Plain, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.http.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, target: Uri) -> Self::Future {
        let Some(proxy) = self.proxy.clone() else {
            let connecting = self.http.call(target);
            return Box::pin(async move { Ok(connecting.await?) });
        };
        let connecting = self.http.call(proxy.uri.clone());
        Box::pin(async move {
            let connected = connecting.await;
            let connected = connected.map_err(|error| NoTunnel::Unreachable(error.into()))?;
            let mut stream = connected.into_inner();
            tunnel::open(&mut stream, &proxy, &target).await?;
            Ok(TokioIo::new(stream))
        })
    }
}
