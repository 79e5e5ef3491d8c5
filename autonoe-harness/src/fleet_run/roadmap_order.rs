//! Orders that are made of roadmaps.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{FleetMember, FleetOrder, FleetOrderError};
use crate::{
    Graph, HarnessId, IntoStrategy, Isolation, Parallel, Pipeline, PlannedTask, Roadmap, Strategy,
    Task, TaskId, WhenDone, WorkOrder,
};

/// How the members that do the tasks of a roadmap work together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Arrangement {
    /// Each as soon as what it depends on is done.
    #[default]
    AsTheyDepend,
    /// All at once. Tasks that depend on each other cannot.
    AllAtOnce,
    /// One after the other, each with what the one before it said.
    OneAfterTheOther,
}

/// One of several who do the same.
///
/// ```
/// use autonoe_harness::Contender;
///
/// let contender = Contender::new("fast").backend("codex").model("gpt-5.5");
/// assert_eq!(contender.name, "fast");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Contender {
    /// Its name, which is that of the member.
    pub name: String,
    /// Its backend; the usual one by default.
    pub backend: Option<String>,
    /// Its model; that of the backend by default.
    pub model: Option<String>,
}

impl Contender {
    /// Makes a contender on the usual backend.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            backend: None,
            model: None,
        }
    }

    /// Sets its backend.
    #[must_use]
    pub fn backend(mut self, backend: impl Into<String>) -> Self {
        self.backend = Some(backend.into());
        self
    }

    /// Sets its model.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }
}

impl FleetOrder {
    /// Orders the tasks of a roadmap, a member for each that is not ticked, in a worktree of its
    /// own from which work that is done is merged.
    ///
    /// # Errors
    ///
    /// All tasks are ticked, or the arrangement cannot be kept.
    pub fn of_tasks(
        name: impl Into<String>,
        roadmap: &Roadmap,
        arrangement: Arrangement,
    ) -> Result<Self, FleetOrderError> {
        let name = name.into();
        let open: Vec<_> = in_order(roadmap)
            .into_iter()
            .filter(|planned| !planned.is_done)
            .collect();
        let wrong = |problem: String| Err(FleetOrderError::new(&name, vec![problem]));
        if open.is_empty() {
            return wrong("all tasks of the roadmap are ticked: nothing is to be done".to_owned());
        }
        let ids = member_ids(open.iter().map(|planned| planned.task.id.as_str()));
        let of_task: BTreeMap<&TaskId, &HarnessId> = open
            .iter()
            .map(|planned| &planned.task.id)
            .zip(&ids)
            .collect();
        let mut graph = Graph::default();
        let mut waiting = None;
        for planned in &open {
            let before = planned.depends.iter().filter_map(|id| of_task.get(id));
            let before: Vec<HarnessId> = before.map(|id| (*id).clone()).collect();
            if !before.is_empty() {
                waiting.get_or_insert(&planned.task.id);
                graph = graph.after(of_task[&planned.task.id].clone(), before);
            }
        }
        let strategy: Arc<dyn Strategy> = match (arrangement, waiting) {
            (Arrangement::AllAtOnce, Some(id)) => {
                return wrong(format!(
                    "the task {id} depends on another one, so they cannot all be done at once"
                ));
            }
            (Arrangement::OneAfterTheOther, _) => Arc::new(Pipeline {}),
            (Arrangement::AsTheyDepend, _) => Arc::new(graph),
            (Arrangement::AllAtOnce, None) => Arc::new(Parallel {}),
        };
        let members = open.iter().zip(&ids).map(|(planned, id)| {
            let task = with_the_whole(roadmap, planned.task.clone());
            let isolation = worktree(id, WhenDone::Merge);
            let planned = PlannedTask {
                max_iterations: planned.max_iterations,
                fallbacks: planned.fallbacks.clone(),
                ..PlannedTask::new(task)
            };
            FleetMember::new(id.clone(), WorkOrder::planned([planned], isolation))
        });
        let mut order = Self::new(name.clone(), strategy, members);
        order.objective.clone_from(&roadmap.objective);
        Ok(order)
    }

    /// Orders a roadmap from several who each do all of it, in a worktree of its own, for a strategy
    /// that chooses among them: the work of the winner is merged, and that of the others goes.
    ///
    /// A backend that a contender names is that of all tasks, whatever they say.
    pub fn of_contenders(
        name: impl Into<String>,
        roadmap: &Roadmap,
        strategy: impl IntoStrategy,
        contenders: impl IntoIterator<Item = Contender>,
    ) -> Self {
        let members = contenders.into_iter().map(|contender| {
            let id = HarnessId::new(contender.name);
            let tasks = roadmap.tasks.iter().map(|planned| {
                let mut planned = planned.clone();
                planned.task = with_the_whole(roadmap, planned.task);
                if contender.backend.is_some() {
                    (planned.task.cli, planned.task.model) = (None, None);
                    planned.fallbacks.clear();
                }
                planned
            });
            let mut work = WorkOrder::planned(tasks, worktree(&id, WhenDone::Keep));
            (work.backend, work.model) = (contender.backend, contender.model);
            FleetMember::new(id, work)
        });
        let mut order = Self::new(name, strategy, members);
        order.objective.clone_from(&roadmap.objective);
        order
    }
}

fn worktree(member: &HarnessId, when_done: WhenDone) -> Isolation {
    Isolation::Worktree {
        name: member.as_str().to_owned(),
        base: None,
        when_done,
    }
}

/// Returns the tasks in the order of the file, but none before what it depends on.
fn in_order(roadmap: &Roadmap) -> Vec<&PlannedTask> {
    let mut done = BTreeSet::new();
    let mut ordered: Vec<&PlannedTask> = Vec::new();
    // A roadmap that was read has no circles; of one that was not, the rest is left out here and
    // told by the check.
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

/// Tells a task what all of it is for.
fn with_the_whole(roadmap: &Roadmap, mut task: Task) -> Task {
    let list = |title: &str, items: &[String]| {
        let items: Vec<_> = items.iter().map(|item| format!("- {item}")).collect();
        (!items.is_empty()).then(|| format!("{title}\n{}", items.join("\n")))
    };
    let parts = [
        task.context.take(),
        (!roadmap.objective.is_empty())
            .then(|| format!("It is a part of this: {}", roadmap.objective)),
        list("What has to be kept to:", &roadmap.constraints),
        list(
            "What must hold when all is done:",
            &roadmap.success_criteria,
        ),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    match parts.is_empty() {
        true => task,
        false => task.context(parts.join("\n\n")),
    }
}

/// Makes names of members of the names of tasks: they become parts of folders and branches.
fn member_ids<'a>(tasks: impl Iterator<Item = &'a str>) -> Vec<HarnessId> {
    let mut taken = BTreeSet::new();
    let mut ids = Vec::new();
    for task in tasks {
        let plain = |c: char| match c.is_ascii_alphanumeric() || "-_".contains(c) {
            true => c,
            false => '-',
        };
        let name: String = task.chars().map(plain).take(LONGEST).collect();
        let name = match name.trim_matches('-') {
            "" => "task",
            name => name,
        };
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let mut free = std::iter::once(name.to_owned()).chain(numbered);
        // There are more numbers than names.
        if let Some(id) = free.find(|id| !taken.contains(&id.to_lowercase())) {
            taken.insert(id.to_lowercase());
            ids.push(HarnessId::new(id));
        }
    }
    ids
}

/// How much of the name of a task is in that of its member.
const LONGEST: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_have_names_for_folders_and_no_two_the_same() {
        let tasks = ["T-1", "a/b", "a b", "A-b", "../x", "日本", "."];

        let ids = member_ids(tasks.into_iter());

        let ids: Vec<_> = ids.iter().map(HarnessId::as_str).collect();
        assert_eq!(ids, ["T-1", "a-b", "a-b-2", "A-b-3", "x", "task", "task-2"]);
    }
}
