//! Server that sends the bytes of a test, and closes the connection as the test requires.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Action of the server after a request.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Sends these bytes.
    Send(String),
    /// Waits for this duration.
    Wait(Duration),
    /// Sends nothing more until the client disconnects.
    Hang,
    /// Closes the connection regularly.
    Close,
    /// Resets the connection.
    Reset,
}

/// A received request.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedRequest {
    /// Number of the connection, from 0.
    pub(crate) connection: usize,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl ReceivedRequest {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().skip(1);
        lines.find_map(|line| {
            let (known, value) = line.split_once(':')?;
            known.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

/// Answers requests on any connection, with one script each. Dropping it stops it.
#[derive(Debug)]
pub(crate) struct RawServer {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<ReceivedRequest>>>,
    task: JoinHandle<()>,
}

impl RawServer {
    pub(crate) async fn start(scripts: impl IntoIterator<Item = Vec<Act>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let requests: Arc<Mutex<Vec<ReceivedRequest>>> = Arc::default();
        let mut scripts: Vec<_> = scripts.into_iter().collect();
        scripts.reverse();
        let scripts = Arc::new(Mutex::new(scripts));
        let log = requests.clone();
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            for connection in 0.. {
                let Ok((stream, _)) = listener.accept().await else {
                    return;
                };
                let (scripts, log) = (scripts.clone(), log.clone());
                connections.spawn(async move {
                    let _ = serve(stream, connection, &scripts, &log).await;
                });
            }
        });
        Self {
            address,
            requests,
            task,
        }
    }

    /// Starts a server for one request.
    pub(crate) async fn once(acts: impl Into<Vec<Act>>) -> Self {
        Self::start([acts.into()]).await
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn requests(&self) -> Vec<ReceivedRequest> {
        let requests = self.requests.lock();
        requests.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for RawServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(
    mut stream: TcpStream,
    connection: usize,
    scripts: &Mutex<Vec<Vec<Act>>>,
    log: &Mutex<Vec<ReceivedRequest>>,
) -> std::io::Result<()> {
    while let Some((head, body)) = read_request(&mut stream).await? {
        let request = ReceivedRequest {
            connection,
            head,
            body,
        };
        log.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(request);
        let acts = scripts.lock().unwrap_or_else(PoisonError::into_inner).pop();
        for act in acts.unwrap_or_else(|| vec![Act::Close]) {
            match act {
                Act::Send(text) => stream.write_all(text.as_bytes()).await?,
                Act::Wait(time) => tokio::time::sleep(time).await,
                Act::Hang => {
                    let _ = stream.read(&mut [0; 64]).await;
                    return Ok(());
                }
                Act::Close => return stream.shutdown().await,
                Act::Reset => {
                    return stream.set_zero_linger();
                }
            }
        }
    }
    Ok(())
}

/// Reads a request; `None` if the client disconnects.
pub(crate) async fn read_request(
    stream: &mut TcpStream,
) -> std::io::Result<Option<(String, String)>> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            let length: usize = head
                .lines()
                .find_map(|line| {
                    let (name, value) = line.split_once(':')?;
                    name.eq_ignore_ascii_case("content-length").then_some(value)
                })
                .map_or(0, |text| text.trim().parse().expect("a number"));
            if bytes.len() >= end + 4 + length {
                let body = String::from_utf8_lossy(&bytes[end + 4..]).into_owned();
                return Ok(Some((head, body)));
            }
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
    }
}

/// Returns a response that ends with the connection.
pub(crate) fn until_closed(status: &str, kind: &str, body: &str) -> Act {
    Act::Send(format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\nrequest-id: req-1\r\n\
         connection: close\r\n\r\n{body}"
    ))
}

/// Returns a response with a content length and additional headers.
pub(crate) fn response(status: &str, headers: &str, body: &str) -> Act {
    let length = body.len();
    Act::Send(format!(
        "HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\n\r\n{body}"
    ))
}

/// Returns an event stream with a regular end, on a connection that stays open.
pub(crate) fn stream(body: &str) -> Act {
    Act::Send(format!("{STREAM_HEAD}{}0\r\n\r\n", chunk(body)))
}

pub(crate) const STREAM_HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
                                      transfer-encoding: chunked\r\nrequest-id: req-1\r\n\r\n";

pub(crate) fn chunk(body: &str) -> String {
    format!("{:x}\r\n{body}\r\n", body.len())
}

/// Beginning of a message of Anthropic, with 11 tokens used, and its end.
pub(crate) const MESSAGE_START: &str = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":\
    {\"id\":\"msg_1\",\"model\":\"model-x\",\"usage\":{\"input_tokens\":10,\"output_tokens\":1}}}\n\n\
    data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"Hi.\"}}\n\n";

pub(crate) const ENDED: &str = "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n\
    data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":5}}\n\n\
    data: {\"type\":\"message_stop\"}\n\n";
