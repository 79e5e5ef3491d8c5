//! Port of recovery strategies, and the changes that they make.

use std::fmt;

use autonoe_core::spec::SpecPort;
use serde::{Deserialize, Serialize};

use super::{BackendModel, LoopContext};

/// Registry port of recovery strategies.
pub const RECOVERY_PORT: SpecPort = SpecPort::Other("recovery");

/// Decides what to change when an agent is stuck.
///
/// A strategy is a pure function of the loop's state: it starts nothing and pays for nothing
/// itself. The loop performs its decision. Implementations are plain serialisable structs, whose
/// tag has the form `crate-thing`. [`can_apply`](Self::can_apply) must only accept what the
/// [remaining budget](LoopContext::affordable) can pay, and each label must differ from those used
/// before. A [`Ladder`](super::Ladder) skips a strategy that violates this.
///
/// ```
/// use autonoe_harness::recovery::{
///     Ladder, LoopContext, RecoveryChange, RecoveryStep, RecoveryStrategy,
/// };
/// use serde::{Deserialize, Serialize};
///
/// /// Asks the agent to take a walk.
/// #[derive(Debug, Serialize, Deserialize)]
/// struct Walk {}
///
/// #[typetag::serde(name = "docs-walk")]
/// impl RecoveryStrategy for Walk {
///     fn can_apply(&self, context: &LoopContext) -> Result<(), String> {
///         context.check_affordable(1)
///     }
///
///     fn apply(&self, context: &LoopContext) -> RecoveryStep {
///         let goal = format!("{}\n\nThink about something else first.", context.task.goal);
///         RecoveryStep::new("walk", "had it think of something else", RecoveryChange::Prompt { goal })
///     }
/// }
///
/// let ladder: Ladder = serde_json::from_str(r#"[{"type": "docs-walk"}, {"type": "person"}]"#)?;
/// assert_eq!(ladder.names().collect::<Vec<_>>(), ["docs-walk", "person"]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[typetag::serde(tag = "type")]
pub trait RecoveryStrategy: fmt::Debug + Send + Sync {
    /// Returns the maximum number of applications to one task; 1 by default.
    fn max_uses(&self) -> u32 {
        1
    }

    /// Checks whether it can be applied now.
    ///
    /// # Errors
    ///
    /// It cannot; the reason is a text for people.
    fn can_apply(&self, context: &LoopContext) -> Result<(), String>;

    /// Returns the change. It is called only if the strategy can be applied.
    fn apply(&self, context: &LoopContext) -> RecoveryStep;
}

/// A change, with its description.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RecoveryStep {
    /// The label of the step, unique among the steps of its strategy.
    pub label: String,
    /// A description of the change, for people.
    pub description: String,
    /// The change.
    pub change: RecoveryChange,
}

impl RecoveryStep {
    /// Creates a step.
    pub fn new(label: impl Into<String>, said: impl Into<String>, change: RecoveryChange) -> Self {
        Self {
            label: label.into(),
            description: said.into(),
            change,
        }
    }

    /// Returns the number of iterations that the step reserves.
    pub fn iterations(&self) -> u32 {
        match &self.change {
            RecoveryChange::Explore {
                branches,
                iterations,
            } => u32::try_from(branches.len())
                .unwrap_or(u32::MAX)
                .saturating_mul(*iterations),
            _ => 1,
        }
    }
}

/// A change of a task's loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum RecoveryChange {
    /// The agent gets its goal in another form.
    Prompt {
        /// The new goal.
        goal: String,
    },
    /// Another backend or model continues.
    Escalate {
        /// The backend and the model.
        to: BackendModel,
    },
    /// Several approaches are explored, each in a worktree of its own.
    Explore {
        /// The approaches, in the order in which they are tried.
        branches: Vec<ExplorationBranch>,
        /// The number of iterations of each.
        iterations: u32,
    },
    /// A person is asked.
    Ask {
        /// The question.
        question: String,
    },
}

/// One explored approach.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExplorationBranch {
    /// The name, which becomes part of a branch name.
    pub name: String,
    /// The goal of the agent on that branch.
    pub goal: String,
}
