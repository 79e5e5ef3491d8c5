//! Serves the requests of one connection.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Either, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_LENGTH, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use super::api::{Decision, Head, ModelApi, Reply};
use super::headers::without_secrets;
use super::script::OpenExchange;
use super::stream_fault::{CutHandle, CuttableStream};
use super::streamed_body::Pieces;
use super::{Ending, Exchange, Headers, RequestLog};

/// State shared by all connections of a server.
pub(super) struct Server<A: ModelApi> {
    pub(super) api: A,
    pub(super) log: RequestLog<A::Request>,
    pub(super) stopped: CancellationToken,
}

/// Ends a connection without an answer.
#[derive(Debug, thiserror::Error)]
#[error("the connection ends without an answer")]
struct NoAnswer;

type Answered = Response<Either<Full<Bytes>, Pieces>>;

/// Answers the requests of a connection until either side closes it.
pub(super) async fn serve<A: ModelApi>(server: Arc<Server<A>>, stream: TcpStream) {
    let cut_handle = CutHandle::default();
    let io = TokioIo::new(CuttableStream::new(stream, cut_handle.clone()));
    let service = service_fn(|request| respond(&server, request, &cut_handle));

    let end = http1::Builder::new().serve_connection(io, service).await;

    if let Err(error) = end {
        tracing::debug!(%error, "a connection to a scripted model server failed");
    }
}

async fn respond<A: ModelApi>(
    server: &Server<A>,
    request: Request<Incoming>,
    cut_handle: &CutHandle,
) -> Result<Answered, NoAnswer> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(|_| NoAnswer)?.to_bytes();
    let path = head.uri.path();
    let method = head.method.as_str();
    let Decision {
        request,
        answer,
        delay,
        reply,
    } = server.api.answer(
        Head {
            method,
            path,
            query: head.uri.query().unwrap_or_default(),
        },
        &body,
    );

    let number = server.log.record(|number, since_start| Exchange {
        number,
        since_start,
        method: method.to_owned(),
        path: without_secrets(
            head.uri
                .path_and_query()
                .map_or(path, |whole| whole.as_str()),
        ),
        headers: Headers::from(&head.headers),
        request: Arc::new(request),
        answer,
        ending: None,
    });
    let open = OpenExchange::new(&server.log, number, &server.stopped);

    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    send_reply(reply, cut_handle, open).await
}

async fn send_reply(
    reply: Reply,
    cut_handle: &CutHandle,
    open: OpenExchange,
) -> Result<Answered, NoAnswer> {
    match reply {
        Reply::Whole {
            status,
            headers,
            body,
        } => {
            let length = HeaderValue::from(body.len());
            let mut response = Response::new(Either::Left(Full::new(body)));
            *response.status_mut() = status;
            *response.headers_mut() = headers;
            response.headers_mut().insert(CONTENT_LENGTH, length);
            open.ended(Ending::Sent);
            Ok(response)
        }
        Reply::Stream {
            headers,
            pieces,
            pace,
            end,
        } => {
            let pieces = Pieces::new(pieces, pace, end, cut_handle.clone(), open);
            let mut response = Response::new(Either::Right(pieces));
            *response.headers_mut() = headers;
            Ok(response)
        }
        Reply::Disconnect => {
            open.ended(Ending::Cut);
            Err(NoAnswer)
        }
        // hyper drops this future when the client leaves, and `open` with it.
        Reply::Hang => std::future::pending().await,
    }
}
