//! What a member of a fleet is to do.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{
    Allowance, Attendance, BackendModel, Escalation, Ladder, PlannedTask, ProgressWeights,
    StuckThresholds, Task, TaskId,
};

/// How many iterations a task has, if nothing else is said.
const TWENTY: u32 = 20;

/// How many seconds a task waits for its quota, if nothing else is said.
const WEEK: u64 = 7 * 24 * 60 * 60;

/// What a member of a fleet is to do: the input of a run that a [`TaskLoop`](super::TaskLoop)
/// carries out.
///
/// ```
/// use autonoe_harness::{Isolation, Task, WorkOrder};
///
/// let order = WorkOrder::new([Task::new("T-1", "Add a login page.")?], Isolation::Shared)
///     .backend("codex");
///
/// let json = serde_json::to_value(&order).expect("it serialises");
/// assert_eq!(json["isolation"], "shared");
/// assert_eq!(json["maxIterations"], 20);
/// # Ok::<(), autonoe_harness::InvalidTaskId>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct WorkOrder {
    /// The tasks, in their order. One begins when all that it depends on are done.
    pub tasks: Vec<PlannedTask>,
    /// Where the work is done. There is no default: who wants no isolation says so.
    pub isolation: Isolation,
    /// The executor of tasks that name none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend: Option<String>,
    /// The model of tasks that name none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What is tried when an agent is stuck.
    #[serde(default)]
    pub ladder: Ladder,
    /// From when on an agent counts as stuck.
    #[serde(default)]
    pub thresholds: StuckThresholds,
    /// What counts as progress.
    #[serde(default)]
    pub weights: ProgressWeights,
    /// What may be spent on all of it.
    #[serde(default)]
    pub allowance: Allowance,
    /// How many iterations each task has, those on branches apart; 20 by default.
    #[serde(default = "twenty")]
    pub max_iterations: u32,
    /// How many seconds a task waits for its quota at most, each time; a week by default.
    #[serde(default = "week")]
    pub max_wait_seconds: u64,
    /// Whether somebody can be asked; nobody by default.
    #[serde(default)]
    pub attendance: Attendance,
    /// What the stage before came to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
}

/// Where work is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Isolation {
    /// In the folder of the loop, as it is, perhaps with others.
    Shared,
    /// In a git worktree of its own. That there is none is an error.
    Worktree {
        /// Its name.
        name: String,
        /// The branch that it begins at; the current one by default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base: Option<String>,
        /// What becomes of work that is done and verified.
        #[serde(default)]
        when_done: WhenDone,
    },
}

/// What becomes of the work in a worktree that is done and verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WhenDone {
    /// It is committed on its branch, for whoever decides about it.
    #[default]
    Keep,
    /// It is merged, if all that was verified still holds together with what came to the base.
    Merge,
}

fn twenty() -> u32 {
    TWENTY
}

fn week() -> u64 {
    WEEK
}

impl WorkOrder {
    /// Orders tasks that depend on nothing.
    pub fn new(tasks: impl IntoIterator<Item = Task>, isolation: Isolation) -> Self {
        let planned = |(line, task)| PlannedTask {
            line,
            ..PlannedTask::new(task)
        };
        let tasks = (1..).zip(tasks).map(planned);
        Self::planned(tasks, isolation)
    }

    /// Orders tasks of a roadmap.
    pub fn planned(tasks: impl IntoIterator<Item = PlannedTask>, isolation: Isolation) -> Self {
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
        }
    }

    /// Sets the executor of tasks that name none.
    #[must_use]
    pub fn backend(mut self, name: impl Into<String>) -> Self {
        self.backend = Some(name.into());
        self
    }

    /// Returns how many iterations a task has.
    pub(super) fn iterations_of(&self, task: &TaskId) -> u32 {
        let own = self.planned_task(task).and_then(|it| it.max_iterations);
        own.unwrap_or(self.max_iterations)
    }

    /// Returns what is tried when the agent of a task is stuck: the backends that the task names
    /// come first.
    pub(super) fn ladder_of(&self, task: &TaskId) -> Ladder {
        let planned = self.planned_task(task);
        let fallbacks = planned.map_or(&[][..], |planned| &planned.fallbacks);
        match fallbacks.is_empty() {
            true => self.ladder.clone(),
            false => {
                let fallbacks = fallbacks.iter().map(BackendModel::new);
                self.ladder.clone().first(Escalation::new(fallbacks))
            }
        }
    }

    fn planned_task(&self, task: &TaskId) -> Option<&PlannedTask> {
        self.tasks.iter().find(|planned| planned.task.id == *task)
    }

    /// Lists what is wrong with it, before anything is begun.
    pub(crate) fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let mut seen = BTreeSet::new();
        let ids: BTreeSet<&TaskId> = self.tasks.iter().map(|planned| &planned.task.id).collect();
        for planned in &self.tasks {
            let id = &planned.task.id;
            if !seen.insert(id) {
                problems.push(format!("there are two tasks {id}"));
            }
            if let Err(error) = planned.task.validate() {
                problems.push(error.to_string());
            }
            let unknown = planned
                .depends
                .iter()
                .filter(|needed| !ids.contains(needed));
            problems
                .extend(unknown.map(|needed| {
                    format!("the task {id} depends on {needed}, which is not there")
                }));
        }
        for (field, text) in [("backend", &self.backend), ("model", &self.model)] {
            if text.as_deref().is_some_and(|text| text.trim().is_empty()) {
                problems.push(format!("its {field} is blank"));
            }
        }
        let own = self.tasks.iter().filter_map(|it| it.max_iterations);
        if own.chain([self.max_iterations]).any(|most| most == 0) {
            problems.push("its maxIterations is 0, and nothing can be done in none".to_owned());
        }
        problems
    }
}
