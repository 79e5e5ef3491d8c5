//! A call of a tool.

use std::sync::{Arc, Mutex, PoisonError};

use autonoe_core::ToolContext;
use rmcp::model::ErrorData;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::calls::Begun;
use super::desk::{Desk, told};
use super::message::{failure, result};
use super::progress::Progress;
use crate::tools::{failed, gave};

/// A call of a tool that has begun and is to be carried out.
pub(crate) struct Call {
    pub(super) desk: Arc<Desk>,
    pub(super) begun: Begun,
    pub(super) id: Value,
    pub(super) tool: String,
    pub(super) arguments: Map<String, Value>,
    /// What the client knows the progress of the call by, if it wants to hear of it.
    pub(super) progress: Option<Value>,
}

impl Call {
    /// Returns what ends the call early, for who finds that nobody waits for it any more.
    pub(crate) fn cancellation(&self) -> CancellationToken {
        self.begun.cancelled.clone()
    }

    /// Calls the tool, and tells its progress by `tell`. Returns the answer; `None` if the client
    /// has cancelled the call, and so wants none.
    pub(crate) async fn carry_out(
        self,
        tell: impl Fn(Value) + Send + Sync + 'static,
    ) -> Option<Value> {
        let Self {
            desk,
            begun,
            id,
            tool,
            arguments,
            progress,
        } = self;
        let mut context =
            ToolContext::new(desk.session.clone()).with_cancellation(begun.cancelled.clone());
        if let Some(token) = progress {
            let progress = Mutex::new(Progress::new(token));
            context = context.with_progress_listener(move |title, metadata| {
                let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
                // Told under the lock, so that it is told in order.
                tell(progress.next(title, metadata));
            });
        }
        let arguments = Value::Object(arguments);
        let done = desk.tools.call(&tool, arguments, context).await;
        if begun.cancelled.is_cancelled() && !desk.over.is_cancelled() {
            return None;
        }
        let answer = match done {
            Ok(output) => told(&gave(&output)),
            // The protocol tells a name that no tool has from a tool that failed.
            Err(error) if !desk.has(&tool) => Err(ErrorData::invalid_params(error.message, None)),
            Err(error) => told(&failed(&error)),
        };
        Some(match answer {
            Ok(answer) => result(&id, &answer),
            Err(error) => failure(&id, &error),
        })
    }
}

impl Desk {
    fn has(&self, tool: &str) -> bool {
        self.tools
            .definitions()
            .any(|definition| definition.name == tool)
    }
}
