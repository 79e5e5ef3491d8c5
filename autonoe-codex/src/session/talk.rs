//! The two pipes of the program: whole lines in, whole lines out.

use std::collections::HashMap;

use autonoe_backend::{After, Commands, Program, Query};
use autonoe_core::{AgentError, AgentErrorKind, SessionSpec};
use autonoe_process::{Ladder, Process, Stdin, Stdout};
use futures::StreamExt;
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::sync::{mpsc, oneshot};
use tokio_util::codec::{FramedRead, LinesCodec, LinesCodecError};

use super::start::Live;
use super::turn::Turn;
use crate::launch::CodexOptions;
use crate::wire::{Addressed, Outgoing, RequestId, RpcError};

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

/// What the program answers: a value, or why there is none.
pub(super) type Answer = Result<Value, RpcError>;

/// Requests of the host that the program has not answered yet.
#[derive(Default)]
pub(super) struct Pending {
    asked: HashMap<i64, oneshot::Sender<Answer>>,
    count: i64,
}

impl Pending {
    /// Makes an id for a request, and what its answer comes through.
    ///
    /// When the program ends, the answer is that there is none: everything here is dropped.
    pub(super) fn ask(&mut self) -> (i64, oneshot::Receiver<Answer>) {
        self.count += 1;
        let (tell, told) = oneshot::channel();
        self.asked.insert(self.count, tell);
        (self.count, told)
    }

    /// Hands an answer to who asked. One that nobody asked for is ignored.
    pub(super) fn answered(&mut self, id: &RequestId, answer: Answer) {
        let asked = match id {
            RequestId::Number(number) => self.asked.remove(number),
            RequestId::Text(_) => None,
        };
        match asked {
            // Whoever asked may have given up.
            Some(asked) => drop(asked.send(answer)),
            None => tracing::debug!(?id, "an answer that nobody waits for"),
        }
    }
}

impl Program for Live {
    type Options = CodexOptions;

    const NAME: &str = "Codex";

    async fn launch(options: &CodexOptions, spec: &SessionSpec) -> Result<Self, AgentError> {
        Self::launch(options, spec).await
    }

    async fn ready(
        &mut self,
        options: &CodexOptions,
        spec: &SessionSpec,
    ) -> Result<(), AgentError> {
        self.ready(options, spec).await
    }

    async fn turn(
        &mut self,
        options: &CodexOptions,
        spec: &SessionSpec,
        query: Query,
        commands: &mut Commands,
    ) -> After {
        let Some(turn) = Turn::new(self, options, spec) else {
            let reason = "the conversation has not begun";
            query.end(Err(AgentError::new(AgentErrorKind::Protocol, reason)));
            return After::Ready;
        };
        turn.run(query, commands).await
    }

    async fn end(self) {
        let Self { talk, answers, .. } = self;
        // Nothing is allowed any more.
        drop(answers);
        // It ends what it runs when its input is closed, also in the middle of a turn.
        let report = talk.into_process().shut_down(Ladder::default()).await;
        if !report.is_complete() {
            tracing::error!(?report, "something of Codex is left");
        }
    }
}
