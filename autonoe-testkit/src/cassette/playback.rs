//! Agent client that replays one session of a cassette and matches its responses with their calls.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::agent::{AgentErrorKind, Prompt, SessionControl, SessionOutcome, Support};
use autonoe_core::gate::GateDecision;
use autonoe_core::tool::{ToolStatus, Toolbox};
use autonoe_core::{
    AgentClient, AgentError, MessageStream, SessionSpec, StreamEvent, ToolCall, ToolContext,
    ToolKind,
};
use futures::{StreamExt, future, stream};
use serde_json::Value;
use tokio::sync::mpsc::{self, UnboundedSender};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::answer::{Answer, answers};
use super::format::{RecordedEnd, RecordedItem, RecordedSession, RecordedTurn};
use super::replay_state::ReplayState;

/// Replays one session.
pub(super) struct ReplayedClient {
    turns: VecDeque<RecordedTurn>,
    player: Player,
    control: Arc<ReplayedControl>,
}

struct ReplayedControl {
    steering: Support,
    interrupted: CancellationToken,
}

impl ReplayedClient {
    pub(super) fn new(
        replay_state: ReplayState,
        slot: usize,
        session: RecordedSession,
        spec: SessionSpec,
        steering: Support,
    ) -> Self {
        Self {
            turns: session.turns.into(),
            player: Player {
                replay_state,
                slot,
                spec,
            },
            control: Arc::new(ReplayedControl {
                steering,
                interrupted: CancellationToken::new(),
            }),
        }
    }
}

#[async_trait]
impl AgentClient for ReplayedClient {
    fn query(&mut self, _: Prompt) -> MessageStream<'_> {
        let Some(turn) = self.turns.pop_front() else {
            let number = self.player.spec.key.number;
            let message = format!("session {number} has no further turns on the cassette");
            self.player
                .replay_state
                .lock()
                .mismatches
                .push(message.clone());
            let error = AgentError::new(AgentErrorKind::Protocol, message);
            return stream::once(future::ready(Err(error))).boxed();
        };
        // The replay runs in a separate task, so that hooks and tools make progress even if the
        // stream is not polled.
        let (items, received) = mpsc::unbounded_channel();
        let (player, control) = (self.player.clone(), self.control.clone());
        let task = tokio::spawn(async move {
            tokio::select! {
                biased;
                () = player.play(&turn, &items) => {}
                () = control.interrupted.cancelled() => {
                    let end = StreamEvent::end(SessionOutcome::Interrupted, None);
                    let _ = items.send(Ok(end));
                }
            }
        });
        stream::unfold(
            (received, StopOnDrop(task)),
            |(mut received, stopped)| async move {
                let item = received.recv().await?;
                Some((item, (received, stopped)))
            },
        )
        .boxed()
    }

    fn control(&self) -> Arc<dyn SessionControl> {
        self.control.clone()
    }

    async fn dispose(self: Box<Self>) -> Result<(), AgentError> {
        Ok(())
    }
}

struct StopOnDrop(JoinHandle<()>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[async_trait]
impl SessionControl for ReplayedControl {
    async fn interrupt(&self) -> Result<(), AgentError> {
        self.interrupted.cancel();
        Ok(())
    }

    // A backend that supports steering supported it during the recording too, and the agent's
    // reaction is already on the cassette.
    async fn steer(&self, _: &str) -> Result<(), AgentError> {
        if self.steering.is_yes() {
            return Ok(());
        }
        let message = "the recorded backend does not accept messages";
        Err(AgentError::new(AgentErrorKind::Unsupported, message))
    }
}

type Items = UnboundedSender<Result<StreamEvent, AgentError>>;

#[derive(Clone)]
struct Player {
    replay_state: ReplayState,
    slot: usize,
    spec: SessionSpec,
}

impl Player {
    async fn play(&self, turn: &RecordedTurn, items: &Items) {
        let answers = answers(&turn.stream);
        let mut events: BTreeMap<usize, StreamEvent> = BTreeMap::new();
        for (at, item) in turn.stream.iter().enumerate() {
            let item = match item {
                RecordedItem::Event(event) => {
                    Ok(events.remove(&at).unwrap_or_else(|| event.clone()))
                }
                RecordedItem::Error(error) => Err(error.error()),
            };
            // The receiver is gone if the session was stopped.
            let _ = items.send(item);
            // An unanswered call is not repeated: the cassette does not show whether it ran.
            let (RecordedItem::Event(event), Some(answer)) = (&turn.stream[at], answers.get(&at))
            else {
                continue;
            };
            if let Some(response) = self.answer(event, answer).await {
                events.insert(answer.at, response);
            }
        }
        let ended = turn.stream.iter().any(|item| match item {
            RecordedItem::Event(event) => matches!(event, StreamEvent::End { .. }),
            RecordedItem::Error(_) => true,
        });
        if turn.end == RecordedEnd::LeftOpen && !ended {
            future::pending::<()>().await;
        }
    }

    /// Repeats a recorded call and returns its response.
    async fn answer(&self, event: &StreamEvent, recorded: &Answer) -> Option<StreamEvent> {
        let StreamEvent::ToolInvocation {
            call_id,
            name,
            input,
            agent,
            ..
        } = event
        else {
            return None;
        };
        let mut call = self.spec.tool_call(call_id, name, input.clone());
        if let Some(agent) = agent {
            call = call.by_agent(agent);
        }
        // Lets the reader of the stream see the call before its result.
        tokio::task::yield_now().await;
        let (status, output) = match self.spec.gate.decide(&call).await {
            GateDecision::Allow { .. } => self.run(&call, recorded).await,
            GateDecision::Deny { by, reason, .. } => {
                (ToolStatus::Denied, format!("denied by {by}: {reason}"))
            }
        };
        self.compare(name, input, recorded, (status, &output));
        Some(StreamEvent::tool_response(call_id, output, status))
    }

    async fn run(&self, call: &ToolCall, recorded: &Answer) -> (ToolStatus, String) {
        if let ToolKind::Mcp { server, tool } = &call.kind
            && server == Toolbox::SERVER
        {
            let context = ToolContext::new(call.session.clone()).with_call_id(&call.id);
            let input = call.input.clone();
            return match self.spec.tools.call(tool, input, context).await {
                Ok(output) => (ToolStatus::Ok, output.output),
                Err(error) => (ToolStatus::Error, error.to_string()),
            };
        }
        match recorded.status {
            ToolStatus::Denied => (ToolStatus::Ok, "it did not run in the recording".to_owned()),
            status => (status, recorded.output.clone()),
        }
    }

    fn compare(&self, name: &str, input: &Value, recorded: &Answer, now: (ToolStatus, &str)) {
        let mut replay_state = self.replay_state.lock();
        replay_state.slots[self.slot].calls += 1;
        if recorded.status == now.0 {
            return;
        }
        let SessionSpec {
            key, instruction, ..
        } = &self.spec;
        let mismatch = format!(
            "session {} ({instruction}), call {}: {name} {input}\n  - recorded {}\n  + now {}",
            key.number,
            replay_state.slots[self.slot].calls,
            outcome(recorded.status, &recorded.output),
            outcome(now.0, now.1),
        );
        replay_state.mismatches.push(mismatch);
    }
}

fn outcome(status: ToolStatus, output: &str) -> String {
    let status = match status {
        ToolStatus::Ok => "ok",
        ToolStatus::Error => "failed",
        ToolStatus::Denied => "denied",
    };
    // One line each, however long the output of a tool is.
    let start: String = output.chars().take(200).collect();
    let rest = if start.len() < output.len() { ".." } else { "" };
    format!("{status}: {start:?}{rest}")
}
