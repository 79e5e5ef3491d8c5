//! [`FlowFormatter`]: formats the facts of a flow for people. [`FlowReplay`] replays them.

use std::path::PathBuf;

use autonoe_core::Project;
use autonoe_core::jiff::Timestamp;
use autonoe_core::session::FlowStart;
use autonoe_flow::machine::{FlowFailure, SessionChoice};
use autonoe_flow::prompt::Variables;
use autonoe_flow::run::fingerprint;
use autonoe_flow::{
    FlowAction, FlowEnd, FlowFact, FlowMachine, FlowResult, ParameterValues, StepId, ValidatedFlow,
    load,
};
use serde_json::Value;

use super::{DecisionFormatter, prompt_sent, sanitize_line, shorten};
use crate::error::error_chain;

/// Formats a flow fact by fact.
///
/// Facts do not name their steps, so the flow is replayed with its definition. If the definition is
/// missing or has changed, checks are formatted without their steps.
#[derive(Debug, Default)]
pub(super) struct FlowFormatter {
    /// The folder of definitions; `None` if they are on another host.
    flows: Option<PathBuf>,
    replayed: Option<FlowReplay>,
    decisions: DecisionFormatter,
}

impl FlowFormatter {
    pub(super) fn new(project: &Project) -> Self {
        Self {
            flows: Some(flows_dir(project)),
            replayed: None,
            decisions: DecisionFormatter::default(),
        }
    }

    /// Handles the start of a flow.
    pub(super) fn starts(&mut self, flow: &str, definition: &str, parameters: &Value) {
        let start = FlowStart::new(flow)
            .definition(definition)
            .parameters(parameters.clone());
        self.replayed = self.replay(&start);
        self.decisions = DecisionFormatter::default();
    }

    fn replay(&self, start: &FlowStart) -> Option<FlowReplay> {
        let is_name = !start.flow.contains('/') && !start.flow.starts_with('.');
        let folder = self.flows.as_ref().filter(|_| is_name)?.join(&start.flow);
        let flow = load(&folder).ok()?.validated().ok()?;
        let declared = &flow.definition().agent().parameters;
        let values = ParameterValues::from_json(declared, &start.parameters).ok()?;
        FlowReplay::new(start, &flow, &values).ok()
    }

    /// Formats a fact.
    pub(super) fn format(&mut self, fact: &Value) -> Vec<String> {
        let Ok(fact) = serde_json::from_value::<FlowFact>(fact.clone()) else {
            // A fact that cannot be parsed cannot be replayed either.
            self.replayed = None;
            return vec!["An entry that this version of autonoe does not support".to_owned()];
        };
        let action = self.replayed.as_mut().map(|it| it.apply(fact.clone()));
        let mut lines: Vec<String> = match &fact {
            FlowFact::Lost { .. } => {
                vec!["The step in progress was lost because its process ended".to_owned()]
            }
            FlowFact::LimitsChanged { .. } => {
                // The action in progress is repeated, and not printed twice.
                return vec!["Limits changed".to_owned()];
            }
            FlowFact::Cancelled { .. } => vec!["Interrupted".to_owned()],
            // Without a definition, only some facts show that the flow stopped.
            FlowFact::Failed { failure, .. } if action.is_none() && failure.is_resumable() => {
                vec![format!("Stopped: {}", shorten(&error_chain(failure)))]
            }
            _ => Vec::new(),
        };
        let decided = self.decisions.format(&fact, action.as_ref());
        lines.extend(decided.into_iter().map(|line| line.text));
        if let Some(FlowAction::Finish(FlowEnd::Stopped { failure })) = &action {
            lines.push(format!("Stopped: {}", shorten(&error_chain(failure))));
        }
        // The journal does not record whether the backend could continue a conversation.
        if let Some(FlowAction::Prompt(order)) = action {
            lines.push(prompt_sent(&order.at, &SessionChoice::Fresh).text);
        }
        lines
    }
}

/// Formats why a flow ended, if its result can be parsed.
pub(super) fn format_flow_result(result: &Value) -> Option<String> {
    let result: FlowResult = serde_json::from_value(result.clone()).ok()?;
    let (flow, run) = (&result.flow, &result.run);
    let text = format!("Flow {flow} ({run}) {}", format_flow_end(&result.end));
    Some(sanitize_line(&text))
}

/// Formats how a flow ended, and why.
pub fn format_flow_end(end: &FlowEnd) -> String {
    let at_step = |failure: &FlowFailure| match &failure.step {
        Some(step) => format!(" at the step {step}: {}", error_chain(failure)),
        None => format!(": {}", error_chain(failure)),
    };
    match end {
        FlowEnd::Complete { reason, .. } => format!("completed: {reason}"),
        FlowEnd::Failed { failure } => format!("failed{}", at_step(failure)),
        FlowEnd::Stopped { failure } => format!("stopped{}", at_step(failure)),
    }
}

/// Returns the folder of a project's flows.
pub fn flows_dir(project: &Project) -> PathBuf {
    project.state_dir().join("flows")
}

/// The state of a recorded flow.
#[derive(Debug)]
pub struct FlowReplay(FlowMachine);

/// Difference between a recorded flow and the current one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowMismatch {
    /// It has another definition.
    Definition,
    /// It has other parameters.
    Parameters,
}

impl FlowReplay {
    /// Starts the replay of a flow with `start`, if that is `flow` with these `values`.
    pub fn new(
        start: &FlowStart,
        flow: &ValidatedFlow,
        values: &ParameterValues,
    ) -> Result<Self, FlowMismatch> {
        let own = fingerprint(flow.definition()).map_err(|_| FlowMismatch::Definition)?;
        if start.definition != own {
            return Err(FlowMismatch::Definition);
        }
        let parameters = serde_json::to_value(values).map_err(|_| FlowMismatch::Parameters)?;
        if start.parameters != parameters {
            return Err(FlowMismatch::Parameters);
        }
        Ok(Self(FlowMachine::new(flow, values)))
    }

    /// Applies a fact, and returns the action that followed.
    pub fn apply(&mut self, fact: FlowFact) -> FlowAction {
        self.0.apply(fact)
    }

    /// Applies facts of the journal, up to one that cannot be parsed.
    pub fn apply_all(&mut self, facts: &[Value]) {
        let facts = facts.iter();
        for fact in facts.map_while(|fact| serde_json::from_value(fact.clone()).ok()) {
            let _ = self.apply(fact);
        }
    }

    /// Returns the next step, with the variables of its prompt if the prompt is next. `None` if the
    /// flow has not reached any step.
    pub fn next_step(mut self) -> Option<(StepId, Option<Variables>)> {
        let mut action = self.0.action();
        if let FlowAction::Finish(FlowEnd::Stopped { failure }) = &action {
            let step = failure.step.clone();
            let at = Timestamp::UNIX_EPOCH;
            action = match self.apply(FlowFact::Resumed { at }) {
                // The budget is still exhausted.
                FlowAction::Finish(_) => return step.map(|step| (step, None)),
                action => action,
            };
        }
        if let FlowAction::Wait { until, .. } = action {
            action = self.apply(FlowFact::WaitOver { at: until });
        }
        Some(match action {
            FlowAction::Prompt(order) => (order.at.step, Some(order.variables)),
            FlowAction::Check(order) => (order.at.step, None),
            FlowAction::CheckCompletion(order) => (order.step, None),
            FlowAction::Notify(order) => (order.step, None),
            _ => return None,
        })
    }
}
