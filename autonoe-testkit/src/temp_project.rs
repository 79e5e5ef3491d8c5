//! A project directory that lives as long as a test.

use std::fmt::Display;
use std::fs;
use std::path::{Component, Path};

use autonoe_core::{
    DeliverableRepository, FileDeliverableRepository, InstructionName, Journal, LedgerState,
    Project,
};

/// A temporary project directory with a `SPEC.md`; it is removed when this is dropped.
///
/// Everything here panics when the disk does not do its part: a test cannot go on then.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_core::{InstructionName, ProjectRun, RunControl};
/// use autonoe_testkit::{ScriptedAgents, SessionScript, TempProject, VirtualClock};
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
/// #     .block_on(async {
/// let project = TempProject::new()
///     .spec("# A shop\n\nA user can log in.\n")
///     .config(json!({"permissions": {"allow": ["WebFetch(domain:docs.rs)"]}}))
///     .instruction(&InstructionName::Initializer, "Plan what SPEC.md asks for.");
/// let script = SessionScript::new("plans")
///     .expects_in_prompt("Plan what SPEC.md asks for.")
///     .uses_tool("WebFetch", json!({"url": "https://docs.rs/tokio"}))
///     .uses_tool("mcp__autonoe__create", json!({"deliverables": [
///         {"id": "DL-001", "description": "Login", "acceptanceCriteria": ["it works"]},
///     ]}))
///     .ends();
///
/// ProjectRun::new(project.project().clone(), Arc::new(ScriptedAgents::new([script])))
///     .clock(Arc::new(VirtualClock::new()))
///     .configure(|runner| runner.max_iterations(1))
///     .run(&RunControl::new())
///     .await?;
///
/// let state = project.ledger().expect("it was saved");
/// assert_eq!(state.ledger.deliverables()[0].id().as_str(), "DL-001");
/// assert_eq!(project.journal().stories()[0].sessions.len(), 1);
/// # Ok::<(), autonoe_core::ProjectRunError>(())
/// # }).expect("it starts");
/// ```
#[derive(Debug)]
pub struct TempProject {
    project: Project,
    /// Removes the directory when it is dropped.
    _directory: tempfile::TempDir,
}

impl TempProject {
    /// Makes a project that asks for nothing in particular.
    pub fn new() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let project = Project::find(directory.path(), None).expect("it was just made");
        Self {
            project,
            _directory: directory,
        }
        .spec("# A project\n")
    }

    /// Writes `SPEC.md`.
    #[must_use]
    pub fn spec(self, text: impl Display) -> Self {
        self.file("SPEC.md", text)
    }

    /// Writes the settings, `.autonoe/agent.json`: as JSON or, to test a bad file, as any text.
    #[must_use]
    pub fn config(self, config: impl Display) -> Self {
        self.file(".autonoe/agent.json", config)
    }

    /// Writes the ledger, `.autonoe/status.json`: as JSON or, to test a bad file, as any text.
    #[must_use]
    pub fn status(self, status: impl Display) -> Self {
        self.file(".autonoe/status.json", status)
    }

    /// Writes a text that replaces a built-in instruction, for example `.autonoe/coding.md`.
    #[must_use]
    pub fn instruction(self, name: &InstructionName, text: impl Display) -> Self {
        self.file(format!(".autonoe/{name}.md"), text)
    }

    /// Writes any file; folders on the way to it are made.
    ///
    /// # Panics
    ///
    /// `path` leads out of the project, or the file cannot be written.
    #[must_use]
    pub fn file(self, path: impl AsRef<Path>, text: impl Display) -> Self {
        let path = self.inside(path.as_ref());
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
        }
        fs::write(&path, text.to_string()).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        self
    }

    /// Returns the project.
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// Returns the directory, absolute and without symlinks.
    pub fn path(&self) -> &Path {
        self.project.root()
    }

    /// Returns what a file of the project holds.
    ///
    /// # Panics
    ///
    /// `path` leads out of the project, or there is no such text file.
    pub fn read(&self, path: impl AsRef<Path>) -> String {
        let path = self.inside(path.as_ref());
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"))
    }

    /// Returns the ledger and the verification progress, or `None` if nothing was saved.
    ///
    /// # Panics
    ///
    /// The file is not a ledger.
    pub fn ledger(&self) -> Option<LedgerState> {
        let repository = FileDeliverableRepository::at(self.project.status_path());
        // On a thread of its own, because a test may be inside a runtime already.
        let loaded = std::thread::scope(|scope| {
            let load = || {
                tokio::runtime::Builder::new_current_thread()
                    .build()
                    .expect("a runtime can be made")
                    .block_on(repository.load())
            };
            scope.spawn(load).join()
        });
        let loaded = loaded.expect("loading does not panic");
        loaded
            .unwrap_or_else(|error| panic!("{error}"))
            .map(|saved| saved.state)
    }

    /// Returns the journal; it is empty if nothing was written down.
    ///
    /// # Panics
    ///
    /// The file is not a journal.
    pub fn journal(&self) -> Journal {
        Journal::read(&self.project.journal_path()).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Returns the journal as it stands in its file, to compare it byte for byte.
    ///
    /// # Panics
    ///
    /// There is none, or it is not text.
    pub fn journal_text(&self) -> String {
        self.read(".autonoe/journal.jsonl")
    }

    fn inside(&self, path: &Path) -> std::path::PathBuf {
        let stays = path
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        assert!(stays, "{path:?} leads out of the project");
        self.path().join(path)
    }
}

impl Default for TempProject {
    fn default() -> Self {
        Self::new()
    }
}
