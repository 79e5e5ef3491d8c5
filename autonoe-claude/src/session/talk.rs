//! The two pipes of the program: whole lines in, whole lines out.

use std::collections::HashMap;
use std::io;
use std::task::Poll;
use std::time::{Duration, Instant};

use autonoe_process::{Process, Stdin, Stdout};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot};

use crate::wire::{ControlResponse, Line, LineReader, LineTooLong, OutgoingLine};

/// The program and the talk with it.
pub(super) struct Talk {
    pub(super) process: Process,
    stdout: Stdout,
    reader: LineReader,
    /// Lines that were read too early.
    kept: Vec<Line>,
    lines: mpsc::UnboundedSender<OutgoingLine>,
    is_at_end: bool,
    /// Until when to listen without falling asleep.
    awake_until: Option<Instant>,
    /// How many bytes came before the first line of the protocol; `None` once there was one.
    before_first_line: Option<usize>,
}

/// How much a program may write before its first line. The real one writes next to nothing.
const NONSENSE: usize = 4 * 1024 * 1024;

/// How long a program that has asked something is listened to without falling asleep. Questions
/// often come one behind the other, and to be woken up takes longer than to answer one.
const AWAKE: Duration = Duration::from_micros(50);

/// Why no more lines come.
#[derive(Debug)]
pub(super) enum Silence {
    /// The program closed its output, or ended.
    Ended,
    /// A line is longer than anybody can want.
    TooLong(LineTooLong),
    /// What comes is not the protocol.
    Nonsense,
}

impl Talk {
    /// Begins to talk. Lines are written by a task of their own: a line that is torn
    /// would end the program.
    pub(super) fn new(process: Process, stdin: Stdin, stdout: Stdout) -> Self {
        let (lines, queue) = mpsc::unbounded_channel();
        tokio::spawn(write_lines(stdin, queue));
        Self {
            process,
            stdout,
            reader: LineReader::new(),
            kept: Vec::new(),
            lines,
            is_at_end: false,
            awake_until: None,
            before_first_line: Some(0),
        }
    }

    /// Tells whether the program has ever said anything in the protocol.
    pub(super) fn has_heard(&self) -> bool {
        self.before_first_line.is_none()
    }

    /// Returns where lines to the program go. It never waits: what the program asks, it reads the
    /// answers to.
    pub(super) fn writer(&self) -> mpsc::UnboundedSender<OutgoingLine> {
        self.lines.clone()
    }

    /// Sends a line. If the program is gone, that is seen at its output.
    pub(super) fn send(&self, line: OutgoingLine) {
        let _ = self.lines.send(line);
    }

    /// Ends the talk. The program's input is closed when the last writer is gone.
    pub(super) fn into_process(self) -> Process {
        self.process
    }

    /// Keeps lines for later, in front of all that were not read yet.
    pub(super) fn put_back(&mut self, lines: impl Iterator<Item = Line>) {
        self.kept = lines.collect();
    }

    /// Expects that more comes at once.
    pub(super) fn stay_awake(&mut self) {
        self.awake_until = Some(Instant::now() + AWAKE);
    }

    /// Waits for the next lines. Nothing is lost when the future is dropped.
    pub(super) async fn next(&mut self) -> Result<Vec<Line>, Silence> {
        if !self.kept.is_empty() {
            return Ok(std::mem::take(&mut self.kept));
        }
        loop {
            if self.is_at_end {
                return Err(Silence::Ended);
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
                Ok(_) => self.reader.take(),
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
                Ok(_) if self.before_first_line > Some(NONSENSE) => {
                    self.is_at_end = true;
                    return Err(Silence::Nonsense);
                }
                Ok(_) => {}
                Err(error) => {
                    self.is_at_end = true;
                    return Err(Silence::TooLong(error));
                }
            }
        }
    }

    /// Reads what is there, or waits for it.
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

/// How many lines are written at once, at most.
const AT_ONCE: usize = 64;

async fn write_lines(mut stdin: Stdin, mut queue: mpsc::UnboundedReceiver<OutgoingLine>) {
    let mut lines = Vec::new();
    while queue.recv_many(&mut lines, AT_ONCE).await > 0 {
        if let Err(error) = write(&mut stdin, &lines).await {
            tracing::debug!(%error, "Claude Code does not listen any more");
            return;
        }
        lines.clear();
    }
}

/// Writes lines with one call where there is room: an agent that uses many tools at a time gets
/// many answers at a time.
async fn write(stdin: &mut Stdin, lines: &[OutgoingLine]) -> io::Result<()> {
    match lines {
        // A prompt may be long; it is not copied.
        [line] => stdin.write_all(line.as_bytes()).await?,
        lines => {
            let bytes: Vec<&[u8]> = lines.iter().map(OutgoingLine::as_bytes).collect();
            stdin.write_all(&bytes.concat()).await?;
        }
    }
    stdin.flush().await
}

/// An answer of the program: a value, or why there is none.
pub(super) type Answer = Result<Option<Value>, String>;

/// Questions of the host that the program has not answered yet.
#[derive(Default)]
pub(super) struct Pending {
    asked: HashMap<String, oneshot::Sender<Answer>>,
    count: u64,
}

impl Pending {
    /// Makes an id for a question, and what its answer comes through.
    ///
    /// When the program ends, the answer is that there is none: everything here is dropped.
    pub(super) fn ask(&mut self) -> (String, oneshot::Receiver<Answer>) {
        self.count += 1;
        let id = format!("autonoe_{}", self.count);
        let (tell, told) = oneshot::channel();
        self.asked.insert(id.clone(), tell);
        (id, told)
    }

    /// Hands an answer to who asked. One that nobody asked for is ignored.
    pub(super) fn answered(&mut self, response: &ControlResponse<'_>) {
        let Some(asked) = self.asked.remove(response.request_id.as_ref()) else {
            tracing::debug!(id = %response.request_id, "an answer that nobody asked for");
            return;
        };
        let answer = match &response.answer {
            Ok(_) => Ok(response.value()),
            Err(error) => Err(error.to_string()),
        };
        // Whoever asked may have given up.
        let _ = asked.send(answer);
    }
}
