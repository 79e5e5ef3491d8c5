//! First commit of the branch of a task: its specification, without the state of earlier runs.

use autonoe_core::project::{RunLock, replace_file_durably};
use jiff::Timestamp;

use crate::sync_repo::SyncRepo;
use crate::{SyncError, SyncedProject};
use autonoe_harness::isolation::{IsolationError, text};

/// Specification of a project.
const SPECIFICATION: &str = "SPEC.md";

/// Files and folders that a run keeps about itself. They stay on the branch of the run.
pub(crate) const RUN_FILES: [&str; 3] = [".autonoe", NOTES, SPECIFICATION];

/// Notes of agents for the next session.
const NOTES: &str = ".autonoe-note.md";

/// Files of earlier runs that a task must not continue.
const EARLIER_RUNS: [&str; 3] = [".autonoe/status.json", ".autonoe/journal*.jsonl", NOTES];

impl SyncedProject {
    /// Starts the branch of the run with `specification` as its `SPEC.md`, and without the ledger,
    /// the journals and the notes of earlier runs. The `SPEC.md` of the base follows as background.
    ///
    /// A branch that exists already is unchanged.
    #[must_use]
    pub fn for_task(mut self, specification: impl Into<String>) -> Self {
        self.task_specification = Some(specification.into());
        self
    }
}

impl SyncRepo<'_> {
    /// Creates the first commit of a task on top of `base`, which is checked out. Returns the commit
    /// and its tree.
    pub(crate) async fn start_task(
        &self,
        base: &str,
        specification: &str,
    ) -> Result<(String, String), SyncError> {
        let _lock = RunLock::acquire(&self.synced_project.project, Timestamp::now())?;
        // Not the file in the folder: an earlier attempt may have replaced it.
        let read = ["cat-file", "blob", &format!("{base}:{SPECIFICATION}")];
        let output = self.try_run(&read).await?;
        let background = output.is_success().then(|| text(&output.stdout));
        let mut remove = vec!["rm", "-r", "--quiet", "--force", "--ignore-unmatch", "--"];
        remove.extend(EARLIER_RUNS);
        self.run_ok(&remove).await?;
        let path = self.folder().join(SPECIFICATION);
        let text = with_background(specification, background.as_deref());
        replace_file_durably(&path, text.as_bytes()).map_err(IsolationError::io(&path))?;
        let tree = self.stage_all().await?;
        let commit = self.commit(&tree, &[base], "Specify the task").await?;
        self.replace_agents_repo(&commit).await?;
        Ok((commit, tree))
    }
}

fn with_background(specification: &str, background: Option<&str>) -> String {
    let background = background.map(|background| {
        format!(
            "\n## Background: the specification of the whole project\n\nThis section is for \
             information. Other agents do the rest of it: plan and change nothing for it.\n\n\
             {background}"
        )
    });
    format!(
        "{}\n{}",
        specification.trim_end(),
        background.unwrap_or_default()
    )
}
