//! A client that says and hears no more than it is told to.

use std::time::Duration;

use autonoe_testkit::model_server::ModelServer;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// How long anything may take on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

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
pub(crate) async fn ask(server: &ModelServer, body: &Value) -> Heard {
    send(server, "POST", "/v1/messages?beta=true", &body.to_string()).await
}

/// Sends any request and returns all that comes.
pub(crate) async fn send(server: &ModelServer, method: &str, path: &str, body: &str) -> Heard {
    hear_all(open(server, method, path, body).await).await
}

/// Sends a request and reads nothing.
pub(crate) async fn open(server: &ModelServer, method: &str, path: &str, body: &str) -> TcpStream {
    open_with(server, method, path, "x-api-key: sk-hunter2", body).await
}

/// Sends a request with this credential and reads nothing.
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

/// Returns all that comes over a connection.
pub(crate) async fn hear_all(mut connection: TcpStream) -> Heard {
    let mut bytes = Vec::new();
    let read = connection.read_to_end(&mut bytes);
    let read = tokio::time::timeout(PATIENCE, read).await;
    read.expect("an end comes in time").expect("it can be read");
    hear(&bytes)
}

fn hear(bytes: &[u8]) -> Heard {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("it is text");
    let blank = bytes.windows(4).position(|four| four == b"\r\n\r\n");
    let Some(blank) = blank else {
        return Heard {
            status: 0,
            head: String::new(),
            body: text(bytes),
            end: End::Broken,
        };
    };
    let (head, rest) = (text(&bytes[..blank]), &bytes[blank + 4..]);
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
    let mut heard = Heard {
        status: status.expect("it has a status"),
        head,
        body: String::new(),
        end: End::Proper,
    };
    let mut body = rest.to_vec();
    if heard.header("transfer-encoding") == Some("chunked") {
        (body, heard.end) = join_chunks(rest);
    }
    heard.body = text(&body);
    heard
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

/// Takes out of all ids how many servers the process has had.
pub(crate) fn without_server(text: &str) -> String {
    let mut parts = text.split("_scripted_");
    let mut known = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (_, rest) = part.split_once('_').expect("the number of the server");
        known = format!("{known}_scripted_{rest}");
    }
    known
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
