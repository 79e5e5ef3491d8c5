//! Proxy that adds the secret to requests, for programs that cannot set headers.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use futures::TryStreamExt;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{AUTHORIZATION, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};

/// Forwards requests unchanged, but with the secret.
pub(super) struct AuthProxy {
    pub(super) url: String,
    _stop: DropGuard,
}

type Body = BoxBody<Bytes, hyper::Error>;
type Forward = Client<HttpConnector, Incoming>;

impl AuthProxy {
    pub(super) async fn start(to: &str, secret: &str) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let number = port.local_addr().expect("it is bound").port();
        let stop = CancellationToken::new();
        let to: Arc<(Uri, HeaderValue)> = Arc::new((
            to.parse().expect("an address"),
            HeaderValue::try_from(secret).expect("a secret"),
        ));
        tokio::spawn(stop.clone().run_until_cancelled_owned(async move {
            let client: Forward = Client::builder(TokioExecutor::new()).build_http();
            loop {
                let (connection, _) = port.accept().await.expect("it accepts");
                let (client, to) = (client.clone(), to.clone());
                tokio::spawn(async move {
                    let service = service_fn(|request| forward(&client, &to, request));
                    let http = hyper::server::conn::http1::Builder::new();
                    let _ = http
                        .serve_connection(TokioIo::new(connection), service)
                        .await;
                });
            }
        }));
        Self {
            url: format!("http://localhost:{number}/mcp"),
            _stop: stop.drop_guard(),
        }
    }
}

async fn forward(
    client: &Forward,
    to: &(Uri, HeaderValue),
    mut request: Request<Incoming>,
) -> Result<Response<Body>, Infallible> {
    *request.uri_mut() = to.0.clone();
    request.headers_mut().insert(AUTHORIZATION, to.1.clone());
    Ok(match client.request(request).await {
        Ok(response) => {
            let (head, body) = response.into_parts();
            let pieces = body.into_data_stream().map_ok(Frame::data);
            Response::from_parts(head, BodyExt::boxed(StreamBody::new(pieces)))
        }
        Err(_) => {
            let nothing = Full::new(Bytes::new()).map_err(|never| match never {});
            let mut response = Response::new(nothing.boxed());
            *response.status_mut() = StatusCode::BAD_GATEWAY;
            response
        }
    })
}
