//! Roadmap and its tasks.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::finding::{RoadmapError, RoadmapFinding};
use super::outline::Outline;
use super::read::read;
use super::validation::validate;
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

impl Roadmap {
    /// Parses a roadmap. `file` is its path, for errors.
    ///
    /// # Errors
    ///
    /// It contains something that is not understood or cannot be done. All mistakes are reported at
    /// once, each with its line.
    pub fn parse(file: &Path, text: &str) -> Result<Self, RoadmapError> {
        let mut findings = Vec::new();
        let outline = Outline::parse(text, &mut findings);
        let mut roadmap = read(&outline, &mut findings);
        roadmap.warnings.sort();
        validate(&roadmap, &outline, &mut findings);
        if findings.is_empty() {
            Ok(roadmap)
        } else {
            Err(RoadmapError::new(file, findings))
        }
    }

    /// Returns the tasks that can start when those in `done` are done, in file order.
    pub fn ready<'a>(
        &'a self,
        done: &'a BTreeSet<TaskId>,
    ) -> impl Iterator<Item = &'a PlannedTask> {
        self.tasks.iter().filter(|planned| {
            !done.contains(&planned.task.id) && planned.depends.iter().all(|id| done.contains(id))
        })
    }

    /// Returns the tasks whose boxes are ticked.
    pub fn done(&self) -> BTreeSet<TaskId> {
        let ticked = self.tasks.iter().filter(|planned| planned.is_done);
        ticked.map(|planned| planned.task.id.clone()).collect()
    }
}
