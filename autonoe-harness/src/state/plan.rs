//! What a harness is to do.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{StateError, StoredTask};
use crate::{HarnessId, PlannedTask, Task, TaskId};

/// What a harness is to do: its tasks in the order in which they are begun.
///
/// ```
/// use autonoe_harness::{HarnessId, HarnessPlan, Task, TaskPlan};
///
/// let plan = HarnessPlan::new(HarnessId::new("shop"), [
///     TaskPlan::new(Task::new("parser", "Read sums.")?),
///     TaskPlan::new(Task::new("shell", "Ask for a line.")?).after("parser".parse()?),
/// ]);
///
/// assert!(plan.check().is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct HarnessPlan {
    /// Whose it is.
    pub harness: HarnessId,
    /// The file that it comes from.
    pub roadmap: Option<PathBuf>,
    /// The tasks.
    pub tasks: Vec<TaskPlan>,
}

impl HarnessPlan {
    /// Makes a plan of tasks.
    pub fn new(harness: HarnessId, tasks: impl IntoIterator<Item = TaskPlan>) -> Self {
        Self {
            harness,
            roadmap: None,
            tasks: tasks.into_iter().collect(),
        }
    }

    /// Says which file it comes from.
    #[must_use]
    pub fn from_roadmap(mut self, file: impl Into<PathBuf>) -> Self {
        self.roadmap = Some(file.into());
        self
    }

    /// Tells whether every task can come to its turn.
    ///
    /// # Errors
    ///
    /// Two tasks have one name, or some wait for what is not there or for each other.
    pub fn check(&self) -> Result<(), StateError> {
        if let Some(roadmap) = &self.roadmap
            && roadmap.to_str().is_none()
        {
            let why = format!("the path {roadmap:?} of the roadmap is no text");
            return Err(StateError::Invalid(why));
        }
        let mut waits = BTreeMap::new();
        for planned in &self.tasks {
            let before: BTreeSet<_> = planned.depends.iter().collect();
            if waits.insert(&planned.task.id, before).is_some() {
                let id = &planned.task.id;
                return Err(StateError::Invalid(format!("there are two tasks {id}")));
            }
        }
        for (id, before) in &waits {
            if let Some(missing) = before.iter().find(|other| !waits.contains_key(*other)) {
                let why = format!("the task {id} waits for {missing}, which is not there");
                return Err(StateError::Invalid(why));
            }
        }
        // Those that wait for nothing go, again and again; who stays waits in a circle.
        while !waits.is_empty() {
            let stay: BTreeSet<_> = waits.keys().copied().collect();
            let before = waits.len();
            waits.retain(|_, before| before.iter().any(|other| stay.contains(other)));
            if waits.len() == before {
                let names: Vec<_> = waits.keys().map(|id| id.as_str()).collect();
                let names = names.join(", ");
                let why = format!("of the tasks {names} some wait for each other");
                return Err(StateError::Invalid(why));
            }
        }
        Ok(())
    }
}

/// A task and what must be completed before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TaskPlan {
    /// The task.
    pub task: Task,
    /// What must be completed before it.
    pub depends: Vec<TaskId>,
    /// Whether it is done already.
    pub is_done: bool,
}

impl TaskPlan {
    /// Plans a task that waits for nothing.
    pub fn new(task: Task) -> Self {
        Self {
            task,
            depends: Vec::new(),
            is_done: false,
        }
    }

    /// Has it wait for another one.
    #[must_use]
    pub fn after(mut self, id: TaskId) -> Self {
        self.depends.push(id);
        self
    }
}

impl TaskPlan {
    /// Returns the place among `all` tasks that it takes.
    pub(super) fn place_among(&self, all: &[StoredTask]) -> Result<u64, StateError> {
        let id = &self.task.id;
        let others = all.iter().filter(|other| other.task.id != *id);
        let others = others.map(|other| Self {
            task: other.task.clone(),
            depends: other.depends.clone(),
            is_done: false,
        });
        let of_nobody = HarnessId::new(String::new());
        HarnessPlan::new(of_nobody, others.chain([self.clone()])).check()?;
        match all.iter().find(|other| other.task.id == *id) {
            Some(found) => Ok(found.order),
            None => Ok(all.iter().map(|other| other.order + 1).max().unwrap_or(0)),
        }
    }
}

impl From<PlannedTask> for TaskPlan {
    fn from(planned: PlannedTask) -> Self {
        Self {
            task: planned.task,
            depends: planned.depends,
            is_done: planned.is_done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(tasks: &[(&str, &[&str])]) -> HarnessPlan {
        let tasks = tasks.iter().map(|(id, depends)| TaskPlan {
            depends: depends
                .iter()
                .map(|id| id.parse().expect("an id"))
                .collect(),
            ..TaskPlan::new(Task::new(id, "Do it.").expect("an id"))
        });
        HarnessPlan::new(HarnessId::new("h"), tasks)
    }

    #[test]
    fn what_can_never_come_to_its_turn_is_refused() {
        type Plan<'a> = &'a [(&'a str, &'a [&'a str])];
        let cases: [(Plan<'_>, Option<&str>); 6] = [
            (&[], None),
            (&[("b", &["a"]), ("a", &[])], None),
            (&[("a", &[]), ("a", &[])], Some("two tasks a")),
            (&[("a", &["x"])], Some("a waits for x, which is not there")),
            (&[("a", &["a"])], Some("tasks a some wait")),
            (
                &[("c", &[]), ("a", &["b", "c"]), ("b", &["a"])],
                Some("tasks a, b some wait for each other"),
            ),
        ];
        for (tasks, why) in cases {
            let said = plan(tasks).check().err().map(|error| error.to_string());

            match (why, said) {
                (None, None) => {}
                (Some(why), Some(said)) => assert!(said.contains(why), "{said}"),
                (_, said) => panic!("{tasks:?}: {said:?}"),
            }
        }
    }
}
