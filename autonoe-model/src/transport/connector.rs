//! [`Connector`]: establishes connections, direct or through a proxy, encrypted or not, within a
//! time limit.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::future::BoxFuture;
use hyper::Uri;
use hyper::header::HeaderValue;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tower_service::Service;

pub(super) type BoxError = Box<dyn std::error::Error + Send + Sync>;
type Plain = TokioIo<TcpStream>;

/// Proxy that opens tunnels.
#[derive(Clone, Debug)]
pub(crate) struct ProxyRoute {
    pub(crate) uri: Uri,
    /// Value of the `Proxy-Authorization` header.
    pub(crate) authorization: Option<HeaderValue>,
}

/// Establishes connections.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Connector {
    https: HttpsConnector<Route>,
    limit: Duration,
}

/// The connection could not be established in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there was no connection within {0:?}")]
pub(super) struct ConnectTimedOut(pub(super) Duration);

impl Connector {
    /// Creates a connector without a proxy. Establishing a connection takes at most `limit`.
    /// Encrypted connections require a certificate from `authorities`.
    ///
    /// # Errors
    ///
    /// TLS cannot be set up.
    pub fn direct(authorities: Arc<RootCertStore>, limit: Duration) -> Result<Self, rustls::Error> {
        Self::new(authorities, None, limit)
    }

    /// Same as [`direct`](Self::direct), through `proxy` if there is one.
    pub(crate) fn new(
        authorities: Arc<RootCertStore>,
        proxy: Option<ProxyRoute>,
        limit: Duration,
    ) -> Result<Self, rustls::Error> {
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_nodelay(true);
        let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(authorities)
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

/// Route of the bytes: direct, or through a proxy.
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
            let connected = connecting
                .await
                .map_err(|error| TunnelError::Unreachable(error.into()))?;
            let mut stream = connected.into_inner();
            open_tunnel(&mut stream, &proxy, &target).await?;
            Ok(TokioIo::new(stream))
        })
    }
}

/// Maximum length of a response head in bytes.
const MAX_HEAD_BYTES: usize = 16 << 10;
const MAX_HEADERS: usize = 64;

/// Reason that a proxy opened no tunnel.
#[derive(Debug, thiserror::Error)]
pub(super) enum TunnelError {
    /// The proxy is unreachable.
    #[error("it cannot be reached")]
    Unreachable(#[source] BoxError),
    /// The proxy refused with this status.
    #[error("it answered with status {0}")]
    Refused(u16),
    /// The connection to the proxy was closed or failed.
    #[error("the connection to it failed")]
    Disconnected(#[source] std::io::Error),
    /// The proxy does not speak HTTP.
    #[error("it did not answer in HTTP")]
    NoHttp,
}

/// Requests a tunnel to `target` from `proxy`, which is at the other end of `stream`.
async fn open_tunnel(
    stream: &mut TcpStream,
    proxy: &ProxyRoute,
    target: &Uri,
) -> Result<(), TunnelError> {
    let request = request(proxy, target);
    stream
        .write_all(&request)
        .await
        .map_err(TunnelError::Disconnected)?;
    let mut head = Vec::new();
    loop {
        match stream.read_buf(&mut head).await {
            Ok(0) => {
                return Err(TunnelError::Disconnected(
                    std::io::ErrorKind::UnexpectedEof.into(),
                ));
            }
            Ok(_) => {}
            Err(error) => return Err(TunnelError::Disconnected(error)),
        }
        if let Some(status) = status(&head)? {
            return match status {
                200..=299 => Ok(()),
                other => Err(TunnelError::Refused(other)),
            };
        }
    }
}

fn request(proxy: &ProxyRoute, target: &Uri) -> Vec<u8> {
    let host = target.host().unwrap_or_default();
    let is_plain = target.scheme_str() == Some("http");
    let port = target.port_u16().unwrap_or(if is_plain { 80 } else { 443 });
    let mut text =
        format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n").into_bytes();
    if let Some(authorization) = &proxy.authorization {
        text.extend_from_slice(b"Proxy-Authorization: ");
        text.extend_from_slice(authorization.as_bytes());
        text.extend_from_slice(b"\r\n");
    }
    text.extend_from_slice(b"\r\n");
    text
}

/// Returns the status of a response; `None` while its head is incomplete.
fn status(head: &[u8]) -> Result<Option<u16>, TunnelError> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut answer = httparse::Response::new(&mut headers);
    match answer.parse(head) {
        // The client speaks first in the tunnel, so a successful response ends with its head.
        Ok(httparse::Status::Complete(length)) => match answer.code {
            Some(code @ 200..=299) if length == head.len() => Ok(Some(code)),
            Some(200..=299) | None => Err(TunnelError::NoHttp),
            code => Ok(code),
        },
        Ok(httparse::Status::Partial) if head.len() < MAX_HEAD_BYTES => Ok(None),
        Ok(httparse::Status::Partial) | Err(_) => Err(TunnelError::NoHttp),
    }
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    #[test]
    fn the_proxy_receives_the_address_and_the_login() {
        for (target, authorization, expected) in [
            (
                "https://api.example.org/v1",
                None,
                "CONNECT api.example.org:443 HTTP/1.1\r\nHost: api.example.org:443\r\n\r\n",
            ),
            (
                "http://10.0.0.1/v1",
                Some("Basic eA=="),
                "CONNECT 10.0.0.1:80 HTTP/1.1\r\nHost: 10.0.0.1:80\r\n\
                 Proxy-Authorization: Basic eA==\r\n\r\n",
            ),
            (
                "https://[::1]:8443/",
                None,
                "CONNECT [::1]:8443 HTTP/1.1\r\nHost: [::1]:8443\r\n\r\n",
            ),
        ] {
            let proxy = ProxyRoute {
                uri: Uri::from_static("http://proxy.lan"),
                authorization: authorization.map(HeaderValue::from_static),
            };

            let sent = request(&proxy, &target.parse().expect("a URL"));

            assert_eq!(String::from_utf8_lossy(&sent), expected);
        }
    }

    #[test]
    fn an_answer_has_a_status_when_its_head_is_whole() {
        for (head, expected) in [
            ("", Some(None)),
            ("HTTP/1.1 200 Connection est", Some(None)),
            ("HTTP/1.1 200 OK\r\n\r\n", Some(Some(200))),
            ("HTTP/1.0 407 Login\r\na: b\r\n\r\n<html>", Some(Some(407))),
            ("HTTP/1.1 200 OK\r\n\r\nmore", None),
            ("SSH-2.0-server\r\n", None),
        ] {
            assert_eq!(status(head.as_bytes()).ok(), expected, "{head:?}");
        }
        let endless = format!("HTTP/1.1 200 OK\r\na: {}", "b".repeat(MAX_HEAD_BYTES));
        assert!(status(endless.as_bytes()).is_err());
    }
}
