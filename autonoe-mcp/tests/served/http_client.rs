//! HTTP transport of the `rmcp` client for tests.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::streamable_http_client::{
    HttpStatusError, SseError, StreamableHttpClient, StreamableHttpError,
    StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};

type Failure = StreamableHttpError<hyper_util::client::legacy::Error>;

#[derive(Clone, Debug)]
pub(crate) struct Http(Client<HttpConnector, Full<Bytes>>);

impl Http {
    pub(crate) fn new() -> Self {
        Self(Client::builder(TokioExecutor::new()).build_http())
    }

    async fn send(
        &self,
        method: Method,
        uri: &str,
        session: Option<&str>,
        more: HashMap<HeaderName, HeaderValue>,
        body: Vec<u8>,
    ) -> Result<Response<Incoming>, Failure> {
        let mut request = Request::new(Full::new(Bytes::from(body)));
        *request.method_mut() = method;
        *request.uri_mut() = uri.parse().expect("an address");
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(
            ACCEPT,
            HeaderValue::from_static("application/json, text/event-stream"),
        );
        headers.extend(more);
        if let Some(session) = session {
            let session = HeaderValue::try_from(session).expect("an id");
            headers.insert("mcp-session-id", session);
        }
        self.0
            .request(request)
            .await
            .map_err(StreamableHttpError::Client)
    }
}

fn status(status: StatusCode) -> Failure {
    HttpStatusError::new(status.as_u16(), None).into()
}

impl StreamableHttpClient for Http {
    type Error = hyper_util::client::legacy::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        more: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let body = serde_json::to_vec(&message)?;
        let response = self
            .send(Method::POST, &uri, session.as_deref(), more, body)
            .await?;
        match response.status() {
            StatusCode::ACCEPTED => return Ok(StreamableHttpPostResponse::Accepted),
            other if !other.is_success() => return Err(status(other)),
            _ => {}
        }
        let text = |name: &str| {
            let value = response.headers().get(name)?;
            value.to_str().ok().map(str::to_owned)
        };
        let (session, kind) = (text("mcp-session-id"), text("content-type"));
        if kind.as_deref() == Some("text/event-stream") {
            let body = response.into_body().into_data_stream();
            let events = SseStream::from_bytes_stream(body.map_err(std::io::Error::other));
            return Ok(StreamableHttpPostResponse::Sse(events.boxed(), session));
        }
        let body = response.into_body().collect().await.map_err(|_| {
            StreamableHttpError::UnexpectedServerResponse(Cow::Borrowed("it is incomplete"))
        })?;
        let message = serde_json::from_slice(&body.to_bytes())?;
        Ok(StreamableHttpPostResponse::Json(message, session))
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        _: Option<String>,
        more: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failure> {
        let response = self
            .send(Method::DELETE, &uri, Some(&session), more, Vec::new())
            .await?;
        match response.status() {
            other if other.is_success() => Ok(()),
            other => Err(status(other)),
        }
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        _: Option<String>,
        _: Option<String>,
        more: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        let response = self
            .send(Method::GET, &uri, session.as_deref(), more, Vec::new())
            .await?;
        match response.status() {
            StatusCode::METHOD_NOT_ALLOWED => Err(StreamableHttpError::ServerDoesNotSupportSse),
            other => Err(status(other)),
        }
    }
}
