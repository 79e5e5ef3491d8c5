//! A client that says and hears no more than it is told to.

use std::time::Duration;

use autonoe_testkit::model_server::anthropic::AnthropicServer;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// How long anything may take on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// What came back over a connection, up to its end.
#[derive(Debug)]
pub(crate) struct Heard {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: String,
    pub(crate) end: End,
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// As HTTP wants it.
    Proper,
    /// In the middle.
    Broken,
}

/// A request for a message, with a tool, as a program sends it.
pub(crate) fn prompt(text: &str) -> Value {
    json!({
        "model": "claude-x",
        "messages": [{"role": "user", "content": text}],
        "tools": [{"name": "Bash", "input_schema": {"type": "object"}}],
    })
}

/// The same, for an answer in a stream.
pub(crate) fn streamed(text: &str) -> Value {
    let mut prompt = prompt(text);
    prompt["stream"] = true.into();
    prompt
}

/// Asks for a message and returns all that comes.
pub(crate) async fn ask(server: &AnthropicServer, body: &Value) -> Heard {
    send(server, "POST", "/v1/messages?beta=true", &body.to_string()).await
}

/// Sends any request and returns all that comes.
pub(crate) async fn send(server: &AnthropicServer, method: &str, path: &str, body: &str) -> Heard {
    let mut connection = open(server, method, path, body).await;
    let mut bytes = Vec::new();
    let read = connection.read_to_end(&mut bytes);
    let read = tokio::time::timeout(PATIENCE, read).await;
    read.expect("an end comes in time").expect("it can be read");
    hear(&bytes)
}

/// Sends a request and reads nothing.
pub(crate) async fn open(
    server: &AnthropicServer,
    method: &str,
    path: &str,
    body: &str,
) -> TcpStream {
    let mut connection = TcpStream::connect(server.address())
        .await
        .expect("the server listens");
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: model\r\nconnection: close\r\n\
         x-api-key: sk-hunter2\r\nuser-agent: test/1\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let sent = connection.write_all(request.as_bytes()).await;
    sent.expect("the server reads");
    connection
}

fn hear(bytes: &[u8]) -> Heard {
    let text = String::from_utf8(bytes.to_vec()).expect("it is text");
    let Some((head, rest)) = text.split_once("\r\n\r\n") else {
        return Heard {
            status: 0,
            head: String::new(),
            body: text,
            end: End::Broken,
        };
    };
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
    let mut heard = Heard {
        status: status.expect("it has a status"),
        head: head.to_owned(),
        body: rest.to_owned(),
        end: End::Proper,
    };
    if heard.header("transfer-encoding") == Some("chunked") {
        (heard.body, heard.end) = join_chunks(rest);
    }
    heard
}

fn join_chunks(mut rest: &str) -> (String, End) {
    let mut body = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        match usize::from_str_radix(size, 16).expect("it is a size") {
            0 => return (body, End::Proper),
            size => {
                body.push_str(&after[..size]);
                rest = &after[size + 2..];
            }
        }
    }
    (body, End::Broken)
}

impl Heard {
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
}
