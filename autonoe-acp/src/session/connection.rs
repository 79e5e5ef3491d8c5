//! [`Connection`] to an agent: a task with channels around the crate `agent-client-protocol`.

use std::io;
use std::sync::{Arc, OnceLock};

use agent_client_protocol::v1::schema::RequestPermissionResponse;
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{Agent, Client, Error, Lines, UntypedMessage};
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

use crate::wire::{PermissionRequest, SessionUpdate};

/// Maximum length of a line in bytes. The longest lines contain a whole file.
const LONGEST_LINE: usize = 64 * 1024 * 1024;

/// A message of the agent that is not an answer.
pub(crate) enum Incoming {
    /// A progress update.
    Update(Value),
    /// A permission request for a tool call.
    Permission(Value, Box<Responder<RequestPermissionResponse>>),
    /// The output of the agent is closed. Earlier messages may still follow.
    Closed,
}

/// A pending answer to a request.
pub(crate) type PendingAnswer = BoxFuture<'static, Result<Value, Error>>;

/// The connection to an agent. Dropping it closes the connection.
pub(crate) struct Connection {
    to: ConnectionTo<Agent>,
    incoming: mpsc::UnboundedReceiver<Incoming>,
    broken: Arc<OnceLock<String>>,
    _until: DropGuard,
}

impl Connection {
    /// Opens the connection; `None` if the agent exits before.
    pub(crate) async fn open(stdin: Stdin, stdout: Stdout) -> Option<Self> {
        let (incoming_tx, incoming) = mpsc::unbounded_channel();
        let (connected_tx, connected_rx) = oneshot::channel();
        let broken = Arc::new(OnceLock::new());
        let until = CancellationToken::new();
        let (updates, questions, over) = (incoming_tx.clone(), incoming_tx.clone(), until.clone());
        let connection = Client
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
                // Another task answers: this loop must not wait.
                async move |request: PermissionRequest, responder, _cx| {
                    let _ = questions.send(Incoming::Permission(request.0, Box::new(responder)));
                    Ok(())
                },
                agent_client_protocol::on_receive_request!(),
            )
            .connect_with(
                lines(stdin, stdout, incoming_tx, broken.clone()),
                async move |to: ConnectionTo<Agent>| {
                    let _ = connected_tx.send(to);
                    over.cancelled().await;
                    Ok(())
                },
            );
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(
                    code = i32::from(error.code),
                    "the connection to an agent failed"
                );
            }
        });
        Some(Self {
            to: connected_rx.await.ok()?,
            incoming,
            broken,
            _until: until.drop_guard(),
        })
    }

    /// Returns why nothing more can be read although the output of the agent is open, if so.
    pub(super) fn read_error(&self) -> Option<&str> {
        self.broken.get().map(String::as_str)
    }

    /// Sends a request. The request is queued when this returns.
    pub(crate) fn request(&self, method: &str, params: impl Serialize) -> PendingAnswer {
        match UntypedMessage::new(method, params) {
            Ok(request) => self.to.send_request(request).block_task().boxed(),
            Err(error) => futures::future::ready(Err(error)).boxed(),
        }
    }

    /// Sends a notification. If the agent has exited, other code detects that.
    pub(super) fn notify(&self, method: &str, params: impl Serialize) {
        let sent = UntypedMessage::new(method, params)
            .and_then(|message| self.to.send_notification(message));
        if let Err(error) = sent {
            tracing::debug!(
                code = i32::from(error.code),
                "the notification {method} could not be sent to the agent"
            );
        }
    }

    /// Waits for the next message of the agent; `None` if there will be no more. Dropping the
    /// future loses nothing.
    pub(super) async fn recv(&mut self) -> Option<Incoming> {
        self.incoming.recv().await
    }

    /// Returns the next message of the agent, if one has arrived.
    pub(super) fn try_recv(&mut self) -> Option<Incoming> {
        self.incoming.try_recv().ok()
    }
}

/// Converts the two pipes to lines. It sends [`Incoming::Closed`] at the end, and stores the reason
/// of a failure in `broken`.
fn lines(
    stdin: Stdin,
    stdout: Stdout,
    incoming_tx: mpsc::UnboundedSender<Incoming>,
    broken: Arc<OnceLock<String>>,
) -> Lines<
    impl futures::Sink<String, Error = io::Error> + Send + 'static,
    impl futures::Stream<Item = io::Result<String>> + Send + 'static,
> {
    let newline = || b"\n".to_vec();
    let codec = AnyDelimiterCodec::new_with_max_length(newline(), newline(), LONGEST_LINE);
    let read = FramedRead::new(stdout, codec).map(move |line| match line {
        // Invalid UTF-8 is not a valid message either, and is skipped as such.
        Ok(line) => Ok(String::from_utf8_lossy(&line).into_owned()),
        Err(error) => {
            let error = to_io(error);
            let _ = broken.set(error.to_string());
            Err(error)
        }
    });
    let last = stream::poll_fn(move |_| {
        let _ = incoming_tx.send(Incoming::Closed);
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
            io::Error::other("it sent a line that is too long")
        }
    }
}
