//! Creates fleet orders from roadmaps.

use std::collections::{BTreeMap, BTreeSet};

use super::{FleetMember, FleetOrder, FleetOrderError};
use crate::executor::{Task, TaskId};
use crate::roadmap::{PlannedTask, Roadmap};
use crate::strategy::{Dependencies, IntoStrategy, MemberId};
use crate::work::{Isolation, WhenDone, WorkOrder};

/// One of several members that do the same work.
///
/// ```
/// use autonoe_harness::Candidate;
///
/// let candidate = Candidate {
///     backend: Some("codex".to_owned()),
///     ..Candidate::new("fast")
/// };
/// assert_eq!(candidate.model, None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The name, which becomes that of the member.
    pub name: String,
    /// The backend; the default backend if `None`.
    pub backend: Option<String>,
    /// The model; that of the backend if `None`.
    pub model: Option<String>,
}

impl Candidate {
    /// Creates a candidate on the default backend.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            backend: None,
            model: None,
        }
    }
}

impl FleetOrder {
    /// Creates an order from the tasks of a roadmap: one member per task that is not ticked, each
    /// in a worktree of its own from which finished work is merged. The strategy receives the
    /// dependencies between them.
    ///
    /// # Errors
    ///
    /// All tasks are ticked, or the strategy cannot respect their dependencies.
    pub fn from_tasks(
        name: impl Into<String>,
        roadmap: &Roadmap,
        strategy: impl IntoStrategy,
    ) -> Result<Self, FleetOrderError> {
        let name = name.into();
        let open: Vec<_> = in_order(roadmap)
            .into_iter()
            .filter(|planned| !planned.is_done)
            .collect();
        let wrong = |problem: String| Err(FleetOrderError::new(&name, vec![problem]));
        if open.is_empty() {
            return wrong(
                "all tasks of the roadmap are ticked, so there is nothing to do".to_owned(),
            );
        }
        let ids = member_ids(open.iter().map(|planned| planned.task.id.as_str()));
        let of_task: BTreeMap<&TaskId, &MemberId> = open
            .iter()
            .map(|planned| &planned.task.id)
            .zip(&ids)
            .collect();
        let mut after = Dependencies::new();
        let mut waiting = None;
        for (planned, id) in open.iter().zip(&ids) {
            let before = planned.depends.iter().filter_map(|id| of_task.get(id));
            let before: BTreeSet<MemberId> = before.map(|id| (*id).clone()).collect();
            if !before.is_empty() {
                waiting.get_or_insert(&planned.task.id);
                after.insert(id.clone(), before);
            }
        }
        let strategy = strategy.into_strategy();
        let strategy = match (strategy.with_dependencies(&after), waiting) {
            (Ok(changed), _) => changed.unwrap_or(strategy),
            (Err(reason), Some(id)) => {
                return wrong(format!("the task {id} depends on another task, {reason}"));
            }
            (Err(reason), None) => return wrong(reason),
        };
        let members = open.iter().zip(&ids).map(|(planned, id)| {
            let task = with_roadmap_context(roadmap, planned.task.clone());
            let isolation = worktree(id, WhenDone::Merge);
            let planned = PlannedTask {
                max_iterations: planned.max_iterations,
                fallbacks: planned.fallbacks.clone(),
                ..PlannedTask::new(task)
            };
            FleetMember::new(id.clone(), WorkOrder::from_planned([planned], isolation))
        });
        let mut order = Self::new(name.clone(), strategy, members);
        order.objective.clone_from(&roadmap.objective);
        Ok(order)
    }

    /// Creates an order in which several candidates each do the whole roadmap, in a worktree of
    /// their own, for a strategy that selects one of them: the work of the winner is merged, and
    /// that of the others is discarded.
    ///
    /// The backend of a candidate overrides that of the tasks.
    pub fn from_candidates(
        name: impl Into<String>,
        roadmap: &Roadmap,
        strategy: impl IntoStrategy,
        candidates: impl IntoIterator<Item = Candidate>,
    ) -> Self {
        let members = candidates.into_iter().map(|candidate| {
            let id = MemberId::new(candidate.name);
            let tasks = roadmap.tasks.iter().map(|planned| {
                let mut planned = planned.clone();
                planned.task = with_roadmap_context(roadmap, planned.task);
                if candidate.backend.is_some() {
                    (planned.task.cli, planned.task.model) = (None, None);
                    planned.fallbacks.clear();
                }
                planned
            });
            let mut work = WorkOrder::from_planned(tasks, worktree(&id, WhenDone::Keep));
            (work.backend, work.model) = (candidate.backend, candidate.model);
            FleetMember::new(id, work)
        });
        let mut order = Self::new(name, strategy, members);
        order.objective.clone_from(&roadmap.objective);
        order
    }
}

fn worktree(member: &MemberId, when_done: WhenDone) -> Isolation {
    Isolation::Worktree {
        name: member.as_str().to_owned(),
        base: None,
        when_done,
    }
}

/// Returns the tasks in file order, but each after its dependencies.
fn in_order(roadmap: &Roadmap) -> Vec<&PlannedTask> {
    let mut done = BTreeSet::new();
    let mut ordered: Vec<&PlannedTask> = Vec::new();
    // A parsed roadmap has no cycles. In any other, the tasks of a cycle are left out here and
    // reported by the validation.
    let is_ready = |planned: &PlannedTask, done: &BTreeSet<TaskId>| {
        let waits = planned.depends.iter().any(|id| !done.contains(id));
        !waits && !done.contains(&planned.task.id)
    };
    while let Some(next) = roadmap.tasks.iter().find(|it| is_ready(it, &done)) {
        done.insert(next.task.id.clone());
        ordered.push(next);
    }
    ordered
}

/// Adds the objective, the constraints and the success criteria of the roadmap to the context of a
/// task.
fn with_roadmap_context(roadmap: &Roadmap, mut task: Task) -> Task {
    let list = |title: &str, items: &[String]| {
        let items: Vec<_> = items.iter().map(|item| format!("- {item}")).collect();
        (!items.is_empty()).then(|| format!("{title}\n{}", items.join("\n")))
    };
    let parts = [
        task.context.take(),
        (!roadmap.objective.is_empty()).then(|| {
            format!(
                "This task is part of a larger objective: {}",
                roadmap.objective
            )
        }),
        list("Constraints:", &roadmap.constraints),
        list(
            "Success criteria of the whole objective:",
            &roadmap.success_criteria,
        ),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() {
        task
    } else {
        task.context(parts.join("\n\n"))
    }
}

/// Creates member names from task names. They become parts of folder and branch names.
fn member_ids<'a>(tasks: impl Iterator<Item = &'a str>) -> Vec<MemberId> {
    let mut used = BTreeSet::new();
    let mut ids = Vec::new();
    for task in tasks {
        let plain = |c: char| {
            if c.is_ascii_alphanumeric() || "-_".contains(c) {
                c
            } else {
                '-'
            }
        };
        let name: String = task.chars().map(plain).take(LONGEST).collect();
        let name = match name.trim_matches('-') {
            "" => "task",
            name => name,
        };
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let mut free = std::iter::once(name.to_owned()).chain(numbered);
        // There are more numbers than names.
        if let Some(id) = free.find(|id| !used.contains(&id.to_lowercase())) {
            used.insert(id.to_lowercase());
            ids.push(MemberId::new(id));
        }
    }
    ids
}

/// Maximum length of the part of a member name that comes from its task.
const LONGEST: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_have_names_for_folders_and_no_two_the_same() {
        let tasks = ["T-1", "a/b", "a b", "A-b", "../x", "日本", "."];

        let ids = member_ids(tasks.into_iter());

        let ids: Vec<_> = ids.iter().map(MemberId::as_str).collect();
        assert_eq!(ids, ["T-1", "a-b", "a-b-2", "A-b-3", "x", "task", "task-2"]);
    }
}
