//! How the loop of a task stands.

use serde::{Deserialize, Serialize};

use crate::budget::BudgetedKind as Kind;
use crate::words::counted;
use crate::{Allowance, Spending, StuckReport, Task};

/// How the loop of a task stands: all that a strategy of recovery sees.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LoopContext {
    /// The task, as it was given.
    pub task: Task,
    /// The backend that is at work.
    pub backend: String,
    /// The model that is at work, if one was named.
    pub model: Option<String>,
    /// The number of the last iteration.
    pub iteration: u32,
    /// Why the agent counts as stuck.
    pub report: StuckReport,
    /// Why the last iteration is no success.
    pub problem: Option<String>,
    /// Whether the backend itself failed, so that other words do not help.
    pub backend_failed: bool,
    /// What can still be spent.
    pub free: Allowance,
    /// What the dearest iteration so far took.
    pub dearest: Spending,
    /// Where the agent works.
    pub place: WorkingPlace,
    /// Whether somebody can be asked.
    pub attendance: Attendance,
    /// The labels of the steps that the strategy has made already.
    pub used: Vec<String>,
}

/// Where an agent works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WorkingPlace {
    /// In a folder as it is.
    Folder,
    /// In a worktree of its own, from which others can be made.
    Worktree,
}

/// Whether a person looks after a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Attendance {
    /// Somebody answers when asked.
    Attended,
    /// Nobody does.
    #[default]
    Unattended,
}

impl LoopContext {
    /// Makes the context of a task before anything is known.
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
            dearest: Spending::default(),
            place: WorkingPlace::Folder,
            attendance: Attendance::Unattended,
            used: Vec::new(),
        }
    }

    /// Returns how many iterations can still be paid, if each is as dear as the dearest so far;
    /// `None` is without a limit.
    pub fn affordable(&self) -> Option<u32> {
        let per_iteration = self.dearest.amounts();
        let free = self.free.amounts();
        let limits = Kind::ALL
            .into_iter()
            .zip(free.into_iter().zip(per_iteration));
        let payable = limits.filter_map(|(kind, (free, taken))| {
            // An iteration is one session, and of the rest it takes a bit at least.
            let taken = match kind {
                Kind::Sessions => 1,
                _ => taken.max(1),
            };
            Some(u32::try_from(free? / taken).unwrap_or(u32::MAX))
        });
        payable.min()
    }

    /// Tells whether so many iterations can be paid.
    ///
    /// # Errors
    ///
    /// They cannot; the reason is in words for people.
    pub fn can_pay(&self, iterations: u32) -> Result<(), String> {
        match self.affordable() {
            Some(affordable) if affordable < iterations => Err(format!(
                "it takes {}, and what is left pays {affordable}",
                counted(iterations as usize, "iteration")
            )),
            _ => Ok(()),
        }
    }
}
