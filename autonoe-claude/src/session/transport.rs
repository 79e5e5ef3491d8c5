//! [`Transport`], the line-based connection to the program.

use std::io;
use std::task::Poll;
use std::time::{Duration, Instant};

use autonoe_backend::line_writer;
use autonoe_process::{Process, Stdin, Stdout};
use serde_json::Value;
use tokio::io::AsyncReadExt;
use tokio::sync::mpsc;

use crate::wire::{Line, LineReader, LineTooLong, OutgoingLine};

/// The program and the connection to it.
pub(super) struct Transport {
    pub(super) process: Process,
    stdout: Stdout,
    reader: LineReader,
    /// Lines that were put back.
    put_back_lines: Vec<Line>,
    lines: mpsc::UnboundedSender<OutgoingLine>,
    is_at_end: bool,
    /// End of the time during which reads poll instead of sleeping.
    awake_until: Option<Instant>,
    /// Number of bytes before the first line of the protocol; `None` once there was one.
    before_first_line: Option<usize>,
}

/// Maximum number of bytes before the first line. The real program writes next to nothing.
const MAX_BEFORE_FIRST_LINE: usize = 4 * 1024 * 1024;

/// Time during which reads poll after a request of the program. Requests often arrive in bursts,
/// and waking up takes longer than answering one.
const POLL_TIME: Duration = Duration::from_micros(50);

/// The reason why no more lines arrive.
#[derive(Debug)]
pub(crate) enum EndOfInput {
    /// The program closed its output, or ended.
    Ended,
    /// A line is too long.
    TooLong(LineTooLong),
    /// The output is not in the protocol.
    NotTheProtocol,
}

impl Transport {
    /// Opens the connection. A task of its own writes the lines: a torn line would end the program.
    pub(super) fn new(process: Process, stdin: Stdin, stdout: Stdout) -> Self {
        Self {
            process,
            stdout,
            reader: LineReader::new(),
            put_back_lines: Vec::new(),
            lines: line_writer(stdin),
            is_at_end: false,
            awake_until: None,
            before_first_line: Some(0),
        }
    }

    /// Returns whether the program has ever sent a line of the protocol.
    pub(super) fn has_received_line(&self) -> bool {
        self.before_first_line.is_none()
    }

    /// Returns the sender of lines to the program. It never waits: the program reads the answers to
    /// its requests.
    pub(super) fn writer(&self) -> mpsc::UnboundedSender<OutgoingLine> {
        self.lines.clone()
    }

    /// Sends a line. If the program has exited, its output ends.
    pub(super) fn send(&self, line: OutgoingLine) {
        let _ = self.lines.send(line);
    }

    /// Closes the connection. The program's input is closed when the last writer is dropped.
    pub(super) fn into_process(self) -> Process {
        self.process
    }

    /// Puts lines back, in front of all unread ones.
    pub(super) fn put_back(&mut self, lines: impl Iterator<Item = Line>) {
        self.put_back_lines = lines.collect();
    }

    /// Expects more output at once.
    pub(super) fn poll_soon(&mut self) {
        self.awake_until = Some(Instant::now() + POLL_TIME);
    }

    /// Waits for the next lines. Dropping the future loses nothing.
    pub(super) async fn recv(&mut self) -> Result<Vec<Line>, EndOfInput> {
        if !self.put_back_lines.is_empty() {
            return Ok(std::mem::take(&mut self.put_back_lines));
        }
        loop {
            if self.is_at_end {
                return Err(EndOfInput::Ended);
            }
            let read = self.read().await;
            if let (Some(before), Ok(more)) = (&mut self.before_first_line, &read) {
                *before += more;
            }
            let lines = match read {
                Ok(0) => {
                    self.is_at_end = true;
                    self.reader.finish()
                }
                Ok(_) => self.reader.take_lines(),
                Err(error) => {
                    tracing::warn!(%error, "the output of Claude Code cannot be read");
                    self.is_at_end = true;
                    self.reader.finish()
                }
            };
            match lines {
                Ok(lines) if !lines.is_empty() => {
                    self.before_first_line = None;
                    return Ok(lines);
                }
                Ok(_) if self.before_first_line > Some(MAX_BEFORE_FIRST_LINE) => {
                    self.is_at_end = true;
                    return Err(EndOfInput::NotTheProtocol);
                }
                Ok(_) => {}
                Err(error) => {
                    self.is_at_end = true;
                    return Err(EndOfInput::TooLong(error));
                }
            }
        }
    }

    /// Reads the available bytes, or waits for some.
    async fn read(&mut self) -> io::Result<usize> {
        let mut read = std::pin::pin!(self.stdout.read_buf(self.reader.buffer()));
        while let Some(until) = self.awake_until {
            let now = std::future::poll_fn(|cx| Poll::Ready(read.as_mut().poll(cx))).await;
            if let Poll::Ready(read) = now {
                return read;
            }
            if Instant::now() >= until {
                self.awake_until = None;
            }
            tokio::task::yield_now().await;
        }
        read.await
    }
}

/// An answer of the program: a value or an error message.
pub(super) type Answer = Result<Option<Value>, String>;
