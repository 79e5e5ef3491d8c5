//! The two pipes of the program: whole lines in, whole lines out.

use autonoe_process::{Process, Stdin, Stdout};
use futures::StreamExt;
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc;
use tokio_util::codec::{FramedRead, LinesCodec, LinesCodecError};

use crate::wire::{Addressed, Outgoing};

/// The longest line that is read: 64 MiB.
const LONGEST: usize = 64 * 1024 * 1024;

/// The program and the talk with it.
pub(super) struct Talk {
    pub(super) process: Process,
    lines: FramedRead<Stdout, LinesCodec>,
    writer: mpsc::UnboundedSender<Outgoing>,
}

/// Why no more messages come.
#[derive(Debug)]
pub(super) enum Silence {
    /// The program closed its output, or ended.
    Ended,
    /// A line is longer than anybody can want. It could have been a question, so nothing goes on.
    TooLong,
    /// A line cannot be read although it looks like a message. It could have been a question too.
    Unreadable,
}

impl Talk {
    /// Begins to talk. Lines are written by a task of their own, so that none is torn.
    pub(super) fn new(process: Process, stdin: Stdin, stdout: Stdout) -> Self {
        let (writer, queue) = mpsc::unbounded_channel();
        tokio::spawn(write_lines(stdin, queue));
        Self {
            process,
            lines: FramedRead::new(stdout, LinesCodec::new_with_max_length(LONGEST)),
            writer,
        }
    }

    /// Returns where messages to the program go. It never waits.
    pub(super) fn writer(&self) -> mpsc::UnboundedSender<Outgoing> {
        self.writer.clone()
    }

    /// Sends a message. If the program is gone, that is seen at its output.
    pub(super) fn send(&self, message: Outgoing) {
        let _ = self.writer.send(message);
    }

    /// Ends the talk.
    pub(super) fn into_process(self) -> Process {
        self.process
    }

    /// Waits for the next message. Nothing is lost when the future is dropped.
    pub(super) async fn next(&mut self) -> Result<Addressed, Silence> {
        loop {
            match self.lines.next().await {
                Some(Ok(line)) => match Addressed::read(&line) {
                    Some(message) => {
                        tracing::trace!(line = %message.line, "Codex says");
                        return Ok(message);
                    }
                    None if line.trim_start().starts_with('{') => return Err(Silence::Unreadable),
                    None => tracing::debug!("a line that is no message"),
                },
                Some(Err(LinesCodecError::MaxLineLengthExceeded)) => return Err(Silence::TooLong),
                Some(Err(LinesCodecError::Io(error))) => {
                    tracing::warn!(%error, "the output of Codex cannot be read");
                    return Err(Silence::Ended);
                }
                None => return Err(Silence::Ended),
            }
        }
    }
}

async fn write_lines(mut stdin: Stdin, mut queue: mpsc::UnboundedReceiver<Outgoing>) {
    while let Some(message) = queue.recv().await {
        let line = message.to_line();
        let written = async {
            stdin.write_all(line.as_bytes()).await?;
            stdin.flush().await
        };
        if let Err(error) = written.await {
            tracing::debug!(%error, "Codex does not listen any more");
            return;
        }
    }
}
