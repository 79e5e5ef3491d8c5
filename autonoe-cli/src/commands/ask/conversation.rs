//! [`Conversation`] with an agent: each session resumes the previous one. Formats its cost.

use std::sync::Arc;

use autonoe_app::exit_code;
use autonoe_app::text::{failure_hint, pluralize};
use autonoe_core::agent::{Activity, BudgetUsage, CostTotal, SessionEnd, SessionReport};
use autonoe_core::event::Retry;
use autonoe_core::run::{FlowExit, SessionAccess};
use autonoe_core::session::{FlowStart, PerformedSession};
use autonoe_core::time::format_duration;
use autonoe_core::tool::ToolStatus;
use autonoe_core::{Budget, RunControl, SessionOrder, Sessions};
use serde_json::json;

use super::last_conversation::{ConversationFiles, LastConversation};
use crate::args::AskArgs;
use crate::error::CliError;
use crate::present::{Presenter, denial_summary};
use crate::report::thousands;

/// Flow name of the sessions, as observers see it.
const NAME: &str = "ask";

/// A conversation with an agent.
pub(super) struct Conversation {
    sessions: Sessions,
    files: ConversationFiles,
    pub(super) presenter: Arc<Presenter>,
    /// The tag of the backend.
    backend: String,
    access: SessionAccess,
    max_turns: Option<u32>,
    /// The budget that all sessions share.
    budget: Budget,
    /// The conversation that the next prompt continues.
    last: Option<LastConversation>,
    pub(super) spent: BudgetUsage,
    /// Whether a backend that cannot resume starts a new conversation for each prompt, with a
    /// warning. Otherwise the prompt fails, because the operator requested the conversation.
    can_forget: bool,
    has_warned: bool,
}

/// A prompt without a complete answer.
#[derive(Debug)]
pub(super) struct PromptError {
    pub(super) error: CliError,
    /// Whether the next prompt would fail too.
    pub(super) is_final: bool,
}

impl Conversation {
    /// Creates a conversation that continues `last`.
    pub(super) fn new(
        args: &AskArgs,
        sessions: Sessions,
        files: ConversationFiles,
        presenter: Arc<Presenter>,
        backend: &str,
        last: Option<LastConversation>,
    ) -> Self {
        let budget = args.agent.budget();
        Self {
            sessions: sessions.caller_budget(budget),
            files,
            presenter,
            backend: backend.to_owned(),
            access: args.access(),
            max_turns: args.max_turns,
            budget,
            can_forget: last.is_none(),
            last,
            spent: BudgetUsage::default(),
            has_warned: false,
        }
    }

    /// Sends `prompt` to the agent, waits for the complete answer and prints its cost.
    pub(super) async fn send(
        &mut self,
        prompt: &str,
        control: &RunControl,
    ) -> Result<(), PromptError> {
        let opened = self.sessions.open(FlowStart::new(NAME), control).await;
        let mut open =
            opened.map_err(|error| unanswered(&SessionEnd::from(&error.report().exit)))?;
        let capabilities = open.capabilities();
        if self.last.is_some() && self.can_forget && !capabilities.resume.is_yes() {
            if !self.has_warned {
                self.has_warned = true;
                let backend = &capabilities.backend;
                self.presenter.warn(&format!(
                    "{backend} cannot resume a conversation: each message starts a new one"
                ));
            }
            self.reset();
        }
        if self.last.is_none()
            && let Err(error) = self.files.delete()
        {
            let warning = format!("the last conversation cannot be deleted: {error}");
            self.presenter.warn(&warning);
        }
        let mut order = SessionOrder::new(prompt)
            .name(NAME)
            .access(self.access.clone())
            .budget(self.budget.remaining(&self.spent));
        if let Some(turns) = self.max_turns {
            order = order.max_turns(turns);
        }
        if let Some(last) = &self.last {
            order = order.resume(last.conversation.clone());
        }
        let performed = open.run(order).await;
        open.close(FlowExit::from(&performed.result.end), json!({}));
        self.record(&performed);
        check_answer(&performed.result)
    }

    /// Starts a new conversation with the next prompt.
    pub(super) fn reset(&mut self) {
        self.last = None;
    }

    /// Adds up the usage of a session, saves the conversation, and prints the cost and the denials.
    fn record(&mut self, performed: &PerformedSession) {
        let result = &performed.result;
        let is_continued = self.last.is_some();
        let mut total = self.last.as_ref().map(|last| last.cost).unwrap_or_default();
        total.merge(result.cost);
        // A session without activity may have left no conversation.
        let conversation = result.agent_session.as_ref();
        if let Some(conversation) = conversation.filter(|_| result.activity == Activity::Some) {
            let last = LastConversation::new(&self.backend, conversation.clone(), total);
            if let Err(error) = self.files.save(&last) {
                let warning = format!("--continue will not find this conversation: {error}");
                self.presenter.warn(&warning);
            }
            self.last = Some(last);
        }
        self.spent.cost.merge(result.cost);
        self.spent.tokens += result.tokens;
        self.spent.time += result.duration;
        let total: Option<CostTotal> = is_continued.then_some(total);
        self.presenter.print(&cost_line(performed, total));
        let denied = self.presenter.take_denied();
        if let Some(summary) = denial_summary(&denied, usize::MAX) {
            summary.lines().for_each(|line| self.presenter.print(line));
        }
    }
}

/// Returns an error unless the agent finished its answer.
fn check_answer(result: &SessionReport) -> Result<(), PromptError> {
    match (&result.end, result.activity) {
        (end, Activity::Some) if end.is_completed() => Ok(()),
        (end, Activity::None) if end.is_completed() => Err(PromptError {
            error: CliError::failure("the agent did not answer"),
            is_final: false,
        }),
        (end, _) => Err(unanswered(end)),
    }
}

/// Builds the error for a session that ended before the agent finished its answer.
fn unanswered(end: &SessionEnd) -> PromptError {
    let code = exit_code::for_session(end);
    let mut error = CliError::failure(format!("the session {end}")).with_code(code);
    let mut is_final = matches!(code, exit_code::QUOTA | exit_code::BUDGET);
    if let SessionEnd::Failed { error: failure } = end {
        is_final = failure.retry == Retry::Permanent;
        if let Some(hint) = failure_hint(failure) {
            error = error.with_hint(hint);
        }
    }
    PromptError { error, is_final }
}

/// Formats the usage of an answer: `$0.0123, 14s, 3 tools, 8,412 tokens`.
///
/// `total` is the cost of the whole conversation, if it has more than one answer.
fn cost_line(performed: &PerformedSession, total: Option<CostTotal>) -> String {
    let result = &performed.result;
    let is_answered =
        |status: &Option<ToolStatus>| matches!(status, Some(ToolStatus::Ok | ToolStatus::Error));
    let calls = performed.tool_calls.iter();
    let tools = calls.filter(|call| is_answered(&call.status)).count();
    let mut parts = vec![
        cost(&result.cost),
        format_duration(result.duration),
        pluralize(tools as u64, "tool"),
    ];
    if result.tokens.total() > 0 {
        parts.push(format!("{} tokens", thousands(result.tokens.total())));
    }
    if let Some(total) = total {
        parts.push(format!("{} in total", cost(&total)));
    }
    parts.join(", ")
}

/// Formats a cost, which may be unknown.
pub(super) fn cost(cost: &CostTotal) -> String {
    if *cost == CostTotal::unknown() {
        "cost unknown".to_owned()
    } else {
        cost.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_cost_is_not_printed_as_zero() {
        let mut total = CostTotal::unknown();
        assert_eq!(cost(&total), "cost unknown");

        total.add("0.25".parse().ok());
        assert_eq!(cost(&total), "at least $0.25 (1 cost unknown)");
        assert_eq!(cost(&CostTotal::default()), "$0.00");
    }
}
