//! Roadmap and its tasks, their validation, and its errors with line and column.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use autonoe_core::project::suggest;
use serde::{Deserialize, Serialize};

use super::outline::{Outline, RoadmapFinding};
use crate::executor::{Task, TaskId};

/// A plan of work, written by a person in a Markdown file.
///
/// ```
/// use autonoe_harness::Roadmap;
///
/// let text = [
///     "## Objective",
///     "A calculator for the terminal.",
///     "## Constraints",
///     "- no dependencies",
///     "## Success Criteria",
///     "- all tests pass",
///     "## Tasks",
///     "- [ ] **parser**: Read sums and products.",
///     "  - timeout: 20m",
///     "  - success: `cargo test parser`",
///     "- [ ] **shell**: Ask for a line, print what it comes to.",
///     "  - depends: parser",
///     "  - cli: codex",
/// ];
/// let roadmap = Roadmap::parse("ROADMAP.md".as_ref(), &text.join("\n"))?;
///
/// assert_eq!(roadmap.tasks[1].depends, ["parser".parse()?]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Roadmap {
    /// The title, if there is one, without `Roadmap:`.
    pub title: Option<String>,
    /// The objective. Without a section for it, this is the title, or empty.
    pub objective: String,
    /// Constraints on every task.
    pub constraints: Vec<String>,
    /// Statements that must hold in the end.
    pub success_criteria: Vec<String>,
    /// The tasks, in file order.
    pub tasks: Vec<PlannedTask>,
    /// Parts of the file that have no effect, or another effect than its author may expect.
    #[serde(skip)]
    pub warnings: Vec<RoadmapFinding>,
}

/// A task of a roadmap.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedTask {
    /// The task.
    pub task: Task,
    /// The tasks that must be done before: those that `depends` names, else those of the previous
    /// phase.
    pub depends: Vec<TaskId>,
    /// The maximum number of iterations; that of the order if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_iterations: Option<u32>,
    /// The backends that continue when its own is stuck or fails, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fallbacks: Vec<String>,
    /// Whether its box is ticked.
    pub is_done: bool,
    /// The line on which it starts, counting from 1.
    pub line: usize,
}

impl PlannedTask {
    /// Creates a task without dependencies.
    pub fn new(task: Task) -> Self {
        Self {
            task,
            depends: Vec::new(),
            max_iterations: None,
            fallbacks: Vec::new(),
            is_done: false,
            line: 1,
        }
    }
}

/// Error of a roadmap: all of its mistakes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoadmapError {
    file: PathBuf,
    findings: Vec<RoadmapFinding>,
}

impl RoadmapError {
    pub(super) fn new(file: &Path, mut findings: Vec<RoadmapFinding>) -> Self {
        findings.sort();
        findings.dedup();
        Self {
            file: file.to_owned(),
            findings,
        }
    }

    /// Returns all mistakes, by line.
    pub fn findings(&self) -> &[RoadmapFinding] {
        &self.findings
    }
}

impl fmt::Display for RoadmapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, finding) in self.findings.iter().enumerate() {
            let end = if number == 0 { "" } else { "\n" };
            let RoadmapFinding {
                line,
                column,
                message,
            } = finding;
            write!(f, "{end}{}:{line}:{column}: {message}", self.file.display())?;
        }
        Ok(())
    }
}

impl std::error::Error for RoadmapError {}

pub(super) fn validate(
    roadmap: &Roadmap,
    outline: &Outline<'_>,
    findings: &mut Vec<RoadmapFinding>,
) {
    let last = outline.lines.max(1);
    if roadmap.tasks.is_empty() {
        let line = outline
            .section("Tasks")
            .map_or(last, |section| section.line);
        findings.push(RoadmapFinding::new(
            line,
            1,
            "there are no tasks: write `- [ ] **id**: what to do` below `## Tasks`",
        ));
    }
    let mut known: BTreeMap<&TaskId, &PlannedTask> = BTreeMap::new();
    for planned in &roadmap.tasks {
        let id = &planned.task.id;
        if let Some(first) = known.get(id) {
            let message = format!("the task {id} already exists in line {}", first.line);
            findings.push(RoadmapFinding::new(planned.line, 1, message));
        } else {
            known.insert(id, planned);
        }
        if let Err(error) = planned.task.validate() {
            findings.push(RoadmapFinding::new(planned.line, 1, error.to_string()));
        }
    }
    for planned in &roadmap.tasks {
        for missing in planned.depends.iter().filter(|id| !known.contains_key(id)) {
            let near = suggest(missing.as_str(), known.keys().map(|id| id.as_str()));
            let hint = near
                .map(|near| format!("; did you mean {near}?"))
                .unwrap_or_default();
            let message = format!(
                "{} depends on {missing}, which does not exist{hint}",
                planned.task.id
            );
            findings.push(RoadmapFinding::new(planned.line, 1, message));
        }
    }
    for cycle in cycles(&roadmap.tasks, &known) {
        let path: Vec<_> = cycle
            .iter()
            .chain(cycle.first())
            .map(|planned| planned.task.id.as_str())
            .collect();
        let message = format!(
            "these tasks depend on each other in a cycle: {}",
            path.join(" -> ")
        );
        findings.push(RoadmapFinding::new(cycle[0].line, 1, message));
    }
}

/// Finds the dependency cycles, each once, starting with its first task in the file.
fn cycles<'a>(
    tasks: &'a [PlannedTask],
    known: &BTreeMap<&TaskId, &'a PlannedTask>,
) -> Vec<Vec<&'a PlannedTask>> {
    let mut found = Vec::new();
    let mut settled: BTreeMap<&TaskId, bool> = BTreeMap::new();
    for task in tasks {
        // Depth-first search: each task on the path, with its remaining dependencies.
        let mut path: Vec<(&PlannedTask, std::slice::Iter<'_, TaskId>)> = Vec::new();
        if settled.contains_key(&task.task.id) {
            continue;
        }
        settled.insert(&task.task.id, false);
        path.push((task, task.depends.iter()));
        while let Some((at, rest)) = path.last_mut() {
            let Some(next) = rest.next() else {
                settled.insert(&at.task.id, true);
                path.pop();
                continue;
            };
            let Some(next) = known.get(next).copied() else {
                continue;
            };
            match settled.get(&next.task.id) {
                Some(true) => {}
                // The task is on the path already.
                Some(false) => {
                    let start = path.iter().position(|(on, _)| on.task.id == next.task.id);
                    let cycle = path[start.unwrap_or_default()..].iter().map(|(on, _)| *on);
                    found.push(rotate_to_first(cycle.collect()));
                }
                None => {
                    settled.insert(&next.task.id, false);
                    path.push((next, next.depends.iter()));
                }
            }
        }
    }
    found
}

fn rotate_to_first(mut cycle: Vec<&PlannedTask>) -> Vec<&PlannedTask> {
    let first = cycle
        .iter()
        .enumerate()
        .min_by_key(|(_, planned)| planned.line);
    let place = first.map_or(0, |(place, _)| place);
    cycle.rotate_left(place);
    cycle
}
