//! [`HookServer`]: a local service that receives webhooks.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

/// The reaction of the service to a request.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    Status(u16),
    /// A status with a header.
    With(u16, &'static str, String),
    /// No answer, forever.
    Silence,
    /// It closes the connection.
    HangUp,
}

/// A received request.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) method: String,
    pub(crate) path: String,
    headers: Vec<(String, String)>,
    pub(crate) body: Bytes,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let (_, value) = headers.find(|(known, _)| known == name)?;
        Some(value)
    }
}

/// Plays replies, one for each request, until it is dropped. Further requests get status 418.
pub(crate) struct HookServer {
    address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
    accepting: tokio::task::JoinHandle<()>,
}

impl HookServer {
    pub(crate) async fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .expect("a port");
        let address = listener.local_addr().expect("it is bound");
        let replies: Arc<Mutex<VecDeque<Reply>>> =
            Arc::new(Mutex::new(replies.into_iter().collect()));
        let received = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&received);
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (replies, log) = (Arc::clone(&replies), Arc::clone(&log));
                let service = service_fn(move |request| {
                    let (replies, log) = (Arc::clone(&replies), Arc::clone(&log));
                    async move {
                        let request = read(request).await;
                        log.lock().expect("no panic").push(request);
                        let reply = replies.lock().expect("no panic").pop_front();
                        answer(reply.unwrap_or(Reply::Status(418))).await
                    }
                });
                tokio::spawn(async move {
                    let connection = hyper::server::conn::http1::Builder::new();
                    // Clients that disconnect are part of the tests.
                    let _ = connection
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
        });
        Self {
            address,
            received,
            accepting,
        }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().expect("no panic").clone()
    }
}

impl Drop for HookServer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn read(request: Request<Incoming>) -> Received {
    let (head, body) = request.into_parts();
    let headers = head.headers.iter().map(|(name, value)| {
        let value = value.to_str().expect("plain text");
        (name.to_string(), value.to_owned())
    });
    Received {
        method: head.method.to_string(),
        path: head.uri.to_string(),
        headers: headers.collect(),
        body: body.collect().await.expect("it is whole").to_bytes(),
    }
}

async fn answer(reply: Reply) -> Result<Response<Empty<Bytes>>, std::io::Error> {
    let response = Response::builder();
    let response = match reply {
        Reply::Status(status) => response.status(status),
        Reply::With(status, name, value) => response.status(status).header(name, value),
        Reply::Silence => {
            let never: Infallible = std::future::pending().await;
            match never {}
        }
        Reply::HangUp => return Err(std::io::ErrorKind::ConnectionAborted.into()),
    };
    Ok(response.body(Empty::new()).expect("a response"))
}
