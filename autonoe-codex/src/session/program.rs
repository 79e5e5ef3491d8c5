//! Codex as a program that a session owns.

use autonoe_backend::{After, Commands, Program, Query};
use autonoe_core::{AgentError, AgentErrorKind, SessionSpec};
use autonoe_process::Ladder;

use super::start::Live;
use super::turn::Turn;
use crate::launch::CodexOptions;

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
