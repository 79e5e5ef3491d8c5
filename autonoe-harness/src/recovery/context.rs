//! Context of a recovery decision.

use serde::{Deserialize, Serialize};

use crate::budget::BudgetedKind as Kind;
use crate::budget::{Allowance, Spending};
use crate::executor::Task;
use crate::pluralize::pluralize;
use crate::stuck::StuckReport;

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
    pub working_place: WorkingPlace,
    /// Whether a person can be asked.
    pub attendance: Attendance,
    /// The labels of the steps that the strategy has already taken.
    pub used: Vec<String>,
}

/// Kind of an agent's working folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WorkingPlace {
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
            working_place: WorkingPlace::Folder,
            attendance: Attendance::Unattended,
            used: Vec::new(),
        }
    }

    /// Returns how many further iterations can be paid, if each costs as much as the most expensive
    /// one so far; `None` is unlimited.
    pub fn affordable(&self) -> Option<u32> {
        let per_iteration = self.costliest_iteration.amounts();
        let free = self.free.amounts();
        let limits = Kind::ALL
            .into_iter()
            .zip(free.into_iter().zip(per_iteration));
        let payable = limits.filter_map(|(kind, (free, taken))| {
            // An iteration is one session, and uses at least one unit of everything else.
            let taken = match kind {
                Kind::Sessions => 1,
                _ => taken.max(1),
            };
            Some(u32::try_from(free? / taken).unwrap_or(u32::MAX))
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
