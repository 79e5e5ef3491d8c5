//! Plays the steps of a script.

use std::any::Any;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Duration;

use autonoe_core::{
    AgentError, AgentSessionId, CostUsd, Prompt, SessionOutcome, SessionSpec, StreamEvent,
    ToolCall, ToolContext, ToolKind, ToolStatus, Toolbox,
};
use futures::future;
use jiff::Timestamp;
use serde_json::json;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use crate::session_script::{SessionScript, quota_exceeded};
use crate::stage::Stage;
use crate::step::{Step, ToolUse};

/// How often it is looked whether a file is there.
const LOOK: Duration = Duration::from_millis(10);

/// What the player sends to the stream.
pub(crate) enum Cue {
    Item(Result<StreamEvent, AgentError>),
    /// The stream is to panic.
    Panic,
}

/// Plays the steps of one session.
pub(crate) struct Player {
    stage: Stage,
    spec: SessionSpec,
    prompt: Prompt,
    cues: UnboundedSender<Cue>,
    cost: Option<CostUsd>,
}

impl Player {
    pub(crate) fn new(
        stage: Stage,
        spec: SessionSpec,
        prompt: Prompt,
        cues: UnboundedSender<Cue>,
    ) -> Self {
        Self {
            stage,
            spec,
            prompt,
            cues,
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
            if matches!(step, Step::Hangs | Step::Fails(..) | Step::Panics) {
                self.stage.step_done(number);
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
            if matches!(step, Step::Fails(..) | Step::Panics) {
                return;
            }
            if !matches!(step, Step::Hangs) {
                self.stage.step_done(number);
            }
        }
    }

    async fn play_step(&self, step: &Step, place: &str, calls: &mut u32) {
        match step {
            Step::Event(event) => self.send(event.clone()),
            Step::Ends(outcome) => self.send(StreamEvent::end(outcome.clone(), self.cost)),
            Step::HitsQuotaFor(time) => {
                let resets_at = Timestamp::now().checked_add(*time).ok();
                self.send(StreamEvent::end(quota_exceeded(resets_at), self.cost));
            }
            Step::Model(model) => {
                model.tell(&self.spec.events);
                if let Ok(answer) = &model.answer {
                    self.send(StreamEvent::text(answer));
                }
                self.send(StreamEvent::usage(model.tokens, model.cost));
            }
            Step::Shows(message, duration) => {
                let _note = self.spec.events.progress(message);
                tokio::time::sleep(*duration).await;
            }
            Step::Tools(uses) => {
                let first = *calls;
                *calls += u32::try_from(uses.len()).unwrap_or(u32::MAX);
                let all = uses.iter().zip(first + 1..);
                future::join_all(all.map(|(tool, call)| self.call(tool, call, place))).await;
            }
            Step::Does(effect) => {
                let done = catch_unwind(AssertUnwindSafe(|| effect(&self.spec.cwd)));
                if let Err(panic) = done {
                    let why = panic_message(panic.as_ref());
                    self.stage
                        .problem(format!("{place}: what it does panicked: {why}"));
                }
            }
            Step::Writes(path, text) => {
                *calls += 1;
                self.write(path, text, *calls, place).await;
            }
            Step::Waits(duration) => tokio::time::sleep(*duration).await,
            Step::WaitsForFile(path) => {
                let path = self.spec.cwd.join(path);
                while !path.exists() {
                    tokio::time::sleep(LOOK).await;
                }
            }
            Step::Hangs => future::pending().await,
            Step::Fails(kind, message) => {
                let _ = self
                    .cues
                    .send(Cue::Item(Err(AgentError::new(*kind, message.clone()))));
            }
            Step::Panics => {
                let _ = self.cues.send(Cue::Panic);
            }
            Step::ExpectsInPrompt(text) => {
                if !self.prompt.text.contains(text) {
                    self.stage.problem(format!(
                        "{place}: {text:?} is not in the prompt {:?}",
                        self.prompt.text
                    ));
                }
            }
        }
    }

    /// Writes a file for real, if the gate allows it.
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
            self.stage
                .problem(format!("{place}: {path:?} cannot be written: {error}"));
        }
    }

    /// Puts a call to the real gate and, if that allows it, to the real tool.
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
        // Whoever reads the stream gets a chance to see what led to the call
        // before what comes of it.
        tokio::task::yield_now().await;
        let decision = self.spec.gate.decide(&call).await;
        let (status, output) = match &decision {
            autonoe_core::GateDecision::Allow { .. } => self.run(&call, tool).await,
            autonoe_core::GateDecision::Deny { by, reason, .. } => {
                (ToolStatus::Denied, format!("denied by {by}: {reason}"))
            }
        };
        let as_expected = tool.expect.is_met(&decision, status);
        self.stage.decided(call, decision);
        if !as_expected {
            self.stage.problem(format!(
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
        // Nobody listens any more when the session was stopped.
        let _ = self.cues.send(Cue::Item(Ok(event)));
    }
}

/// Returns what a panic said, if it said anything.
fn panic_message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}
