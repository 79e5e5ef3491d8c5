//! [`Player`] of the steps of a script.

use std::any::Any;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Duration;

use autonoe_core::agent::{Prompt, SessionOutcome};
use autonoe_core::time::AgentSessionId;
use autonoe_core::tool::{ToolStatus, Toolbox};
use autonoe_core::{
    AgentError, CostUsd, SessionSpec, StreamEvent, ToolCall, ToolContext, ToolKind,
};
use futures::future;
use jiff::Timestamp;
use serde_json::json;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use crate::script_state::ScriptState;
use crate::session_script::{SessionScript, quota_exceeded};
use crate::step::{ScriptStep, ToolUse};

/// Poll interval of a step that waits for a file.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// A message of the player to the stream.
pub(crate) enum StreamMessage {
    Item(Result<StreamEvent, AgentError>),
    /// Makes the stream panic.
    Panic,
}

/// Plays the steps of one session.
pub(crate) struct Player {
    state: ScriptState,
    spec: SessionSpec,
    prompt: Prompt,
    to_stream: UnboundedSender<StreamMessage>,
    cost: Option<CostUsd>,
}

impl Player {
    pub(crate) fn new(
        state: ScriptState,
        spec: SessionSpec,
        prompt: Prompt,
        to_stream: UnboundedSender<StreamMessage>,
    ) -> Self {
        Self {
            state,
            spec,
            prompt,
            to_stream,
            cost: None,
        }
    }

    /// Plays `script` to its end, or until it is interrupted.
    pub(crate) async fn play(mut self, script: SessionScript, interrupted: CancellationToken) {
        self.cost = script.cost;
        let number = self.spec.key.number;
        let session = AgentSessionId::new(format!("scripted-{number}"));
        self.send(StreamEvent::started(session, self.spec.model.clone()));
        let mut calls = 0;
        for (index, step) in script.steps.iter().enumerate() {
            let place = format!("session {number} ({}) step {}", script.name, index + 1);
            // Steps that end the script are done once they are reached.
            if matches!(
                step,
                ScriptStep::Hangs | ScriptStep::Fails(..) | ScriptStep::Panics
            ) {
                self.state.step_done(number);
            }
            tokio::select! {
                biased;
                () = self.play_step(step, &place, &mut calls) => {}
                () = interrupted.cancelled() => {
                    let outcome = SessionOutcome::Interrupted;
                    self.send(StreamEvent::end(outcome, script.cost));
                    return;
                }
            }
            if matches!(step, ScriptStep::Fails(..) | ScriptStep::Panics) {
                return;
            }
            if !matches!(step, ScriptStep::Hangs) {
                self.state.step_done(number);
            }
        }
    }

    async fn play_step(&self, step: &ScriptStep, place: &str, calls: &mut u32) {
        match step {
            ScriptStep::Event(event) => self.send(event.clone()),
            ScriptStep::Ends(outcome) => self.send(StreamEvent::end(outcome.clone(), self.cost)),
            ScriptStep::HitsQuotaFor(time) => {
                let resets_at = Timestamp::now().checked_add(*time).ok();
                self.send(StreamEvent::end(quota_exceeded(resets_at), self.cost));
            }
            ScriptStep::Model(model) => {
                model.emit(&self.spec.events);
                if let Ok(answer) = &model.answer {
                    self.send(StreamEvent::text(answer));
                }
                self.send(StreamEvent::usage(model.tokens, model.cost));
            }
            ScriptStep::Shows(message, duration) => {
                let _note = self.spec.events.progress(message);
                tokio::time::sleep(*duration).await;
            }
            ScriptStep::Tools(uses) => {
                let first = *calls;
                *calls += u32::try_from(uses.len()).unwrap_or(u32::MAX);
                let all = uses.iter().zip(first + 1..);
                future::join_all(all.map(|(tool, call)| self.call(tool, call, place))).await;
            }
            ScriptStep::Performs(effect) => {
                let done = catch_unwind(AssertUnwindSafe(|| effect(&self.spec.cwd)));
                if let Err(panic) = done {
                    let message = panic_message(panic.as_ref());
                    self.state
                        .record_problem(format!("{place}: its closure panicked: {message}"));
                }
            }
            ScriptStep::Writes(path, text) => {
                *calls += 1;
                self.write(path, text, *calls, place).await;
            }
            ScriptStep::Waits(duration) => tokio::time::sleep(*duration).await,
            ScriptStep::WaitsForFile(path) => {
                let path = self.spec.cwd.join(path);
                while !path.exists() {
                    tokio::time::sleep(POLL_INTERVAL).await;
                }
            }
            ScriptStep::Hangs => future::pending().await,
            ScriptStep::Fails(kind, message) => {
                let _ = self.to_stream.send(StreamMessage::Item(Err(AgentError::new(
                    *kind,
                    message.clone(),
                ))));
            }
            ScriptStep::Panics => {
                let _ = self.to_stream.send(StreamMessage::Panic);
            }
            ScriptStep::ExpectsInPrompt(text) => {
                if !self.prompt.text.contains(text) {
                    self.state.record_problem(format!(
                        "{place}: {text:?} is not in the prompt {:?}",
                        self.prompt.text
                    ));
                }
            }
        }
    }

    /// Writes a file to disk, if the gate allows it.
    async fn write(&self, path: &Path, text: &str, number: u32, place: &str) {
        let path = self.spec.cwd.join(path);
        let input = json!({"file_path": path, "content": text});
        let status = self
            .call(&ToolUse::new("Write", input), number, place)
            .await;
        if status != ToolStatus::Ok {
            return;
        }
        let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
        if let Err(error) = folder.and_then(|()| fs::write(&path, text)) {
            self.state
                .record_problem(format!("{place}: {path:?} cannot be written: {error}"));
        }
    }

    /// Sends a call to the real gate and, if the gate allows it, to the real tool.
    async fn call(&self, tool: &ToolUse, number: u32, place: &str) -> ToolStatus {
        let session = &self.spec.key;
        let call_id = format!("call-{}-{number}", session.number);
        self.send(StreamEvent::tool_invocation(
            call_id.clone(),
            tool.name.clone(),
            tool.input.clone(),
        ));
        let call = self
            .spec
            .tool_call(&call_id, &tool.name, tool.input.clone());
        // A reader of the stream can process the events before the call before its result.
        tokio::task::yield_now().await;
        let decision = self.spec.gate.decide(&call).await;
        let (status, output) = match &decision {
            autonoe_core::gate::GateDecision::Allow { .. } => self.run(&call, tool).await,
            autonoe_core::gate::GateDecision::Deny { by, reason, .. } => {
                (ToolStatus::Denied, format!("denied by {by}: {reason}"))
            }
        };
        let as_expected = tool.expect.is_met(&decision, status);
        self.state.record_decision(call, decision);
        if !as_expected {
            self.state.record_problem(format!(
                "{place}: {tool} was expected to be {:?}, but it was {status:?}: {output}",
                tool.expect
            ));
        }
        self.send(StreamEvent::tool_response(call_id, output, status));
        status
    }

    async fn run(&self, call: &ToolCall, tool: &ToolUse) -> (ToolStatus, String) {
        let ToolKind::Mcp { server, tool: name } = &call.kind else {
            return (ToolStatus::Ok, tool.answer.clone());
        };
        if server != Toolbox::SERVER {
            return (ToolStatus::Ok, tool.answer.clone());
        }
        let context = ToolContext::new(call.session.clone()).with_call_id(&call.id);
        match self
            .spec
            .tools
            .call(name, call.input.clone(), context)
            .await
        {
            Ok(output) => (ToolStatus::Ok, output.output),
            Err(error) => (ToolStatus::Error, error.to_string()),
        }
    }

    fn send(&self, event: StreamEvent) {
        // The receiver is dropped if the session was stopped.
        let _ = self.to_stream.send(StreamMessage::Item(Ok(event)));
    }
}

/// Returns the message of a panic, if it has one.
fn panic_message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}
