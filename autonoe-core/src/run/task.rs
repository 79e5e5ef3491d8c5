//! One session, as it is ordered.

use std::sync::Arc;

use futures::future::BoxFuture;
use jiff::Timestamp;

use super::SessionAccess;
use crate::domain::{AgentSessionId, Budget, Failure, InstructionName};
use crate::port::{Capabilities, Tool};
use crate::tools::LedgerBook;

/// What a session works on.
#[derive(Clone, Copy)]
pub(super) struct Stand<'a> {
    pub(super) capabilities: &'a Capabilities,
    pub(super) book: Option<&'a LedgerBook>,
}

/// One session, as it is ordered.
pub(super) struct Task<'a> {
    pub(super) number: u32,
    pub(super) instruction: &'a InstructionName,
    /// What the agent is told, without the messages.
    pub(super) prompt: BoxFuture<'a, Result<String, Failure>>,
    /// What persons have told the run since the last session.
    pub(super) messages: &'a [String],
    /// The instruction whose deliverable tools the agent gets.
    pub(super) ledger_tools: Option<&'a InstructionName>,
    /// What may be spent, time left aside.
    pub(super) budget: Budget,
    /// When its time is up.
    pub(super) deadline: Option<Timestamp>,
    pub(super) extras: &'a Extras,
}

/// What one session has that others of its run need not have.
#[derive(Clone, Default)]
pub(super) struct Extras {
    pub(super) tools: Vec<Arc<dyn Tool>>,
    pub(super) access: SessionAccess,
    pub(super) model: Option<String>,
    pub(super) system_prompt: Option<String>,
    pub(super) max_turns: Option<u32>,
    pub(super) resume: Option<AgentSessionId>,
}

impl Task<'_> {
    /// Returns what is left of the budget at `now`.
    pub(super) fn budget_at(&self, now: Timestamp) -> Budget {
        self.budget.until(self.deadline, now)
    }
}
