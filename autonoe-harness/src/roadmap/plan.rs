//! What a roadmap says.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::check::check;
use super::finding::{RoadmapError, RoadmapFinding};
use super::outline::Outline;
use super::read::read;
use crate::executor::{Task, TaskId};

/// What is to be done, as a person writes it in a markdown file.
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
    /// Its title, if it has one, without `Roadmap:`.
    pub title: Option<String>,
    /// What all of it is for; the title if no section says it, and empty without a title.
    pub objective: String,
    /// What every task must keep to.
    pub constraints: Vec<String>,
    /// What must hold in the end, in words.
    pub success_criteria: Vec<String>,
    /// What is to be done, in the order of the file.
    pub tasks: Vec<PlannedTask>,
    /// What the file asks for and has no effect, or another effect than its author may expect.
    #[serde(skip)]
    pub warnings: Vec<RoadmapFinding>,
}

/// A task of a roadmap.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedTask {
    /// The task.
    pub task: Task,
    /// What must be done before it: what `depends` names, else the phase before.
    pub depends: Vec<TaskId>,
    /// How many iterations it has; as many as the order says by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_iterations: Option<u32>,
    /// The backends that continue when its own is stuck or fails, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fallbacks: Vec<String>,
    /// Whether its box is ticked.
    pub is_done: bool,
    /// The line that it begins in, from 1.
    pub line: usize,
}

impl PlannedTask {
    /// Plans a task that depends on nothing.
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
    /// Reads a roadmap; `file` is where it is from, for errors.
    ///
    /// # Errors
    ///
    /// It says something that is not understood or cannot be done. All that is wrong with it is
    /// told at once, each with its line.
    pub fn parse(file: &Path, text: &str) -> Result<Self, RoadmapError> {
        let mut findings = Vec::new();
        let outline = Outline::of(text, &mut findings);
        let mut roadmap = read(&outline, &mut findings);
        roadmap.warnings.sort();
        check(&roadmap, &outline, &mut findings);
        match findings.is_empty() {
            true => Ok(roadmap),
            false => Err(RoadmapError::new(file, findings)),
        }
    }

    /// Returns the tasks that can be begun when those in `done` are done, in the order of the file.
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
