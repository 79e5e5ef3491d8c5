//! Raw HTTP requests.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A connection that sends raw text.
pub(crate) struct Raw(TcpStream);

impl Raw {
    pub(crate) async fn connect(url: &str) -> Self {
        Self(
            TcpStream::connect(authority(url))
                .await
                .expect("it is open"),
        )
    }

    pub(crate) async fn send(&mut self, text: &str) {
        // After an early refusal, the server may not read the rest.
        let _ = self.0.write_all(text.as_bytes()).await;
    }

    /// Reads the response to the end of the connection.
    pub(crate) async fn rest(mut self) -> String {
        let mut response = Vec::new();
        let _ = self.0.read_to_end(&mut response).await;
        String::from_utf8_lossy(&response).into_owned()
    }
}

pub(crate) fn authority(url: &str) -> &str {
    let rest = url.strip_prefix("http://").expect("it is HTTP");
    rest.split('/').next().expect("it has an authority")
}

/// Returns the head of a valid request, without its length and its end.
pub(crate) fn head(url: &str, secret: &str) -> String {
    let host = authority(url);
    let path = &url["http://".len() + host.len()..];
    format!(
        "POST {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: {secret}\r\n\
         connection: close\r\ncontent-type: application/json\r\n"
    )
}

/// Formats a protocol request.
pub(crate) fn request(method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
}

/// Sends a request, and returns the status of the response; 0 if there is none.
pub(crate) async fn status(url: &str, request: &str) -> u16 {
    let mut raw = Raw::connect(url).await;
    raw.send(request).await;
    status_of(&raw.rest().await)
}

pub(crate) fn status_of(answer: &str) -> u16 {
    let status = answer
        .strip_prefix("HTTP/1.1 ")
        .and_then(|rest| rest.get(..3));
    status
        .and_then(|status| status.parse().ok())
        .unwrap_or_default()
}
