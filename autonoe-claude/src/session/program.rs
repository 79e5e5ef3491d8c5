//! Claude Code as a program that a session owns.

use std::time::Duration;

use autonoe_backend::{After, Commands, Program, Query};
use autonoe_core::{AgentError, SessionSpec};
use autonoe_process::Ladder;

use super::start::Live;
use super::turn::Turn;
use crate::launch::ClaudeOptions;
use crate::wire::Request;

/// How long a program that was told to end may take before the ladder begins.
const GOODBYE: Duration = Duration::from_secs(3);

impl Program for Live {
    type Options = ClaudeOptions;

    const NAME: &str = "Claude Code";

    async fn launch(options: &ClaudeOptions, spec: &SessionSpec) -> Result<Self, AgentError> {
        Self::launch(options, spec).await
    }

    async fn ready(
        &mut self,
        options: &ClaudeOptions,
        spec: &SessionSpec,
    ) -> Result<(), AgentError> {
        self.ready(options, spec).await
    }

    async fn turn(
        &mut self,
        options: &ClaudeOptions,
        _spec: &SessionSpec,
        query: Query,
        commands: &mut Commands,
    ) -> After {
        Turn::new(self, options).run(query, commands).await
    }

    async fn end(self) {
        let Self {
            talk,
            answers,
            mut pending,
            staging,
            ..
        } = self;
        // Nothing is allowed any more.
        drop(answers);
        let (id, _answer) = pending.ask();
        talk.send(Request::EndSession.to_line(&id));
        let _ = tokio::time::timeout(GOODBYE, talk.process.exited()).await;
        let report = talk
            .into_process()
            .shut_down(Ladder::interrupt_first())
            .await;
        if !report.is_complete() {
            tracing::error!(?report, "something of Claude Code is left");
        }
        staging.remove();
    }
}
