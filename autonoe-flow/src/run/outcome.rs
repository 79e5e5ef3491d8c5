//! What the end of a session means for a flow.

use std::time::Duration;

use autonoe_core::{
    Activity, AgentErrorKind, Budget, BudgetKind, Failure, PerformedSession, Retry, SessionEnd,
    SessionOutcome, ToolStatus,
};

use crate::check::{ToolOutcome, shorten_details};
use crate::definition::ActionOutcome;
use crate::error::FlowErrorKind;
use crate::machine::{Answer, Expense, FlowFailure, PromptOutcome};
use crate::tools::Collected;

/// Says what the end of a session means; `budget` is what it was limited to. The answer has the inputs
/// and outputs of tool calls if a model judges it.
pub(super) fn outcome(
    performed: &PerformedSession,
    budget: &Budget,
    judged: bool,
    told: impl FnOnce() -> Collected,
) -> PromptOutcome {
    let failed = |message: &str| PromptOutcome::Failed {
        failure: FlowFailure::new(FlowErrorKind::SdkSession, message),
    };
    match &performed.result.end {
        SessionEnd::Outcome(SessionOutcome::Completed) => match performed.result.activity {
            Activity::None => failed("the agent ended without saying or doing anything"),
            _ => PromptOutcome::Answered(answer(performed, judged, told())),
        },
        SessionEnd::Outcome(SessionOutcome::ExecutionError { messages }) => {
            match messages.as_slice() {
                [] => failed("the agent reported an error without a message"),
                messages => failed(&messages.join("; ")),
            }
        }
        SessionEnd::Outcome(SessionOutcome::MaxTurns) => {
            failed("the agent used all of its turns and did not come to its end")
        }
        SessionEnd::Outcome(SessionOutcome::BudgetExceeded) => match limited(budget) {
            Some(budget) => PromptOutcome::BudgetSpent { budget },
            None => failed("the agent spent a budget of its backend's own"),
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
        _ => failed("the session ended in a way that is not known here"),
    }
}

/// Returns what a session took.
pub(super) fn expense(performed: &PerformedSession) -> Expense {
    Expense {
        cost: performed.result.cost,
        tokens: performed.result.tokens,
    }
}

fn answer(performed: &PerformedSession, judged: bool, told: Collected) -> Answer {
    let mut answer = Answer::text(&performed.text);
    answer
        .agent_session
        .clone_from(&performed.result.agent_session);
    answer.outputs = told.outputs;
    answer.signals = told.signals;
    let calls = performed.tool_calls.iter();
    answer.actions = calls
        .map(|call| {
            let outcome = match call.status {
                Some(ToolStatus::Ok) => ActionOutcome::Succeeded,
                // A call whose end is unknown is no success.
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
    // The journal records them.
    shorten_details(&mut answer.actions);
    answer
}

/// Says what a failure of the run is to a flow.
pub(super) fn failure(error: &Failure) -> FlowFailure {
    let is = |kind: AgentErrorKind| error.code == kind.code();
    let kind = match error.retry {
        Retry::Useless if error.code == "journal_unavailable" => FlowErrorKind::Record,
        Retry::Useless => FlowErrorKind::SdkRefused,
        Retry::MayHelp if is(AgentErrorKind::Overloaded) || is(AgentErrorKind::Timeout) => {
            FlowErrorKind::SdkConnection
        }
        Retry::MayHelp => FlowErrorKind::SdkSession,
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

/// Returns the part of the budget that a session was limited by, money first.
fn limited(budget: &Budget) -> Option<BudgetKind> {
    let money = budget.cost_usd.map(|_| BudgetKind::Cost);
    let tokens = budget.tokens.map(|_| BudgetKind::Tokens);
    money.or(tokens).or(budget.time.map(|_| BudgetKind::Time))
}
