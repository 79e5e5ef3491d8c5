//! [`ScriptedClient`], the client of one scripted session.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::agent::{AgentErrorKind, Prompt, SessionControl, Support};
use autonoe_core::{AgentClient, AgentError, MessageStream, SessionSpec};
use futures::{StreamExt, future, stream};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

use crate::player::{Player, StreamMessage};
use crate::script_state::{ReceivedSession, ScriptState};
use crate::session_script::{Disposal, SessionScript};

/// Client of one scripted session.
pub(crate) struct ScriptedClient {
    state: ScriptState,
    script: Option<SessionScript>,
    disposal: Disposal,
    spec: SessionSpec,
    control: Arc<ScriptedControl>,
}

struct ScriptedControl {
    state: ScriptState,
    number: u32,
    steering: Support,
    interrupted: CancellationToken,
}

impl ScriptedClient {
    pub(crate) fn new(
        state: ScriptState,
        script: SessionScript,
        spec: SessionSpec,
        steering: Support,
    ) -> Self {
        state.lock().open_clients += 1;
        let control = Arc::new(ScriptedControl {
            state: state.clone(),
            number: spec.key.number,
            steering,
            interrupted: CancellationToken::new(),
        });
        Self {
            state,
            disposal: script.disposal,
            script: Some(script),
            spec,
            control,
        }
    }
}

impl Drop for ScriptedClient {
    fn drop(&mut self) {
        self.state.lock().open_clients -= 1;
    }
}

#[async_trait]
impl AgentClient for ScriptedClient {
    fn query(&mut self, prompt: Prompt) -> MessageStream<'_> {
        let Some(script) = self.script.take() else {
            let message = format!("session {} was prompted twice", self.spec.key.number);
            self.state.record_problem(message.clone());
            let error = AgentError::new(AgentErrorKind::Protocol, message);
            return stream::once(future::ready(Err(error))).boxed();
        };
        self.state.record_session(ReceivedSession {
            number: self.spec.key.number,
            instruction: self.spec.instruction.clone(),
            prompt: prompt.text.clone(),
            model: self.spec.model.clone(),
            system_prompt: self.spec.system_prompt.clone(),
            resume: self.spec.resume.clone(),
            tools: self
                .spec
                .tools
                .definitions()
                .map(|tool| tool.name.clone())
                .collect(),
            decisions: Vec::new(),
            steered: Vec::new(),
        });
        // The script plays in a task of its own: hooks and tools make progress whether or not the
        // stream is polled.
        let (to_stream, received) = mpsc::unbounded_channel();
        let player = Player::new(self.state.clone(), self.spec.clone(), prompt, to_stream);
        let task = tokio::spawn(player.play(script, self.control.interrupted.clone()));
        let stopped_on_drop = StopOnDrop(task.abort_handle());
        stream::unfold(
            (received, stopped_on_drop),
            |(mut received, stopped)| async move {
                let item = match received.recv().await? {
                    StreamMessage::Item(item) => item,
                    StreamMessage::Panic => std::panic::panic_any("the script panics here"),
                };
                Some((item, (received, stopped)))
            },
        )
        .boxed()
    }

    fn control(&self) -> Arc<dyn SessionControl> {
        self.control.clone()
    }

    async fn dispose(self: Box<Self>) -> Result<(), AgentError> {
        match self.disposal {
            Disposal::Works => {
                self.state.lock().disposed += 1;
                Ok(())
            }
            Disposal::Fails => {
                self.state.lock().disposed += 1;
                Err(AgentError::new(
                    AgentErrorKind::Other,
                    "the script fails to dispose",
                ))
            }
            Disposal::Hangs => future::pending().await,
            Disposal::Panics => std::panic::panic_any("the script panics on disposal"),
        }
    }
}

struct StopOnDrop(AbortHandle);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[async_trait]
impl SessionControl for ScriptedControl {
    async fn interrupt(&self) -> Result<(), AgentError> {
        self.interrupted.cancel();
        Ok(())
    }

    async fn steer(&self, text: &str) -> Result<(), AgentError> {
        if !self.steering.is_yes() {
            let message = "these scripted agents do not accept messages";
            return Err(AgentError::new(AgentErrorKind::Unsupported, message));
        }
        self.state.record_steering(self.number, text);
        Ok(())
    }
}
