//! [`Transport`], the line-based connection to the program.

use autonoe_backend::line_writer;
use autonoe_process::{Process, Stdin, Stdout};
use futures::StreamExt;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::codec::{FramedRead, LinesCodec, LinesCodecError};

use crate::wire::{Outgoing, ThreadMessage};

/// Maximum length of a line: 64 MiB.
const MAX_LINE_LEN: usize = 64 * 1024 * 1024;

/// The program and the connection to it.
pub(super) struct Transport {
    pub(super) process: Process,
    lines: FramedRead<Stdout, LinesCodec>,
    writer: mpsc::UnboundedSender<String>,
}

/// The reason why no more messages arrive.
#[derive(Debug)]
pub(crate) enum EndOfInput {
    /// The program closed its output, or ended.
    Ended,
    /// A line is too long. It could have been a request, so the session cannot continue.
    TooLong,
    /// A line looks like a message and cannot be parsed. It could have been a request, too.
    Unreadable,
}

impl Transport {
    /// Opens the connection. A task of its own writes the lines, so that they do not interleave.
    pub(super) fn new(process: Process, stdin: Stdin, stdout: Stdout) -> Self {
        Self {
            process,
            lines: FramedRead::new(stdout, LinesCodec::new_with_max_length(MAX_LINE_LEN)),
            writer: line_writer(stdin),
        }
    }

    /// Returns the sender of messages to the program. It never waits.
    pub(super) fn writer(&self) -> mpsc::UnboundedSender<String> {
        self.writer.clone()
    }

    /// Sends a message. If the program has exited, its output ends.
    pub(super) fn send(&self, message: &Outgoing) {
        let _ = self.writer.send(message.to_line());
    }

    /// Closes the connection.
    pub(super) fn into_process(self) -> Process {
        self.process
    }

    /// Waits for the next message. Dropping the future loses nothing.
    pub(super) async fn recv(&mut self) -> Result<ThreadMessage, EndOfInput> {
        loop {
            match self.lines.next().await {
                Some(Ok(line)) => match ThreadMessage::parse(&line) {
                    Some(message) => {
                        tracing::trace!(line = %message.line, "message from Codex");
                        return Ok(message);
                    }
                    None if line.trim_start().starts_with('{') => {
                        return Err(EndOfInput::Unreadable);
                    }
                    None => tracing::debug!("skipped a line that is not a message"),
                },
                Some(Err(LinesCodecError::MaxLineLengthExceeded)) => {
                    return Err(EndOfInput::TooLong);
                }
                Some(Err(LinesCodecError::Io(error))) => {
                    tracing::warn!(%error, "the output of Codex cannot be read");
                    return Err(EndOfInput::Ended);
                }
                None => return Err(EndOfInput::Ended),
            }
        }
    }
}

/// The answer of the program: a value, or the message of an error.
pub(super) type Answer = Result<Value, String>;
