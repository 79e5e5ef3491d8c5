//! The result of a flow, as text and as JSON.

use std::collections::BTreeMap;

use autonoe_core::{CostTotal, TokenUsage, format_duration};
use autonoe_flow::{
    FlowEnd, FlowErrorKind, FlowFailure, FlowLayer, FlowResult, IterationSummary, StepRecord,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::whole;
use crate::exit_code;
use crate::present::harmless_line;

/// What `autonoe flow run --json` prints at the end.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::commands) struct FlowOutcome<'a> {
    /// The run.
    run: &'a str,
    /// The name of the flow.
    flow: &'a str,
    /// Whether it is complete.
    complete: bool,
    /// Why it is complete, for people; `null` if it is not.
    reason: Option<&'a str>,
    /// Why it failed or stopped; `null` if it is complete.
    failure: Option<Failure<'a>>,
    /// Whether it stopped and the same command resumes it.
    resumable: bool,
    /// Each prompt that was sent for a step, in their order.
    iterations: Vec<Iteration<'a>>,
    /// The steps that were visited, by id.
    steps: BTreeMap<&'a str, Step<'a>>,
    /// How many checks were made.
    checks: u64,
    /// What each condition of a composite found last, by its name.
    states: &'a BTreeMap<String, bool>,
    /// What its sessions cost.
    cost: CostTotal,
    /// The tokens that they used.
    tokens: TokenUsage,
    /// How long it took, waits included, in milliseconds.
    elapsed_ms: u64,
}

/// What went wrong.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "FlowFailure")]
struct Failure<'a> {
    /// A stable name for programs, for example `step_failed`.
    code: &'static str,
    /// A sentence for people, with its causes.
    message: String,
    /// The step in which it happened.
    step: Option<&'a str>,
    /// The iteration in which it happened, from 1.
    iteration: Option<u64>,
}

/// A prompt that was sent for a step.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "FlowIteration")]
struct Iteration<'a> {
    /// The step.
    step: &'a str,
    /// How often the step was visited, with this time.
    visit: u32,
    /// How often it was tried again in this visit.
    retry: u32,
    /// Why the agent failed; `null` if it came to its end.
    failure: Option<Failure<'a>>,
}

/// What is known of a step.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "VisitedStep")]
struct Step<'a> {
    /// Whether it passed when it was visited last; `null` if that visit did not end.
    passed: Option<bool>,
    /// How often it was visited.
    visits: u32,
    /// The outputs that it set.
    outputs: &'a Map<String, Value>,
}

impl<'a> FlowOutcome<'a> {
    pub(super) fn of(result: &'a FlowResult) -> Self {
        let reason = match &result.end {
            FlowEnd::Complete { reason, .. } => Some(reason.as_str()),
            FlowEnd::Failed { .. } | FlowEnd::Stopped { .. } => None,
        };
        let steps = result.steps.iter();
        let elapsed = result.elapsed.as_millis();
        Self {
            run: result.run.as_str(),
            flow: result.flow.as_str(),
            complete: result.is_success(),
            reason,
            failure: result.end.failure().map(Failure::of),
            resumable: result.end.is_resumable(),
            iterations: result.summaries.iter().map(Iteration::of).collect(),
            steps: steps
                .map(|(id, step)| (id.as_str(), Step::of(step)))
                .collect(),
            checks: result.checks,
            states: &result.states,
            cost: result.spent.cost,
            tokens: result.spent.tokens,
            elapsed_ms: u64::try_from(elapsed).unwrap_or(u64::MAX),
        }
    }
}

impl<'a> Failure<'a> {
    fn of(failure: &'a FlowFailure) -> Self {
        Self {
            code: failure.kind.code(),
            message: whole(failure),
            step: failure.step.as_ref().map(|step| step.as_str()),
            iteration: failure.iteration,
        }
    }
}

impl<'a> Iteration<'a> {
    fn of(summary: &'a IterationSummary) -> Self {
        Self {
            step: summary.at.step.as_str(),
            visit: summary.at.visit,
            retry: summary.at.retry,
            failure: summary.failure.as_ref().map(Failure::of),
        }
    }
}

impl<'a> Step<'a> {
    fn of(step: &'a StepRecord) -> Self {
        Self {
            passed: step.passed,
            visits: step.visits,
            outputs: &step.outputs,
        }
    }
}

/// Says how a flow ended, and why.
pub(in crate::commands) fn why(end: &FlowEnd) -> String {
    let at_step = |failure: &FlowFailure| match &failure.step {
        Some(step) => format!(" at the step {step}: {}", whole(failure)),
        None => format!(": {}", whole(failure)),
    };
    match end {
        FlowEnd::Complete { reason, .. } => format!("ended: it is complete: {reason}"),
        FlowEnd::Failed { failure } => format!("ended: it failed{}", at_step(failure)),
        FlowEnd::Stopped { failure } => format!("stopped{}", at_step(failure)),
    }
}

/// Says how to resume a flow that has stopped.
fn how_to_resume(end: &FlowEnd) -> Option<&'static str> {
    let failure = end.failure().filter(|_| end.is_resumable())?;
    Some(match failure.kind {
        FlowErrorKind::BudgetExceeded => {
            "The same command with a higher limit resumes it; --anew starts over.\n"
        }
        kind if kind.layer() == FlowLayer::Prompt => {
            "Once the prompt is repaired, the same command resumes it; --anew starts over.\n"
        }
        _ => "The same command resumes it; --anew starts over.\n",
    })
}

/// Writes for people why a flow ended and what it took.
pub(super) fn shown(result: &FlowResult) -> String {
    let (flow, run) = (&result.flow, &result.run);
    let why = why(&result.end);
    let counted = |number: u64, what: &str| match number {
        1 => format!("1 {what}"),
        number => format!("{number} {what}s"),
    };
    format!(
        "{}\n{}, {}, {}, {}\n{}",
        harmless_line(&format!("Flow {flow} ({run}) {why}")),
        counted(result.iterations(), "iteration"),
        counted(result.checks, "check"),
        format_duration(result.elapsed),
        result.spent.cost,
        how_to_resume(&result.end).unwrap_or_default()
    )
}

/// Returns the exit code of a flow that came to this.
pub(super) fn code(result: &FlowResult) -> u8 {
    result
        .end
        .failure()
        .map_or(0, |failure| code_of(failure.kind))
}

/// Returns the exit code of a flow that failed so.
pub(super) fn code_of(kind: FlowErrorKind) -> u8 {
    match kind {
        FlowErrorKind::SdkRateLimit => exit_code::QUOTA,
        FlowErrorKind::BudgetExceeded => exit_code::BUDGET,
        FlowErrorKind::Interrupted => exit_code::INTERRUPTED,
        _ => exit_code::FAILURE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_stopped_flow_is_said_to_resume_and_a_spent_budget_needs_a_higher_limit() {
        for kind in FlowErrorKind::ALL {
            let failure = FlowFailure::new(*kind, "why");
            let hint = match kind.code() {
                "interrupted" | "sdk_rate_limit" => "The same command resumes it",
                "budget_exceeded" => "The same command with a higher limit resumes it",
                _ => "Once the prompt is repaired, the same command resumes it",
            };
            let stopped = FlowEnd::Stopped {
                failure: failure.clone(),
            };
            let said = how_to_resume(&stopped).filter(|_| failure.is_resumable());
            assert_eq!(said.is_some(), failure.is_resumable());
            assert!(said.is_none_or(|said| said.starts_with(hint)), "{said:?}");
            assert_eq!(how_to_resume(&FlowEnd::Failed { failure }), None);
        }
    }

    #[test]
    fn each_kind_of_failure_has_the_code_that_is_documented() {
        for kind in FlowErrorKind::ALL {
            let code = match kind.code() {
                "sdk_rate_limit" => 5,
                "budget_exceeded" => 6,
                "interrupted" => 130,
                _ => 1,
            };
            assert_eq!(code_of(*kind), code, "{}", kind.code());
        }
    }
}
