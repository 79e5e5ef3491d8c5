//! Minimal HTTP client over a plain connection.

use std::time::Duration;

use autonoe_testkit::model_server::ModelServer;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Maximum duration of any step on a busy machine.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(120);

/// Everything received on a connection until its end.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: String,
    pub(crate) end: End,
}

/// End of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// As HTTP requires.
    Proper,
    /// In the middle of the response.
    Broken,
}

/// Returns a request for a message with one tool, as a program sends it.
pub(crate) fn prompt(text: &str) -> Value {
    json!({
        "model": "claude-x",
        "messages": [{"role": "user", "content": text}],
        "tools": [{"name": "Bash", "input_schema": {"type": "object"}}],
    })
}

/// The same request, for a streamed answer.
pub(crate) fn streamed(text: &str) -> Value {
    let mut prompt = prompt(text);
    prompt["stream"] = true.into();
    prompt
}

/// Requests a message and returns the complete response.
pub(crate) async fn request_message(server: &ModelServer, body: &Value) -> Response {
    send(server, "POST", "/v1/messages?beta=true", &body.to_string()).await
}

/// Sends any request and returns the complete response.
pub(crate) async fn send(server: &ModelServer, method: &str, path: &str, body: &str) -> Response {
    read_response(open(server, method, path, body).await).await
}

/// Sends a request without reading the response.
pub(crate) async fn open(server: &ModelServer, method: &str, path: &str, body: &str) -> TcpStream {
    open_with(server, method, path, "x-api-key: sk-hunter2", body).await
}

/// Sends a request with this credential without reading the response.
pub(crate) async fn open_with(
    server: &ModelServer,
    method: &str,
    path: &str,
    credential: &str,
    body: &str,
) -> TcpStream {
    let mut connection = TcpStream::connect(server.address())
        .await
        .expect("the server listens");
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: model\r\nconnection: close\r\n\
         {credential}\r\nuser-agent: test/1\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let sent = connection.write_all(request.as_bytes()).await;
    sent.expect("the server reads");
    connection
}

/// Returns everything received on a connection.
pub(crate) async fn read_response(mut connection: TcpStream) -> Response {
    let mut bytes = Vec::new();
    let read = connection.read_to_end(&mut bytes);
    let read = tokio::time::timeout(TIMEOUT, read).await;
    read.expect("an end comes in time").expect("it can be read");
    parse_response(&bytes)
}

fn parse_response(bytes: &[u8]) -> Response {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("it is text");
    let blank = bytes.windows(4).position(|four| four == b"\r\n\r\n");
    let Some(blank) = blank else {
        return Response {
            status: 0,
            head: String::new(),
            body: text(bytes),
            end: End::Broken,
        };
    };
    let (head, rest) = (text(&bytes[..blank]), &bytes[blank + 4..]);
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
    let mut response = Response {
        status: status.expect("it has a status"),
        head,
        body: String::new(),
        end: End::Proper,
    };
    let mut body = rest.to_vec();
    if response.header("transfer-encoding") == Some("chunked") {
        (body, response.end) = join_chunks(rest);
    }
    response.body = text(&body);
    response
}

fn join_chunks(mut rest: &[u8]) -> (Vec<u8>, End) {
    let mut body = Vec::new();
    while let Some(line) = rest.windows(2).position(|two| two == b"\r\n") {
        let size = std::str::from_utf8(&rest[..line]).expect("it is text");
        match usize::from_str_radix(size, 16).expect("it is a size") {
            0 => return (body, End::Proper),
            size => {
                let chunk = line + 2;
                body.extend_from_slice(&rest[chunk..chunk + size]);
                rest = &rest[chunk + size + 2..];
            }
        }
    }
    (body, End::Broken)
}

/// Removes the number of the server in this process from all ids.
pub(crate) fn without_server(text: &str) -> String {
    let mut parts = text.split("_scripted_");
    let mut known = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (_, rest) = part.split_once('_').expect("the number of the server");
        known = format!("{known}_scripted_{rest}");
    }
    known
}

impl Response {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Returns the names of the events in a stream.
    pub(crate) fn events(&self) -> Vec<&str> {
        let lines = self.body.lines();
        lines
            .filter_map(|line| line.strip_prefix("event: "))
            .collect()
    }

    /// Returns the data of the events in a stream.
    pub(crate) fn data(&self) -> Vec<&str> {
        let lines = self.body.lines();
        lines
            .filter_map(|line| line.strip_prefix("data: "))
            .collect()
    }

    /// Returns the data of the events in a stream that are JSON.
    pub(crate) fn chunks(&self) -> Vec<Value> {
        let data = self.data().into_iter();
        data.filter_map(|data| serde_json::from_str(data).ok())
            .collect()
    }
}
