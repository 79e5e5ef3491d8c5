//! Work order of a fleet member.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::budget::Allowance;
use crate::executor::{Task, TaskId};
use crate::progress::ProgressWeights;
use crate::recovery::{Attendance, BackendModel, Escalation, Ladder};
use crate::roadmap::PlannedTask;
use crate::stuck::StuckThresholds;

/// Default maximum number of iterations of a task.
const TWENTY: u32 = 20;

/// Default maximum wait for a quota, in seconds.
const WEEK: u64 = 7 * 24 * 60 * 60;

/// Work order of a fleet member: the input of a run that a [`TaskLoop`](super::TaskLoop) executes.
///
/// ```
/// use autonoe_harness::work::{Isolation, WorkOrder};
/// use autonoe_harness::Task;
///
/// let order = WorkOrder::new([Task::new("T-1", "Add a login page.")?], Isolation::Shared)
///     .backend("codex");
///
/// let json = serde_json::to_value(&order).expect("it serialises");
/// assert_eq!(json["isolation"], "shared");
/// assert_eq!(json["maxIterations"], 20);
/// # Ok::<(), autonoe_harness::executor::InvalidTaskId>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct WorkOrder {
    /// The tasks, in order. Each starts when all of its dependencies are done.
    pub tasks: Vec<PlannedTask>,
    /// The isolation of the work. There is no default: working without isolation must be requested
    /// explicitly.
    pub isolation: Isolation,
    /// The executor of tasks that name none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend: Option<String>,
    /// The model of tasks that name none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The recovery of a stuck agent.
    #[serde(default)]
    pub ladder: Ladder,
    /// The thresholds of the stuck detector.
    #[serde(default)]
    pub thresholds: StuckThresholds,
    /// The weights of progress signals.
    #[serde(default)]
    pub weights: ProgressWeights,
    /// The allowance for all tasks together.
    #[serde(default)]
    pub allowance: Allowance,
    /// The maximum number of iterations of each task, not counting those on branches; 20 by
    /// default.
    #[serde(default = "default_max_iterations")]
    pub max_iterations: u32,
    /// The maximum wait for a quota in seconds, each time; a week by default.
    #[serde(default = "default_max_wait")]
    pub max_wait_seconds: u64,
    /// Whether a person can be asked; unattended by default.
    #[serde(default)]
    pub attendance: Attendance,
    /// The output of the previous stage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// The roadmap file that the tasks come from. A fleet sets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roadmap: Option<PathBuf>,
    /// Whether the member is paused when it raises a critical alert. A fleet sets it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pause_on_critical: bool,
}

/// Isolation of work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Isolation {
    /// In the folder of the loop itself, perhaps together with others.
    Shared,
    /// In a git worktree of its own. It is an error if it cannot be created.
    Worktree {
        /// The name of the worktree.
        name: String,
        /// The base branch; the current one if `None`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base: Option<String>,
        /// Action for work that is done and verified.
        #[serde(default)]
        when_done: WhenDone,
    },
}

/// Action for work in a worktree that is done and verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WhenDone {
    /// Commit it on its branch, for a later decision.
    #[default]
    Keep,
    /// Merge it, if all that was verified still holds together with the current base.
    Merge,
}

fn default_max_iterations() -> u32 {
    TWENTY
}

fn default_max_wait() -> u64 {
    WEEK
}

impl WorkOrder {
    /// Creates an order of tasks without dependencies.
    pub fn new(tasks: impl IntoIterator<Item = Task>, isolation: Isolation) -> Self {
        let planned = |(line, task)| PlannedTask {
            line,
            ..PlannedTask::new(task)
        };
        let tasks = (1..).zip(tasks).map(planned);
        Self::from_planned(tasks, isolation)
    }

    /// Creates an order of planned tasks.
    pub fn from_planned(
        tasks: impl IntoIterator<Item = PlannedTask>,
        isolation: Isolation,
    ) -> Self {
        Self {
            tasks: tasks.into_iter().collect(),
            isolation,
            backend: None,
            model: None,
            ladder: Ladder::default(),
            thresholds: StuckThresholds::default(),
            weights: ProgressWeights::default(),
            allowance: Allowance::default(),
            max_iterations: TWENTY,
            max_wait_seconds: WEEK,
            attendance: Attendance::default(),
            input: None,
            roadmap: None,
            pause_on_critical: false,
        }
    }

    /// Sets the executor of tasks that name none.
    #[must_use]
    pub fn backend(mut self, name: impl Into<String>) -> Self {
        self.backend = Some(name.into());
        self
    }

    /// Returns the maximum number of iterations of a task.
    pub(super) fn max_iterations_of(&self, task: &TaskId) -> u32 {
        let own = self.planned_task(task).and_then(|it| it.max_iterations);
        own.unwrap_or(self.max_iterations)
    }

    /// Returns the recovery ladder of a task: its fallback backends come first.
    pub(super) fn ladder_of(&self, task: &TaskId) -> Ladder {
        let planned = self.planned_task(task);
        let fallbacks = planned.map_or(&[][..], |planned| &planned.fallbacks);
        if fallbacks.is_empty() {
            self.ladder.clone()
        } else {
            let fallbacks = fallbacks.iter().map(BackendModel::new);
            self.ladder.clone().first(Escalation::new(fallbacks))
        }
    }

    fn planned_task(&self, task: &TaskId) -> Option<&PlannedTask> {
        self.tasks.iter().find(|planned| planned.task.id == *task)
    }

    /// Validates the order, before anything starts. Returns its problems.
    pub(crate) fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let mut seen = BTreeSet::new();
        let ids: BTreeSet<&TaskId> = self.tasks.iter().map(|planned| &planned.task.id).collect();
        for planned in &self.tasks {
            let id = &planned.task.id;
            if !seen.insert(id) {
                problems.push(format!("two tasks have the id {id}"));
            }
            if let Err(error) = planned.task.validate() {
                problems.push(error.to_string());
            }
            let unknown = planned
                .depends
                .iter()
                .filter(|needed| !ids.contains(needed));
            problems.extend(
                unknown.map(|needed| {
                    format!("the task {id} depends on {needed}, which does not exist")
                }),
            );
        }
        for (field, text) in [("backend", &self.backend), ("model", &self.model)] {
            if text.as_deref().is_some_and(|text| text.trim().is_empty()) {
                problems.push(format!("its {field} is blank"));
            }
        }
        let own = self.tasks.iter().filter_map(|it| it.max_iterations);
        if own.chain([self.max_iterations]).any(|most| most == 0) {
            problems.push("its maxIterations is 0; write at least 1".to_owned());
        }
        problems
    }
}
