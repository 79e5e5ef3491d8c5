//! [`SessionTask`]: prompt, budget, tools and overrides of one session that a run starts.

use std::sync::Arc;

use futures::future::BoxFuture;
use jiff::Timestamp;

use super::SessionAccess;
use crate::agent::Budget;
use crate::agent::Capabilities;
use crate::event::{Failure, InstructionName};
use crate::ledger::LedgerStore;
use crate::time::AgentSessionId;
use crate::tool::Tool;

/// The backend and the ledger of a session.
#[derive(Clone, Copy)]
pub(crate) struct SessionResources<'a> {
    pub(crate) capabilities: &'a Capabilities,
    pub(crate) store: Option<&'a LedgerStore>,
}

/// The description of one session.
pub(crate) struct SessionTask<'a> {
    pub(crate) number: u32,
    pub(crate) instruction: &'a InstructionName,
    /// The prompt, without the messages.
    pub(crate) prompt: BoxFuture<'a, Result<String, Failure>>,
    /// The operator's messages since the last session.
    pub(crate) messages: &'a [String],
    /// The instruction whose deliverable tools the agent gets.
    pub(crate) ledger_tools: Option<&'a InstructionName>,
    /// The budget, apart from time.
    pub(crate) budget: Budget,
    /// The end of the time budget.
    pub(crate) deadline: Option<Timestamp>,
    pub(crate) overrides: &'a SessionOverrides,
}

/// The settings of one session that differ from those of its run.
#[derive(Clone, Default)]
pub(crate) struct SessionOverrides {
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    pub(crate) access: SessionAccess,
    pub(crate) model: Option<String>,
    pub(crate) system_prompt: Option<String>,
    pub(crate) max_turns: Option<u32>,
    pub(crate) resume: Option<AgentSessionId>,
}

impl SessionTask<'_> {
    /// Returns the remaining budget at `now`.
    pub(crate) fn budget_at(&self, now: Timestamp) -> Budget {
        self.budget.with_deadline(self.deadline, now)
    }
}
