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
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tower_service::Service;

use super::Authorities;

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
            open_tunnel(&mut stream, &proxy, &target).await?;
            Ok(TokioIo::new(stream))
        })
    }
}

/// No head of an answer is longer.
const LONGEST_HEAD: usize = 16 << 10;
const MOST_HEADERS: usize = 64;

/// Why a proxy opened no way.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoTunnel {
    /// It was not reached.
    #[error("it cannot be reached")]
    Unreachable(#[source] BoxError),
    /// It said no.
    #[error("it answered with status {0}")]
    Refused(u16),
    /// The connection to it was closed or failed.
    #[error("the connection to it failed")]
    BrokeOff(#[source] std::io::Error),
    /// It is none.
    #[error("it does not speak HTTP")]
    NoHttp,
}

/// Asks `proxy`, at the other end of `stream`, for a way to `target`.
async fn open_tunnel(
    stream: &mut TcpStream,
    proxy: &ProxyRoute,
    target: &Uri,
) -> Result<(), NoTunnel> {
    let request = request(proxy, target);
    stream
        .write_all(&request)
        .await
        .map_err(NoTunnel::BrokeOff)?;
    let mut head = Vec::new();
    loop {
        match stream.read_buf(&mut head).await {
            Ok(0) => return Err(NoTunnel::BrokeOff(std::io::ErrorKind::UnexpectedEof.into())),
            Ok(_) => {}
            Err(error) => return Err(NoTunnel::BrokeOff(error)),
        }
        if let Some(status) = status(&head)? {
            return match status {
                200..=299 => Ok(()),
                other => Err(NoTunnel::Refused(other)),
            };
        }
    }
}

fn request(proxy: &ProxyRoute, target: &Uri) -> Vec<u8> {
    let host = target.host().unwrap_or_default();
    let is_plain = target.scheme_str() == Some("http");
    let port = target.port_u16();
    let port = port.unwrap_or(if is_plain { 80 } else { 443 });
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

/// Returns the status of an answer; `None` while its head is not whole.
fn status(head: &[u8]) -> Result<Option<u16>, NoTunnel> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut answer = httparse::Response::new(&mut headers);
    match answer.parse(head) {
        // Whoever asked speaks first in the tunnel, so a success ends with its head.
        Ok(httparse::Status::Complete(length)) => match answer.code {
            Some(code @ 200..=299) if length == head.len() => Ok(Some(code)),
            Some(200..=299) | None => Err(NoTunnel::NoHttp),
            code => Ok(code),
        },
        Ok(httparse::Status::Partial) if head.len() < LONGEST_HEAD => Ok(None),
        Ok(httparse::Status::Partial) | Err(_) => Err(NoTunnel::NoHttp),
    }
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    #[test]
    fn the_proxy_is_told_the_place_and_the_login() {
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
        let endless = format!("HTTP/1.1 200 OK\r\na: {}", "b".repeat(LONGEST_HEAD));
        assert!(status(endless.as_bytes()).is_err());
    }
}
