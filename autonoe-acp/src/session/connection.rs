//! The talk with an agent: a task with channels around the crate `agent-client-protocol`.

use std::io;
use std::sync::{Arc, OnceLock};

use agent_client_protocol::v1::schema::RequestPermissionResponse;
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{Agent, Client, Error, Lines, UntypedMessage};
use autonoe_backend::{After, Commands, Program, Query};
use autonoe_core::{AgentError, SessionSpec};
use autonoe_process::{Stdin, Stdout};
use futures::future::BoxFuture;
use futures::{FutureExt, SinkExt, StreamExt, stream};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio_util::codec::{
    AnyDelimiterCodec, AnyDelimiterCodecError, FramedRead, FramedWrite, LinesCodec,
};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::start::Live;
use super::turn::Turn;
use crate::launch::AcpOptions;
use crate::wire::{AskedPermission, SessionUpdate};

/// How long a line may be. The longest that are sent hold a whole file.
const LONGEST_LINE: usize = 64 * 1024 * 1024;

/// What an agent sends by itself.
pub(super) enum Incoming {
    /// What it tells while it works.
    Update(Value),
    /// A question whether a tool may be used.
    Permission(Value, Box<Responder<RequestPermissionResponse>>),
    /// Its output is closed. What it sent before may still come.
    Closed,
}

/// An answer to a request, under way.
pub(crate) type Answered = BoxFuture<'static, Result<Value, Error>>;

/// The talk with an agent. It ends when this is dropped.
pub(crate) struct Connection {
    to: ConnectionTo<Agent>,
    incoming: mpsc::UnboundedReceiver<Incoming>,
    broken: Arc<OnceLock<String>>,
    _until: DropGuard,
}

impl Connection {
    /// Begins to talk; `None` if the agent is gone before that.
    pub(crate) async fn open(stdin: Stdin, stdout: Stdout) -> Option<Self> {
        let (tell, incoming) = mpsc::unbounded_channel();
        let (hand_out, handed_out) = oneshot::channel();
        let broken = Arc::new(OnceLock::new());
        let until = CancellationToken::new();
        let (updates, questions, over) = (tell.clone(), tell.clone(), until.clone());
        let talk = Client
            .v1()
            .name("autonoe")
            .on_receive_notification(
                async move |update: SessionUpdate, _cx| {
                    let _ = updates.send(Incoming::Update(update.0));
                    Ok(())
                },
                agent_client_protocol::on_receive_notification!(),
            )
            .on_receive_request(
                // It is answered elsewhere: this loop must not wait.
                async move |asked: AskedPermission, responder, _cx| {
                    let _ = questions.send(Incoming::Permission(asked.0, Box::new(responder)));
                    Ok(())
                },
                agent_client_protocol::on_receive_request!(),
            )
            .connect_with(
                lines(stdin, stdout, tell, broken.clone()),
                async move |to: ConnectionTo<Agent>| {
                    let _ = hand_out.send(to);
                    over.cancelled().await;
                    Ok(())
                },
            );
        tokio::spawn(async move {
            if let Err(error) = talk.await {
                tracing::debug!(
                    code = i32::from(error.code),
                    "the connection to an agent failed"
                );
            }
        });
        Some(Self {
            to: handed_out.await.ok()?,
            incoming,
            broken,
            _until: until.drop_guard(),
        })
    }

    /// Says why nothing more can be read although the output of the agent is open, if that is so.
    pub(super) fn why_broken(&self) -> Option<&str> {
        self.broken.get().map(String::as_str)
    }

    /// Sends a request. It is on its way when this returns.
    pub(crate) fn ask(&self, method: &str, params: impl Serialize) -> Answered {
        match UntypedMessage::new(method, params) {
            Ok(request) => self.to.send_request(request).block_task().boxed(),
            Err(error) => futures::future::ready(Err(error)).boxed(),
        }
    }

    /// Sends a notification. If the agent is gone, that is seen elsewhere.
    pub(super) fn notify(&self, method: &str, params: impl Serialize) {
        let sent = UntypedMessage::new(method, params)
            .and_then(|message| self.to.send_notification(message));
        if let Err(error) = sent {
            tracing::debug!(
                code = i32::from(error.code),
                "an agent cannot be told {method}"
            );
        }
    }

    /// Waits for what the agent sends next; `None` if nothing can come any more. Nothing is lost
    /// when the future is dropped.
    pub(super) async fn next(&mut self) -> Option<Incoming> {
        self.incoming.recv().await
    }

    /// Returns what the agent has sent, if there is anything.
    pub(super) fn try_next(&mut self) -> Option<Incoming> {
        self.incoming.try_recv().ok()
    }
}

/// Makes lines of the two pipes; tells when there will be no more, and in `broken` why.
fn lines(
    stdin: Stdin,
    stdout: Stdout,
    tell: mpsc::UnboundedSender<Incoming>,
    broken: Arc<OnceLock<String>>,
) -> Lines<
    impl futures::Sink<String, Error = io::Error> + Send + 'static,
    impl futures::Stream<Item = io::Result<String>> + Send + 'static,
> {
    let newline = || b"\n".to_vec();
    let codec = AnyDelimiterCodec::new_with_max_length(newline(), newline(), LONGEST_LINE);
    let read = FramedRead::new(stdout, codec).map(move |line| match line {
        // What is no text is no message either, and is passed over as such.
        Ok(line) => Ok(String::from_utf8_lossy(&line).into_owned()),
        Err(error) => {
            let error = to_io(error);
            let _ = broken.set(error.to_string());
            Err(error)
        }
    });
    let last = stream::poll_fn(move |_| {
        let _ = tell.send(Incoming::Closed);
        std::task::Poll::Ready(None)
    });
    let write = FramedWrite::new(stdin, LinesCodec::new());
    let write = SinkExt::<String>::sink_map_err(write, io::Error::other);
    Lines::new(Box::pin(write), Box::pin(read.chain(last)))
}

fn to_io(error: AnyDelimiterCodecError) -> io::Error {
    match error {
        AnyDelimiterCodecError::Io(error) => error,
        AnyDelimiterCodecError::MaxChunkLengthExceeded => {
            io::Error::other("it sends a line that is too long")
        }
    }
}

impl Program for Live {
    type Options = AcpOptions;

    const NAME: &str = "the agent";

    const NO_STEERING: Option<&str> =
        Some("an agent of this protocol cannot be told anything in the middle of its turn");

    async fn launch(options: &AcpOptions, spec: &SessionSpec) -> Result<Self, AgentError> {
        Self::launch(options, spec).await
    }

    async fn ready(&mut self, options: &AcpOptions, spec: &SessionSpec) -> Result<(), AgentError> {
        self.ready(options, spec).await
    }

    async fn turn(
        &mut self,
        options: &AcpOptions,
        spec: &SessionSpec,
        query: Query,
        commands: &mut Commands,
    ) -> After {
        Turn::new(self, options, spec).run(query, commands).await
    }

    async fn end(self) {
        self.end().await;
    }
}
