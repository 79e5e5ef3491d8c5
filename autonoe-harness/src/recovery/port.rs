//! Port of recovery strategies, its context, and the changes that they make.

use std::fmt;

use autonoe_core::spec::SpecPort;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::budget::{Allowance, BudgetedKind as Kind, Spending};
use crate::executor::Task;
use crate::pluralize::pluralize;
use crate::stuck::StuckReport;

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
    pub fn new(
        label: impl Into<String>,
        description: impl Into<String>,
        change: RecoveryChange,
    ) -> Self {
        Self {
            label: label.into(),
            description: description.into(),
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

/// State of a task's loop, as recovery strategies see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LoopContext {
    /// The task, as it was ordered.
    pub task: Task,
    /// The current backend.
    pub backend: String,
    /// The current model, if one was named.
    pub model: Option<String>,
    /// The number of the last iteration.
    pub iteration: u32,
    /// The report of the stuck detector.
    pub report: StuckReport,
    /// The reason why the last iteration failed.
    pub problem: Option<String>,
    /// Whether the backend itself failed, so that another prompt does not help.
    pub backend_failed: bool,
    /// The remaining allowance.
    pub free: Allowance,
    /// The spending of the most expensive iteration so far.
    pub costliest_iteration: Spending,
    /// The kind of working folder.
    pub work_folder_kind: WorkFolderKind,
    /// Whether a person can be asked.
    pub attendance: Attendance,
    /// The labels of the steps that the strategy has already taken.
    pub used: Vec<String>,
}

/// Kind of an agent's working folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WorkFolderKind {
    /// A plain folder.
    Folder,
    /// A worktree of its own, from which others can be created.
    Worktree,
}

/// Whether a person attends to a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Attendance {
    /// A person answers questions.
    Attended,
    /// No person answers.
    #[default]
    Unattended,
}

impl LoopContext {
    /// Creates the context of a task before its first iteration.
    pub fn new(task: Task, backend: impl Into<String>, report: StuckReport) -> Self {
        Self {
            model: task.model.clone(),
            task,
            backend: backend.into(),
            iteration: 0,
            report,
            problem: None,
            backend_failed: false,
            free: Allowance::default(),
            costliest_iteration: Spending::default(),
            work_folder_kind: WorkFolderKind::Folder,
            attendance: Attendance::Unattended,
            used: Vec::new(),
        }
    }

    /// Returns how many further iterations can be paid, if each costs as much as the most expensive
    /// one so far; `None` is unlimited.
    pub fn affordable(&self) -> Option<u32> {
        let most = self.costliest_iteration.amounts();
        let free = self.free.amounts();
        let limits = Kind::ALL.into_iter().zip(free.into_iter().zip(most));
        let payable = limits.filter_map(|(kind, (free, per_iteration))| {
            // An iteration is one session, and uses at least one unit of everything else.
            let per_iteration = match kind {
                Kind::Sessions => 1,
                _ => per_iteration.max(1),
            };
            Some(u32::try_from(free? / per_iteration).unwrap_or(u32::MAX))
        });
        payable.min()
    }

    /// Checks whether this many iterations can be paid.
    ///
    /// # Errors
    ///
    /// They cannot; the reason is a text for people.
    pub fn check_affordable(&self, iterations: u32) -> Result<(), String> {
        match self.affordable() {
            Some(affordable) if affordable < iterations => Err(format!(
                "it needs {}, and the remaining budget pays for {affordable}",
                pluralize(iterations as usize, "iteration")
            )),
            _ => Ok(()),
        }
    }
}

/// A backend and a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct BackendModel {
    /// The name of the executor.
    pub cli: String,
    /// The model; that of the executor if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The allowance that must be left for it; nothing by default.
    #[serde(default, skip_serializing_if = "needs_nothing")]
    pub needs: Allowance,
}

fn needs_nothing(needs: &Allowance) -> bool {
    *needs == Allowance::default()
}

impl BackendModel {
    /// Creates an entry for a backend with its default model.
    pub fn new(cli: impl Into<String>) -> Self {
        Self {
            cli: cli.into(),
            model: None,
            needs: Allowance::default(),
        }
    }

    pub(super) fn can_be_paid(&self, context: &LoopContext) -> bool {
        let limits = self.needs.amounts().into_iter().zip(context.free.amounts());
        let mut missing = limits.filter(|(needs, free)| match (needs, free) {
            (Some(needs), Some(free)) => needs > free,
            _ => false,
        });
        missing.next().is_none()
    }
}

impl fmt::Display for BackendModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.model {
            Some(model) => write!(f, "{}/{model}", self.cli),
            None => f.write_str(&self.cli),
        }
    }
}
