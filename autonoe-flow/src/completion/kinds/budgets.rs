//! [`IterationBudget`] and [`CheckBudget`]: a number of iterations or checks is reached.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CompletionKind, CompletionNeeds, Mistake, Rule, RuleHandler, Unreachable};
use crate::completion::{CompletionDependencies, CompletionHandler};
use crate::error::FlowError;
use crate::progress::FlowProgress;
use crate::walk::Formula;

/// Complete after a number of iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct IterationBudget {
    /// The number of iterations. Each prompt that is sent for a step is one, including retries.
    pub max_iterations: u32,
}

impl CompletionKind for IterationBudget {
    fn build(&self, _: &CompletionDependencies) -> Result<Box<dyn CompletionHandler>, FlowError> {
        Ok(Box::new(RuleHandler(*self)))
    }

    fn mistakes(&self) -> Vec<Mistake> {
        let is_zero = self.max_iterations == 0;
        let mistake = is_zero.then(|| {
            let message = "a flow is never complete before its first iteration";
            Mistake::new("/maxIterations", message, "write 1 or more")
        });
        Vec::from_iter(mistake)
    }

    fn formula(&self) -> Formula {
        Formula::Iterations(u64::from(self.max_iterations))
    }

    fn unreachable(&self) -> Option<Unreachable> {
        let number = self.max_iterations;
        Some(Unreachable {
            message: format!("no path through the flow has {number} iterations"),
            hint: "lower the number, or add a loop to the steps",
        })
    }

    fn needs(&self) -> CompletionNeeds {
        CompletionNeeds::default()
    }
}

impl Rule for IterationBudget {
    fn reason(&self, progress: &FlowProgress) -> Option<String> {
        let limit = self.max_iterations;
        // Validation rejects a limit of zero before the start, so it never completes a flow.
        (limit > 0 && progress.iterations >= u64::from(limit))
            .then(|| format!("iterations so far: {}", progress.iterations))
    }
}

/// Complete after a number of checks of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CheckBudget {
    /// The number of checks, passed or failed.
    pub max_checks: u32,
}

impl CompletionKind for CheckBudget {
    fn build(&self, _: &CompletionDependencies) -> Result<Box<dyn CompletionHandler>, FlowError> {
        Ok(Box::new(RuleHandler(*self)))
    }

    fn mistakes(&self) -> Vec<Mistake> {
        let is_zero = self.max_checks == 0;
        let mistake = is_zero.then(|| {
            let message = "a flow is never complete before its first check";
            Mistake::new("/maxChecks", message, "write 1 or more")
        });
        Vec::from_iter(mistake)
    }

    fn formula(&self) -> Formula {
        Formula::Checks(u64::from(self.max_checks))
    }

    fn unreachable(&self) -> Option<Unreachable> {
        let number = self.max_checks;
        Some(Unreachable {
            message: format!("no path through the flow has {number} checks of steps"),
            hint: "lower the number, or add checks to more steps",
        })
    }

    fn needs(&self) -> CompletionNeeds {
        CompletionNeeds::default()
    }
}

impl Rule for CheckBudget {
    fn reason(&self, progress: &FlowProgress) -> Option<String> {
        let limit = self.max_checks;
        (limit > 0 && progress.checks >= u64::from(limit))
            .then(|| format!("checks so far: {}", progress.checks))
    }
}
