//! The result of a flow, as text and as JSON.

use std::collections::BTreeMap;

use autonoe_app::exit_code;
use autonoe_app::text::{format_flow_end, pluralize, sanitize_line};
use autonoe_core::agent::{CostTotal, TokenUsage};
use autonoe_core::run::ExitClass;
use autonoe_core::time::format_duration;
use autonoe_flow::FlowLayer;
use autonoe_flow::machine::{FlowFailure, IterationSummary, StepRecord};
use autonoe_flow::{FlowEnd, FlowErrorKind, FlowResult};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::error_chain;

/// Final output of `autonoe flow run --json`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::commands) struct FlowOutcome<'a> {
    /// The run.
    run: &'a str,
    /// The name of the flow.
    flow: &'a str,
    /// Whether it is complete.
    complete: bool,
    /// Reason for the completion; `null` if it is not complete.
    reason: Option<&'a str>,
    /// Reason for a failure or a stop; `null` if it is complete.
    failure: Option<Failure<'a>>,
    /// Whether it stopped and the same command resumes it.
    resumable: bool,
    /// Each prompt that was sent for a step, in their order.
    iterations: Vec<Iteration<'a>>,
    /// The steps that were visited, by id.
    steps: BTreeMap<&'a str, Step<'a>>,
    /// Number of checks.
    checks: u64,
    /// The last result of each condition of a composite, by its name.
    states: &'a BTreeMap<String, bool>,
    /// The cost of its sessions.
    cost: CostTotal,
    /// The tokens that its sessions used.
    tokens: TokenUsage,
    /// Its duration in milliseconds, including waits.
    elapsed_ms: u64,
}

/// A failure.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "FlowFailure")]
struct Failure<'a> {
    /// A stable name for programs, for example `step_failed`.
    code: &'static str,
    /// The message, with its causes.
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
    /// Number of visits of the step, including this one.
    visit: u32,
    /// Number of retries in this visit.
    retry: u32,
    /// Reason for the agent's failure; `null` if it completed.
    failure: Option<Failure<'a>>,
}

/// The record of a step.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "VisitedStep")]
struct Step<'a> {
    /// Whether it passed when it was visited last; `null` if that visit did not end.
    passed: Option<bool>,
    /// Number of visits.
    visits: u32,
    /// The outputs that it set.
    outputs: &'a Map<String, Value>,
}

impl<'a> FlowOutcome<'a> {
    pub(super) fn new(result: &'a FlowResult) -> Self {
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
            failure: result.end.failure().map(Failure::new),
            resumable: result.end.is_resumable(),
            iterations: result.summaries.iter().map(Iteration::new).collect(),
            steps: steps
                .map(|(id, step)| (id.as_str(), Step::new(step)))
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
    fn new(failure: &'a FlowFailure) -> Self {
        Self {
            code: failure.kind.code(),
            message: error_chain(failure),
            step: failure.step.as_ref().map(|step| step.as_str()),
            iteration: failure.iteration,
        }
    }
}

impl<'a> Iteration<'a> {
    fn new(summary: &'a IterationSummary) -> Self {
        Self {
            step: summary.at.step.as_str(),
            visit: summary.at.visit,
            retry: summary.at.retry,
            failure: summary.failure.as_ref().map(Failure::new),
        }
    }
}

impl<'a> Step<'a> {
    fn new(step: &'a StepRecord) -> Self {
        Self {
            passed: step.passed,
            visits: step.visits,
            outputs: &step.outputs,
        }
    }
}

/// Returns the hint on how to resume a flow that has stopped.
fn resume_hint(end: &FlowEnd) -> Option<&'static str> {
    let failure = end.failure().filter(|_| end.is_resumable())?;
    Some(match failure.kind.layer() {
        _ if failure.kind.class() == ExitClass::Budget => {
            "To resume it, run the same command with a higher limit; to start over, add \
             --restart.\n"
        }
        FlowLayer::Prompt => {
            "To resume it, fix the prompt and run the same command; to start over, add \
             --restart.\n"
        }
        FlowLayer::Configuration
        | FlowLayer::Lifecycle
        | FlowLayer::Loop
        | FlowLayer::SdkBridge
        | FlowLayer::Completion
        | FlowLayer::StepCheck => {
            "To resume it, run the same command; to start over, add --restart.\n"
        }
    })
}

/// Formats the end of a flow and its usage as text.
pub(super) fn format_outcome(result: &FlowResult) -> String {
    let (flow, run) = (&result.flow, &result.run);
    let end = format_flow_end(&result.end);
    format!(
        "{}\n{}, {}, {}, {}\n{}",
        sanitize_line(&format!("Flow {flow} ({run}) {end}")),
        pluralize(result.iterations(), "iteration"),
        pluralize(result.checks, "check"),
        format_duration(result.elapsed),
        result.spent.cost,
        resume_hint(&result.end).unwrap_or_default()
    )
}

/// Returns the exit code for the result of a flow.
pub(super) fn flow_exit_code(result: &FlowResult) -> u8 {
    result
        .end
        .failure()
        .map_or(0, |failure| failure_exit_code(failure.kind))
}

/// Returns the exit code for a kind of failure.
pub(super) fn failure_exit_code(kind: FlowErrorKind) -> u8 {
    exit_code::for_class(kind.class())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_stopped_flow_gets_a_resume_hint() {
        for kind in FlowErrorKind::ALL {
            let failure = FlowFailure::new(*kind, "why");
            let hint = match kind.code() {
                "interrupted" | "sdk_rate_limit" => "To resume it, run the same command; ",
                "budget_exceeded" => "To resume it, run the same command with a higher limit",
                _ => "To resume it, fix the prompt and run the same command",
            };
            let stopped = FlowEnd::Stopped {
                failure: failure.clone(),
            };
            let hinted = resume_hint(&stopped).filter(|_| failure.is_resumable());
            assert_eq!(hinted.is_some(), failure.is_resumable());
            assert!(
                hinted.is_none_or(|hinted| hinted.starts_with(hint)),
                "{hinted:?}"
            );
            assert_eq!(resume_hint(&FlowEnd::Failed { failure }), None);
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
            assert_eq!(failure_exit_code(*kind), code, "{}", kind.code());
        }
    }
}
