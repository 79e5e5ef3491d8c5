//! Conversion of session ends into outcomes of prompts.

use std::time::Duration;

use autonoe_core::Budget;
use autonoe_core::agent::{
    Activity, AgentErrorKind, BudgetKind, SessionEnd, SessionOutcome, SessionReport,
};
use autonoe_core::event::{Failure, Retry};
use autonoe_core::session::PerformedSession;
use autonoe_core::tool::ToolStatus;

use crate::check::{ToolOutcome, shorten_details};
use crate::definition::ActionOutcome;
use crate::error::FlowErrorKind;
use crate::machine::{Answer, FlowFailure, PromptOutcome};
use crate::tools::{IterationReport, IterationSlot};

/// Converts the end of a session; `budget` is its limit. If `judged`, the answer contains the
/// inputs and outputs of tool calls.
pub(super) fn outcome(
    performed: &PerformedSession,
    budget: &Budget,
    judged: bool,
    slot: &IterationSlot,
) -> PromptOutcome {
    session_outcome(&performed.result, budget, || {
        answer(performed, judged, slot)
    })
}

/// Converts the end of a session; `budget` is its limit.
pub(super) fn session_outcome(
    session: &SessionReport,
    budget: &Budget,
    answer: impl FnOnce() -> Answer,
) -> PromptOutcome {
    let failed = |message: &str| PromptOutcome::Failed {
        failure: FlowFailure::new(FlowErrorKind::SdkSession, message),
    };
    match &session.end {
        SessionEnd::Outcome(SessionOutcome::Completed) => match session.activity {
            Activity::None => failed("the agent ended without saying or doing anything"),
            _ => PromptOutcome::Answered(answer()),
        },
        SessionEnd::Outcome(SessionOutcome::ExecutionError { messages }) => {
            match messages.as_slice() {
                [] => failed("the agent reported an error without a message"),
                messages => failed(&messages.join("; ")),
            }
        }
        SessionEnd::Outcome(SessionOutcome::MaxTurns) => {
            failed("the agent reached its turn limit before it finished")
        }
        SessionEnd::Outcome(SessionOutcome::BudgetExceeded) => match limiting_budget(budget) {
            Some(budget) => PromptOutcome::BudgetSpent { budget },
            None => failed("the agent spent a budget that its backend sets"),
        },
        SessionEnd::Outcome(SessionOutcome::QuotaExceeded { resets_at, .. }) => {
            PromptOutcome::RateLimited {
                resets_at: *resets_at,
            }
        }
        SessionEnd::Outcome(SessionOutcome::Interrupted) => failed("the agent was interrupted"),
        SessionEnd::Failed { error } => PromptOutcome::Failed {
            failure: failure(error),
        },
        SessionEnd::BudgetSpent { budget } => PromptOutcome::BudgetSpent { budget: *budget },
        SessionEnd::Cancelled => PromptOutcome::Cancelled,
    }
}

fn answer(performed: &PerformedSession, judged: bool, slot: &IterationSlot) -> Answer {
    let IterationReport { outputs, signals } = slot.take();
    let calls = performed.tool_calls.iter();
    let mut actions: Vec<ToolOutcome> = calls
        .map(|call| {
            let outcome = match call.status {
                Some(ToolStatus::Ok) => ActionOutcome::Succeeded,
                // A call whose end is unknown did not succeed.
                Some(ToolStatus::Error | ToolStatus::Denied) | None => ActionOutcome::Failed,
            };
            let mut action = ToolOutcome::new(&call.tool, outcome);
            if judged {
                action.input = Some(call.input.clone());
                action.output.clone_from(&call.output);
            }
            action
        })
        .collect();
    // The journal records them, so they are shortened.
    shorten_details(&mut actions);
    Answer {
        text: performed.text.clone(),
        agent_session: performed.result.agent_session.clone(),
        outputs,
        signals,
        actions,
    }
}

/// Converts a failure of the run.
pub(super) fn failure(error: &Failure) -> FlowFailure {
    let is = |kind: AgentErrorKind| error.code == kind.code();
    let kind = match error.retry {
        Retry::Permanent if error.code == "journal_unavailable" => FlowErrorKind::Record,
        Retry::Permanent => FlowErrorKind::SdkRefused,
        Retry::Retryable if is(AgentErrorKind::Overloaded) || is(AgentErrorKind::Timeout) => {
            FlowErrorKind::SdkConnection
        }
        Retry::Retryable => FlowErrorKind::SdkSession,
    };
    let message = match &error.remedy {
        Some(remedy) => format!("{}; {remedy}", error.message),
        None => error.message.clone(),
    };
    let millis = |delay: Duration| u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
    let mut failure = FlowFailure::new(kind, message);
    failure.retry_after_ms = error.retry_after.map(millis);
    failure
}

/// Returns the part of the budget that limited a session, cost first.
fn limiting_budget(budget: &Budget) -> Option<BudgetKind> {
    let money = budget.cost_usd.map(|_| BudgetKind::Cost);
    let tokens = budget.tokens.map(|_| BudgetKind::Tokens);
    money.or(tokens).or(budget.time.map(|_| BudgetKind::Time))
}
