//! The facts of a flow in the words of people.

use std::path::PathBuf;

use autonoe_core::{FlowStart, Project};
use autonoe_flow::{
    FlowAction, FlowEnd, FlowFact, FlowResult, ParameterValues, SessionChoice, load,
};
use serde_json::Value;

use crate::commands::flow::{Replayed, flows_dir, why};
use crate::error::whole;
use crate::present::{FlowWords, harmless_line, prompt_sent, shorten};

/// Tells a flow fact by fact.
///
/// Facts do not name their steps: the flow is replayed with its definition. If that is not there
/// any more, or is another one by now, checks are told without their steps.
#[derive(Debug, Default)]
pub(super) struct FlowTeller {
    /// Where definitions are; `None` if they are not here.
    flows: Option<PathBuf>,
    replayed: Option<Replayed>,
    words: FlowWords,
}

impl FlowTeller {
    pub(super) fn of(project: &Project) -> Self {
        Self {
            flows: Some(flows_dir(project)),
            replayed: None,
            words: FlowWords::default(),
        }
    }

    /// Takes note that a flow starts.
    pub(super) fn starts(&mut self, flow: &str, definition: &str, parameters: &Value) {
        let start = FlowStart::new(flow)
            .definition(definition)
            .parameters(parameters.clone());
        self.replayed = self.replay(&start);
        self.words = FlowWords::default();
    }

    fn replay(&self, start: &FlowStart) -> Option<Replayed> {
        let is_name = !start.flow.contains('/') && !start.flow.starts_with('.');
        let folder = self.flows.as_ref().filter(|_| is_name)?.join(&start.flow);
        let flow = load(&folder).ok()?.validated().ok()?;
        let declared = &flow.definition().agent().parameters;
        let values = ParameterValues::from_json(declared, &start.parameters).ok()?;
        Replayed::begin(start, &flow, &values).ok()
    }

    /// Says what a fact tells.
    pub(super) fn tell(&mut self, fact: &Value) -> Vec<String> {
        let Ok(fact) = serde_json::from_value::<FlowFact>(fact.clone()) else {
            // What cannot be understood cannot be replayed either.
            self.replayed = None;
            return vec!["Something that this version of autonoe does not know".to_owned()];
        };
        let action = self.replayed.as_mut().map(|it| it.apply(fact.clone()));
        let mut told: Vec<String> = match &fact {
            FlowFact::Lost { .. } => {
                vec!["What was under way was lost with its process".to_owned()]
            }
            FlowFact::LimitsChanged { .. } => {
                // What is under way comes again, which is not told twice.
                return vec!["Other limits".to_owned()];
            }
            FlowFact::Cancelled { .. } => vec!["Interrupted".to_owned()],
            // Without a definition, only some facts tell that the flow stopped.
            FlowFact::Failed { failure, .. } if action.is_none() && failure.is_resumable() => {
                vec![format!("Stopped: {}", shorten(&whole(failure)))]
            }
            _ => Vec::new(),
        };
        let lines = self.words.decided(&fact, action.as_ref());
        told.extend(lines.into_iter().map(|line| line.text));
        if let Some(FlowAction::Finish(FlowEnd::Stopped { failure })) = &action {
            told.push(format!("Stopped: {}", shorten(&whole(failure))));
        }
        // Whether the backend could go on with a conversation is not written down.
        if let Some(FlowAction::Prompt(order)) = action {
            told.push(prompt_sent(&order.at, &SessionChoice::Fresh).text);
        }
        told
    }
}

/// Says why a flow ended, if its result can be understood.
pub(super) fn why_ended(result: &Value) -> Option<String> {
    let result: FlowResult = serde_json::from_value(result.clone()).ok()?;
    let (flow, run) = (&result.flow, &result.run);
    let text = format!("Flow {flow} ({run}) {}", why(&result.end));
    Some(harmless_line(&text))
}
