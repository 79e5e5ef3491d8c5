//! [`StepMachine`] and [`PhaseCompletion`]: the steps reach their end or a phase.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CompletionKind, CompletionNeeds, Mistake, Rule, RuleHandler, Unreachable};
use crate::completion::{CompletionDependencies, CompletionHandler};
use crate::error::FlowError;
use crate::progress::FlowProgress;
use crate::walk::Formula;

/// Complete when the flow reaches the end of its steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StepMachine {}

impl CompletionKind for StepMachine {
    fn build(&self, _: &CompletionDependencies) -> Result<Box<dyn CompletionHandler>, FlowError> {
        Ok(Box::new(RuleHandler(*self)))
    }

    fn mistakes(&self) -> Vec<Mistake> {
        Vec::new()
    }

    fn formula(&self) -> Formula {
        Formula::End
    }

    fn unreachable(&self) -> Option<Unreachable> {
        // A cycle without an exit is reported as such.
        None
    }

    fn needs(&self) -> CompletionNeeds {
        CompletionNeeds::default()
    }
}

impl Rule for StepMachine {
    fn reason(&self, progress: &FlowProgress) -> Option<String> {
        progress
            .at_end
            .then(|| "the flow reached the end of its steps".to_owned())
    }
}

/// Complete when a step of a terminal phase has passed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PhaseCompletion {
    /// The terminal phases. One of them is enough.
    pub terminal_phases: Vec<String>,
}

impl CompletionKind for PhaseCompletion {
    fn build(&self, _: &CompletionDependencies) -> Result<Box<dyn CompletionHandler>, FlowError> {
        Ok(Box::new(RuleHandler(self.clone())))
    }

    fn mistakes(&self) -> Vec<Mistake> {
        let is_empty = self.terminal_phases.is_empty();
        let mistake = is_empty.then(|| {
            let message = "the list of phases is empty, so the condition could never hold";
            Mistake::new("/terminalPhases", message, "add the phase of a step")
        });
        Vec::from_iter(mistake)
    }

    fn formula(&self) -> Formula {
        Formula::Phases(self.terminal_phases.clone())
    }

    fn unreachable(&self) -> Option<Unreachable> {
        // An empty list is a mistake of its own.
        (!self.terminal_phases.is_empty()).then(|| {
            let phases = self.terminal_phases.join("` or `");
            Unreachable {
                message: format!("no step of the phase `{phases}` can be reached"),
                hint: "set this `phase` in the last steps",
            }
        })
    }

    fn needs(&self) -> CompletionNeeds {
        CompletionNeeds::default()
    }
}

impl Rule for PhaseCompletion {
    fn reason(&self, progress: &FlowProgress) -> Option<String> {
        let mut phases = self.terminal_phases.iter();
        let phase = phases.find(|phase| progress.phases.contains(*phase))?;
        Some(format!("a step of the phase `{phase}` has passed"))
    }
}
