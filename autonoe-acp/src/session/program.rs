//! An agent of the protocol as a program that a session owns.

use autonoe_backend::{After, Commands, Program, Query};
use autonoe_core::{AgentError, SessionSpec};

use super::start::Live;
use super::turn::Turn;
use crate::launch::AcpOptions;

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
