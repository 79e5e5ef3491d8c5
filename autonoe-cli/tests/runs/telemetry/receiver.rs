//! `Receiver`, a receiver of telemetry and webhooks over HTTP on loopback.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Response of a receiver.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer {
    /// Responds with this status.
    Status(u16),
    /// Responds with status 200 after this time.
    Slow(Duration),
    /// Reads the request and does not respond.
    Nothing,
}

/// A received request.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) path: String,
    /// Header values by lower-case names.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

/// A receiver. Dropping it stops the thread.
pub(crate) struct Receiver {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
    is_over: Arc<AtomicBool>,
}

impl Receiver {
    pub(crate) fn start() -> Self {
        Self::answering(Answer::Status(200))
    }

    pub(crate) fn answering(answer: Answer) -> Self {
        Self::listening("127.0.0.1:0", answer)
    }

    /// Starts a receiver at an address that was free before.
    pub(crate) fn listening(address: &str, answer: Answer) -> Self {
        let listener = TcpListener::bind(address).expect("a port");
        let receiver = Self {
            address: listener.local_addr().expect("it is bound"),
            requests: Arc::default(),
            is_over: Arc::default(),
        };
        let (requests, is_over) = (receiver.requests.clone(), receiver.is_over.clone());
        thread::spawn(move || {
            for stream in listener.incoming() {
                if is_over.load(Ordering::SeqCst) {
                    return;
                }
                let (stream, requests) = (stream.expect("a connection"), requests.clone());
                thread::spawn(move || serve(&stream, answer, &requests));
            }
        });
        receiver
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the requests so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().expect("nobody panicked").clone()
    }

    /// Returns the requests at this path so far.
    pub(crate) fn at(&self, path: &str) -> Vec<Request> {
        let mut requests = self.requests();
        requests.retain(|request| request.path == path);
        requests
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // Wakes the thread, which waits for a connection.
        let _ = TcpStream::connect(self.address);
    }
}

/// Serves a connection until the client closes it.
fn serve(stream: &TcpStream, answer: Answer, requests: &Mutex<Vec<Request>>) {
    let mut reader = BufReader::new(stream);
    while let Some(request) = read(&mut reader) {
        requests.lock().expect("nobody panicked").push(request);
        let status = match answer {
            Answer::Status(status) => Some(status),
            Answer::Slow(time) => {
                thread::sleep(time);
                Some(200)
            }
            Answer::Nothing => None,
        };
        if let Some(status) = status {
            let head = format!("HTTP/1.1 {status} Whatever\r\ncontent-length: 0\r\n\r\n");
            if (&mut &*stream).write_all(head.as_bytes()).is_err() {
                return;
            }
        }
    }
}

fn read(reader: &mut impl BufRead) -> Option<Request> {
    let mut line = || {
        let mut line = String::new();
        let length = reader.read_line(&mut line).ok()?;
        (length > 0).then(|| line.trim_end().to_owned())
    };
    let path = line()?.split(' ').nth(1)?.to_owned();
    let mut headers = BTreeMap::new();
    loop {
        let line = line()?;
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length")?.parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request {
        path,
        headers,
        body,
    })
}
