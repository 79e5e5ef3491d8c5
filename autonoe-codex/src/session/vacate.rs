//! From the end of a session to a program that the next one can have.

use std::sync::Arc;
use std::time::Duration;

use autonoe_core::{AgentError, AgentErrorKind, SessionSpec};
use serde_json::Value;

use super::kept_program::{KeptProgram, Standing};
use super::start::Live;
use crate::launch::{Changing, CodexHome, CodexOptions, Furnishing};
use crate::wire::Outgoing;

/// How long the program may take to close a conversation.
const LIMIT: Duration = Duration::from_secs(30);

/// How long it is waited before it is looked again.
const PAUSE: Duration = Duration::from_millis(10);

impl Live {
    /// Looks what is in the folder of the program, before any tool runs.
    ///
    /// Without it, no other session can have the program.
    pub(super) async fn look_around(&mut self, options: &CodexOptions) {
        let Some(standing) = &mut self.standing else {
            return;
        };
        let changing = match options.home {
            CodexHome::PerSession => Changing::Log,
            CodexHome::Kept(_) => Changing::LogAndConversations,
        };
        let Some(program) = self.talk.program() else {
            tracing::info!("Codex has started something already");
            return;
        };
        let (folder, temporary) = (standing.folder.clone(), standing.temporary.clone());
        let look = move || Furnishing::look(&folder, &temporary, program, changing);
        match tokio::task::spawn_blocking(look).await {
            Ok(Ok(furnishing)) => standing.furnishing = Some(Arc::new(furnishing)),
            Ok(Err(error)) => tracing::warn!(%error, "the folder of Codex cannot be read"),
            Err(error) => tracing::warn!(%error, "the folder of Codex was not read"),
        }
    }

    /// Makes a program of this that the next session of the run can have. If that is not possible,
    /// it is handed back.
    pub(super) async fn vacated(mut self, spec: &SessionSpec) -> Result<KeptProgram, Self> {
        let is_known =
            |standing: &Standing| standing.furnishing.is_some() && spec.keeping.is_open();
        if !self.standing.as_ref().is_some_and(is_known) {
            return Err(self);
        }
        let left = tokio::time::timeout(LIMIT, self.leave()).await;
        match (left, self.standing.take()) {
            (Ok(Ok(())), Some(standing)) => Ok(KeptProgram {
                talk: self.talk,
                pending: self.pending,
                standing,
            }),
            (left, _) => {
                tracing::info!(?left, "a conversation of Codex was not closed");
                Err(self)
            }
        }
    }

    /// Closes the conversation, and makes sure that the program holds no other one.
    async fn leave(&mut self) -> Result<(), AgentError> {
        if let Some(error) = self.violation() {
            return Err(error);
        }
        // Nothing is allowed any more.
        self.answers = None;
        let Some(conversation) = self.conversation.take() else {
            let reason = "there was no conversation";
            return Err(AgentError::new(AgentErrorKind::Other, reason));
        };
        self.ask(|id| Outgoing::leave_thread(id, &conversation.thread))
            .await?;
        loop {
            let held = self.ask(Outgoing::list_threads).await?;
            match held["data"].as_array().map(Vec::<Value>::is_empty) {
                Some(true) => return Ok(()),
                Some(false) => tokio::time::sleep(PAUSE).await,
                None => {
                    let reason = "the program does not say what it holds";
                    return Err(AgentError::new(AgentErrorKind::Protocol, reason));
                }
            }
        }
    }
}
