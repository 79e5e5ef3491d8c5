//! Recovery by exploring several approaches at once.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ExplorationBranch, LoopContext, RecoveryChange, RecoveryStep, RecoveryStrategy, WorkingPlace,
};
use crate::pluralize::pluralize;

/// Additional prompts of the branches, in turn.
const WAYS: [&str; 4] = [
    "Do the simplest thing that could work, even if it is not pretty.",
    "Begin with what must hold in the end, write that down as a check, and work backwards from it.",
    "Do it in a wholly different way than it was tried so far.",
    "Look for the cause before you change anything: reproduce what is wrong, and explain it.",
];

/// Explores several approaches, each in a worktree of its own: `{"type": "explore"}`.
///
/// The first approach that passes its checks is merged; the work of the others is kept on their
/// branches. The remaining budget may pay for fewer iterations than configured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Exploration {
    /// The number of approaches; 3 by default.
    pub branches: u32,
    /// The maximum number of iterations of each; 10 by default.
    pub iterations: u32,
}

impl Default for Exploration {
    fn default() -> Self {
        Self {
            branches: 3,
            iterations: 10,
        }
    }
}

impl Exploration {
    /// Returns the number of iterations that each branch can have.
    fn each(&self, context: &LoopContext) -> u32 {
        match (context.affordable(), self.branches) {
            (_, 0) => 0,
            (None, _) => self.iterations,
            (Some(affordable), branches) => self.iterations.min(affordable / branches),
        }
    }
}

#[typetag::serde(name = "explore")]
impl RecoveryStrategy for Exploration {
    fn can_apply(&self, context: &LoopContext) -> Result<(), String> {
        if context.working_place == WorkingPlace::Folder {
            return Err("the agent has no worktree to branch from".to_owned());
        }
        if self.each(context) == 0 {
            return Err(format!(
                "the remaining budget does not pay for {} branches",
                self.branches
            ));
        }
        Ok(())
    }

    fn apply(&self, context: &LoopContext) -> RecoveryStep {
        let (iterations, goal) = (self.each(context), &context.task.goal);
        let branches: Vec<_> = (1..=self.branches)
            .zip(WAYS.iter().cycle())
            .map(|(number, way)| ExplorationBranch {
                name: format!("way-{number}"),
                goal: format!("{goal}\n\n{way}"),
            })
            .collect();
        let description = format!(
            "tries {} of at most {}, each in its own worktree",
            pluralize(branches.len(), "way"),
            pluralize(iterations as usize, "iteration")
        );
        let change = RecoveryChange::Explore {
            branches,
            iterations,
        };
        RecoveryStep::new("explore", description, change)
    }
}

autonoe_core::register_spec!(Other("recovery"), Exploration, "explore", {
    "branches": 3, "iterations": 10
});
