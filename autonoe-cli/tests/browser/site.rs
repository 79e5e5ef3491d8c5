//! `Site`, a web page on loopback.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// The text of the page after its script has run.
pub(crate) const TEXT: &str = "Ripe tomatoes: 3 left in stock";

const PAGE: &str = "<!doctype html><title>Market</title><h1>Market</h1><p id=stock></p>\
    <script>document.getElementById('stock').textContent = 'Ripe tomatoes: ' + (1 + 2) + ' left in stock'</script>";

/// A server of one page. It stops when dropped.
pub(crate) struct Site {
    address: SocketAddr,
    closing: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Site {
    pub(crate) fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it has one");
        let closing = Arc::new(AtomicBool::new(false));
        let stop = closing.clone();
        let thread = std::thread::spawn(move || {
            for connection in listener.incoming() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                if let Ok(connection) = connection {
                    std::thread::spawn(move || answer(&connection));
                }
            }
        });
        Self {
            address,
            closing,
            thread: Some(thread),
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }
}

/// Answers any request with the page. A browser that disconnects is not an error.
fn answer(mut connection: &TcpStream) {
    let mut lines = BufReader::new(connection).lines();
    while lines
        .next()
        .is_some_and(|line| line.is_ok_and(|line| !line.is_empty()))
    {}
    let length = PAGE.len();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\nconnection: close\r\n";
    let _ = write!(connection, "{head}content-length: {length}\r\n\r\n{PAGE}");
}

impl Drop for Site {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::SeqCst);
        // Wakes the thread, which waits for a connection.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
